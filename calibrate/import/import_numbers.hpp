// SPDX-License-Identifier: Apache-2.0
// Numbers printed by other benchmarks, checked against what a machine can measure.
#pragma once

#include <headroom/core/diagnostic.hpp>

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Bounds of a column. `high` is far beyond any machine, so a larger number is an overflow.
struct PrintedRange {
  std::string_view what;  ///< "time", for messages
  std::string_view unit;
  double high = 0.0;
  bool zero_allowed = false;
};
inline constexpr PrintedRange printed_microseconds{"time", "us", 3.6e9};
inline constexpr PrintedRange printed_milliseconds{"time", "ms", 3.6e6};
inline constexpr PrintedRange printed_bandwidth{"bandwidth", "GB/s", 1e6, true};
inline constexpr PrintedRange printed_flops{"rate", "GFLOP/s", 1e9, true};
inline constexpr PrintedRange printed_intensity{"intensity", "FLOP/byte", 1e9, true};

/// The whole text as a number, which may be infinite or NaN; nullopt for other text.
[[nodiscard]] inline std::optional<double> number_in(std::string_view word) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc{} && end == word.data() + word.size() ? std::optional{value} : std::nullopt;
}

/// Problem of a cell, for print; empty when there is none.
[[nodiscard]] inline std::string wrong_number(std::string_view word, const PrintedRange& range) {
  const std::optional<double> value = number_in(word);
  const bool above = value && (*value > 0.0 || (range.zero_allowed && *value == 0.0));
  if (above && *value <= range.high) {
    return {};
  }
  return std::string{range.what} + " " + quoted(word) + " is no measurement; it must be " +
         (range.zero_allowed ? "0 to " : "above 0 and at most ") + std::to_string(std::llround(range.high)) + " " +
         std::string{range.unit} + ": run the benchmark again, or take the row out";
}

}  // namespace headroom
