// SPDX-License-Identifier: Apache-2.0
// How rows of keys are written: by what a key takes.
#pragma once

#include <headroom/scenarios/keys/key.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::keys {

[[nodiscard]] constexpr Key of_type(std::string_view path, KeyType type) {
  Key key;
  key.path = path;
  key.type = type;
  return key;
}

/// Both bounds are allowed.
[[nodiscard]] constexpr Key integer(std::string_view path, std::int64_t low, std::int64_t high) {
  return of_type(path, KeyType::integer).from(static_cast<double>(low), static_cast<double>(high));
}
[[nodiscard]] constexpr Key integers(std::string_view path, std::int64_t low, std::int64_t high) {
  return of_type(path, KeyType::integers).from(static_cast<double>(low), static_cast<double>(high));
}
[[nodiscard]] constexpr Key number(std::string_view path, double low, double high) {
  return of_type(path, KeyType::number).from(low, high);
}
[[nodiscard]] constexpr Key boolean(std::string_view path) {
  return of_type(path, KeyType::boolean);
}
[[nodiscard]] constexpr Key text(std::string_view path) {
  return of_type(path, KeyType::text);
}
[[nodiscard]] constexpr Key texts(std::string_view path) {
  return of_type(path, KeyType::texts);
}
[[nodiscard]] constexpr Key choice(std::string_view path, std::span<const std::string_view> names) {
  return of_type(path, KeyType::choice).or_one_of(names);
}
/// Above zero, unless bounds are stated.
template <class Q>
[[nodiscard]] constexpr Key quantity(std::string_view path) {
  Key key = of_type(path, KeyType::quantity).above(0.0, unbounded);
  key.dimension = dimension_of<Q>;
  return key;
}
template <class Q>
[[nodiscard]] constexpr Key quantity(std::string_view path, Q low, Q high) {
  return quantity<Q>(path).from(low.raw(), high.raw());
}
template <class Q>
[[nodiscard]] constexpr Key quantity_or_zero(std::string_view path) {
  return quantity<Q>(path).from(0.0, unbounded);
}
[[nodiscard]] constexpr Key percentage(std::string_view path, double high) {
  return of_type(path, KeyType::percentage).from(0.0, high);
}
[[nodiscard]] constexpr Key table(std::string_view path) {
  return of_type(path, KeyType::table);
}

[[nodiscard]] constexpr Key number_axis(std::string_view path, std::int64_t low, std::int64_t high) {
  return of_type(path, KeyType::number_axis).from(static_cast<double>(low), static_cast<double>(high));
}
[[nodiscard]] constexpr Key text_axis(std::string_view path, std::span<const std::string_view> names = {}) {
  return of_type(path, KeyType::text_axis).or_one_of(names);
}
[[nodiscard]] constexpr Key boolean_axis(std::string_view path) {
  return of_type(path, KeyType::boolean_axis);
}
/// Real numbers: a list or one.
[[nodiscard]] constexpr Key number_list(std::string_view path, double low, double high) {
  return of_type(path, KeyType::real_axis).from(low, high);
}
template <class Q>
[[nodiscard]] constexpr Key quantity_axis(std::string_view path) {
  Key key = of_type(path, KeyType::quantity_axis).above(0.0, unbounded);
  key.dimension = dimension_of<Q>;
  return key;
}

/// Rows that several tables share, and those of their own.
template <std::size_t n, std::size_t m>
[[nodiscard]] constexpr std::array<Key, n + m> joined(const std::array<Key, n>& first,
                                                      const std::array<Key, m>& second) {
  std::array<Key, n + m> all;
  std::copy(first.begin(), first.end(), all.begin());
  std::copy(second.begin(), second.end(), all.begin() + n);
  return all;
}

}  // namespace headroom::keys
