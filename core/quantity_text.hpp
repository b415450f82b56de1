// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them ("3.35 TB/s", "80 GiB", "400 Gb/s", "2.99 $/h"): the only prefix table of the
// project.
#pragma once

#include <headroom/core/quantity.hpp>

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace headroom {

/// Exponents of a dimension, in the order of Quantity's parameters.
struct Dimension {
  int second = 0, byte = 0, flop = 0, dollar = 0, joule = 0;
  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
};

template <class Q>
inline constexpr Dimension dimension_of{};
template <int S, int B, int F, int D, int J>
inline constexpr Dimension dimension_of<Quantity<S, B, F, D, J>>{S, B, F, D, J};

/// One prefix: "k" 1e3 ... "E" 1e18, "Ki" 2^10 ... "Ei" 2^60, "m" "u" "n" below one.
struct Prefix {
  std::string_view symbol;
  double factor;
};
[[nodiscard]] std::span<const Prefix> prefixes() noexcept;

/// One unit: "B" is a byte, "b" is a bit (1/8 byte), "h" is 3600 s. `binary` and `decimal` say which prefixes it takes.
struct Unit {
  std::string_view symbol;
  Dimension dimension;
  double factor;
  bool large;   ///< takes k, M, G, T, P, E
  bool binary;  ///< takes Ki, Mi, Gi, Ti, Pi, Ei
  bool small;   ///< takes m, u, n
};
[[nodiscard]] std::span<const Unit> units() noexcept;

/// A failed reading, phrased for the user: "needs a unit, e.g. \"80 GiB\"".
struct TextError {
  std::string message;
};

/// Reads `text` as a quantity of `dimension`; the result is in unprefixed units (bytes, seconds, ...).
/// Errors: no number, no unit, unknown unit (with the nearest), another dimension, not finite.
[[nodiscard]] std::variant<double, TextError> parse_quantity(std::string_view text, Dimension dimension);

/// An example of the dimension for messages: "80 GiB", "400 Gb/s".
[[nodiscard]] std::string_view example_of(Dimension dimension) noexcept;

/// Three significant digits and a readable prefix: "3.35 TB/s", "79.6 GiB" (bytes use binary prefixes), "1.2 ms".
[[nodiscard]] std::string format(Seconds value);
[[nodiscard]] std::string format(Bytes value);
[[nodiscard]] std::string format(BytesPerSecond value);
[[nodiscard]] std::string format(Flops value);
[[nodiscard]] std::string format(FlopsPerSecond value);
[[nodiscard]] std::string format(Dollars value);
[[nodiscard]] std::string format(DollarsPerSecond value);      ///< "$ per hour"
[[nodiscard]] std::string format(DollarsPerJoule value);       ///< "$ per kWh"
[[nodiscard]] std::string format(DollarsPerByte value);        ///< "$ per GB"
[[nodiscard]] std::string format(DollarsPerByteSecond value);  ///< "$ per GB and month" of 730 hours
[[nodiscard]] std::string format(Joules value);
[[nodiscard]] std::string format(Watts value);
[[nodiscard]] std::string format(Hertz value);

/// `digits` significant digits without exponent, thousands separated by blanks: "1 204 331", "0.0312".
[[nodiscard]] std::string format_number(double value, int digits = 3);

/// A count in full, thousands separated by blanks: "15 000 000".
[[nodiscard]] std::string format_count(double value);

}  // namespace headroom
