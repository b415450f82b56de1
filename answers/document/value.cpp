// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/value.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace headroom {

Value Value::object_of(Member* first, std::size_t count) {
  Value object;
  object.kind_ = Kind::object;
  object.members_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    object.add(std::move(first[i]));
  }
  return object;
}

Value Value::empty_list() {
  Value list;
  list.kind_ = Kind::list;
  return list;
}

void Value::push(Value item) {
  assert(kind_ == Kind::list);
  if (item.kind_ != Kind::absent) {
    members_.emplace_back(std::move(item));
  }
}

void Value::add(Member member) {
  assert(kind_ == Kind::object);
  if (!member.key.empty()) {
    if (member.value.kind_ != Kind::absent) {
      members_.push_back(std::move(member));
    }
    return;
  }
  assert(member.value.kind_ == Kind::object || member.value.kind_ == Kind::absent);
  for (Member& inner : member.value.members_) {
    members_.push_back(std::move(inner));
  }
}

Value Value::on_one_line() && {
  one_line_ = true;
  return std::move(*this);
}

Value Value::as(Hint hint) && {
  hint_ = hint;
  for (Member& member : members_) {
    member.value.hint_ = hint;
  }
  return std::move(*this);
}

bool Value::there() const noexcept {
  return kind_ != Kind::absent && kind_ != Kind::null && (kind_ != Kind::number || std::isfinite(number_));
}

bool Value::is_number() const noexcept {
  return kind_ == Kind::integer || (kind_ == Kind::number && std::isfinite(number_));
}

const Value* Value::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.key == key; });
  return kind_ == Kind::object && found != members_.end() ? &found->value : nullptr;
}

Value or_null(Value value) {
  const bool nothing =
      value.kind() == Value::Kind::absent || (value.kind() == Value::Kind::text && value.text().empty());
  return nothing ? Value{nullptr} : std::move(value);
}

}  // namespace headroom
