// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers from text and back, without a locale, on every standard library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace headroom {

/// The decimal number at the start of a text. No leading white space and no leading '+'.
struct RealRead {
  double value = 0.0;      ///< 0 where `error` is set
  std::size_t length = 0;  ///< characters that belong to the number
  std::errc error{};       ///< invalid_argument: no number; result_out_of_range: larger or smaller than any double
  [[nodiscard]] bool good() const noexcept { return error == std::errc{}; }
};
[[nodiscard]] RealRead read_real(std::string_view text) noexcept;

/// The number that is the whole text; nullopt for other text, and for a number outside the range of doubles.
[[nodiscard]] std::optional<double> whole_real(std::string_view text) noexcept;

/// The shortest decimal text that reads back as exactly `value`: "0.1", "1e+22".
[[nodiscard]] std::string shortest_text(double value);
/// `value` to `digits` significant digits (1 to 17) without trailing zeros: "2.83", "1.5e-05".
[[nodiscard]] std::string general_text(double value, int digits);

}  // namespace headroom
