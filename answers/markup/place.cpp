// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/markup/place.hpp>
#include <headroom/core/real_text.hpp>

namespace headroom::report {
namespace {

using Kind = Value::Kind;

/// RFC 6901, section 3: '~' and '/' of a name are written "~0" and "~1".
std::string pointer_token(std::string_view name) {
  std::string token;
  for (const char c : name) {
    token += c == '~' ? "~0" : c == '/' ? "~1" : std::string{c};
  }
  return token;
}

}  // namespace

Place Documents::find(std::string_view id) const {
  for (const Document& document : all) {
    if (document.id == id) {
      return Place{document};
    }
  }
  return {};
}

Place Place::operator[](std::string_view member) const {
  return {value_ != nullptr ? value_->find(member) : nullptr, pointer_ + "/" + pointer_token(member)};
}

Place Place::operator[](std::size_t item) const {
  const bool held = value_ != nullptr && value_->kind() == Kind::list && item < value_->members().size();
  return {held ? &value_->members()[item].value : nullptr, pointer_ + "/" + std::to_string(item)};
}

std::vector<Place> Place::items() const {
  std::vector<Place> places;
  if (value_ != nullptr && value_->kind() == Kind::list) {
    for (std::size_t i = 0; i < value_->members().size(); ++i) {
      places.push_back((*this)[i]);
    }
  }
  return places;
}

std::vector<std::string> Place::members() const {
  std::vector<std::string> names;
  if (value_ != nullptr && value_->kind() == Kind::object) {
    for (const Member& member : value_->members()) {
      names.push_back(member.key);
    }
  }
  return names;
}

std::string Place::text() const {
  if (is_number()) {
    return value_->kind() == Kind::integer ? std::to_string(value_->integer()) : shortest_text(value_->number());
  }
  return value_ == nullptr || !value_->there() ? std::string{}
         : value_->kind() == Kind::boolean     ? value_->is_true() ? "true" : "false"
                                               : value_->text();
}

}  // namespace headroom::report
