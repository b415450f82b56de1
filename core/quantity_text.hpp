// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them ("3.35 TB/s", "80 GiB", "400 Gb/s", "2.99 $/h"); the project's only table of units.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
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

/// One prefix: "k" 1e3 ... "E" 1e18, "Ki" 2^10 ... "Ei" 2^60, "m" 1e-3, "u" 1e-6, "n" 1e-9.
struct Prefix {
  std::string_view symbol;
  double factor;
};
[[nodiscard]] std::span<const Prefix> prefixes() noexcept;

/// One unit, such as "B" (byte), "b" (bit, 1/8 byte) or "h" (3600 s), and the prefixes it accepts.
struct Unit {
  std::string_view symbol;
  Dimension dimension;
  double factor;
  bool large;   ///< accepts k, M, G, T, P, E
  bool binary;  ///< accepts Ki, Mi, Gi, Ti, Pi, Ei
  bool small;   ///< accepts m, u, n
};
[[nodiscard]] std::span<const Unit> units() noexcept;

/// The message of a failed reading, worded for the user: "needs a unit, e.g. \"80 GiB\"".
struct TextError {
  std::string message;
};

/// Reads `text` as a quantity of `dimension`; the result is in the unprefixed unit (bytes, seconds, ...). A time below
/// a slash may be a window of several units: "1e7 req/8h". Errors: no number, no unit, an unknown unit (the message
/// names the nearest), a window that is not positive, another dimension, a value that is not finite.
/// They show `example`, by default that of the dimension.
[[nodiscard]] std::variant<double, TextError> parse_quantity(std::string_view text,
                                                             Dimension dimension,
                                                             std::string_view example = {});

/// A number as people shorten it: "15T", "1.5 B" (a billion), "128k", "8Ki". k, M, B or G, and T are the powers one to
/// four of `thousand`; Ki, Mi, Gi, Ti those of 1024. nullopt for text that does not end so.
[[nodiscard]] std::optional<double> parse_short_number(std::string_view text, double thousand = 1000.0);

/// An example of a quantity of this dimension for messages: "80 GiB", "400 Gb/s".
[[nodiscard]] std::string_view example_of(Dimension dimension) noexcept;

/// Three significant digits and a readable prefix: "3.35 TB/s", "79.6 GiB" (bytes take binary prefixes).
[[nodiscard]] std::string format(Seconds value);
[[nodiscard]] std::string format(Bytes value);
[[nodiscard]] std::string format(BytesPerSecond value);
[[nodiscard]] std::string format(Flops value);
[[nodiscard]] std::string format(FlopsPerSecond value);
[[nodiscard]] std::string format(Dollars value);
[[nodiscard]] std::string format(DollarsPerSecond value);      ///< in $ per hour
[[nodiscard]] std::string format(DollarsPerJoule value);       ///< in $ per kWh
[[nodiscard]] std::string format(DollarsPerByte value);        ///< in $ per GB
[[nodiscard]] std::string format(DollarsPerByteSecond value);  ///< in $ per GB and month of 730 hours
[[nodiscard]] std::string format(Joules value);
[[nodiscard]] std::string format(Watts value);
[[nodiscard]] std::string format(Hertz value);

/// A number with `digits` significant digits, no exponent, and thousands separated by blanks: "1 204 331", "0.0312".
[[nodiscard]] std::string format_number(double value, int digits = 3);

/// A count in full, with thousands separated by blanks: "15 000 000".
[[nodiscard]] std::string format_count(double value);

}  // namespace headroom
