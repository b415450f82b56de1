// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/pickle/plain_data.hpp>
#include <headroom/core/real_text.hpp>

#include <bit>
#include <charconv>
#include <cmath>

namespace headroom {

std::span<const PlainData::Id> PlainData::items(Id id) const noexcept {
  const Stored& stored = values_[id];
  return stored.kind == Kind::list || stored.kind == Kind::table
             ? std::span<const Id>{lists_[static_cast<std::size_t>(stored.value)]}
             : std::span<const Id>{};
}

PlainData::Id PlainData::find(Id table, std::string_view key) const noexcept {
  if (kind(table) != Kind::table) {
    return nothing;
  }
  const std::span<const Id> all = items(table);
  for (std::size_t i = all.size(); i >= 2; i -= 2) {
    if (text(all[i - 2]) == key && kind(all[i - 2]) == Kind::text) {
      return all[i - 1];
    }
  }
  return nothing;
}

std::string_view PlainData::text(Id id) const noexcept {
  const Stored& stored = values_[id];
  return stored.kind == Kind::text
             ? std::string_view{bytes_}.substr(static_cast<std::size_t>(stored.value), stored.length)
             : std::string_view{};
}

std::optional<std::int64_t> PlainData::whole(Id id) const noexcept {
  const Stored& stored = values_[id];
  if (stored.kind == Kind::whole) {
    return static_cast<std::int64_t>(stored.value);
  }
  if (stored.kind == Kind::text) {
    const std::string_view written = text(id);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    if (error == std::errc{} && end == written.data() + written.size() && !written.empty()) {
      return value;
    }
  }
  constexpr double most = 9e15;
  const std::optional<double> value = number(id);
  return value && std::abs(*value) < most && std::floor(*value) == *value
             ? std::optional{static_cast<std::int64_t>(*value)}
             : std::nullopt;
}

std::optional<double> PlainData::number(Id id) const noexcept {
  const Stored& stored = values_[id];
  switch (stored.kind) {
    case Kind::number: return std::bit_cast<double>(stored.value);
    case Kind::whole: return static_cast<double>(static_cast<std::int64_t>(stored.value));
    case Kind::text: return whole_real(text(id));
    default: return std::nullopt;
  }
}

std::optional<bool> PlainData::flag(Id id) const noexcept {
  return kind(id) == Kind::flag ? std::optional{values_[id].value != 0} : std::nullopt;
}

PlainData::Id PlainData::add(Kind kind, std::uint64_t value, std::uint32_t length) {
  values_.push_back({value, length, kind});
  return static_cast<Id>(values_.size() - 1);
}

PlainData::Id PlainData::add_none() {
  return add(Kind::none, 0);
}

PlainData::Id PlainData::add_flag(bool value) {
  return add(Kind::flag, value ? 1 : 0);
}

PlainData::Id PlainData::add_whole(std::int64_t value) {
  return add(Kind::whole, static_cast<std::uint64_t>(value));
}

PlainData::Id PlainData::add_number(double value) {
  return add(Kind::number, std::bit_cast<std::uint64_t>(value));
}

PlainData::Id PlainData::add_text(std::size_t at, std::size_t size) {
  return add(Kind::text, at, static_cast<std::uint32_t>(size));
}

PlainData::Id PlainData::add_text(std::string_view value) {
  const std::size_t at = bytes_.size();
  bytes_ += value;
  return add_text(at, value.size());
}

PlainData::Id PlainData::add_list(Kind kind) {
  lists_.emplace_back();
  return add(kind, lists_.size() - 1);
}

void PlainData::append(Id list, Id item) {
  append(list, std::span{&item, 1});
}

void PlainData::append(Id list, std::span<const Id> items) {
  const Stored& stored = values_[list];
  if (stored.kind == Kind::list || stored.kind == Kind::table) {
    std::vector<Id>& held = lists_[static_cast<std::size_t>(stored.value)];
    held.insert(held.end(), items.begin(), items.end());
  }
}

}  // namespace headroom
