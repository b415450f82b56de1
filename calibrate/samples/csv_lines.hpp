// SPDX-License-Identifier: Apache-2.0
// Lines of CSV for files of samples.
#pragma once

#include <headroom/core/csv.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string>

namespace headroom {

inline constexpr double micro = 1e-6;
inline constexpr double mega = 1e6;

/// A number with five significant digits, far finer than the spread of any measurement.
inline std::string five_digits(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return text.data();
}

/// Microseconds in five digits.
inline std::string micros(Seconds value) {
  return five_digits(value.raw() / micro);
}

template <class Texts>
std::string csv_line(const Texts& cells) {
  std::string line;
  bool first = true;
  for (const auto& cell : cells) {
    line += (first ? "" : ",") + csv_field(cell);
    first = false;
  }
  return line + "\n";
}

inline std::string csv_line(std::initializer_list<std::string> cells) {
  return csv_line(std::span{cells.begin(), cells.size()});
}

}  // namespace headroom
