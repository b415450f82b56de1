// SPDX-License-Identifier: Apache-2.0
// A number as the sum of two: what the first cannot hold stands in the second, some 106 bits together. Nothing but IEEE
// sums, products, quotients and roots, so that every processor and compiler gets the same bits; no fused multiply-add.
#pragma once

#include <cstdint>

namespace headroom::elementary {

/// The bits of a double and back: std::bit_cast, which Emscripten's standard library does not have.
constexpr std::uint64_t to_bits(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
constexpr double from_bits(std::uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}

struct Pair {
  double high = 0.0;
  double low = 0.0;  ///< at most half of the last digit of `high`
};

/// a + b without error. Knuth, "The Art of Computer Programming 2", 4.2.2, theorem B.
constexpr Pair sum(double a, double b) {
  const double high = a + b;
  const double part = high - a;
  return {high, (a - (high - part)) + (b - part)};
}

/// a + b without error where |a| >= |b|, or a is zero. Dekker, "A floating-point technique for extending the available
/// precision", Numerische Mathematik 18, 1971, section 4.
constexpr Pair sum_of_ordered(double a, double b) {
  const double high = a + b;
  return {high, b - (high - a)};
}

/// a x b without error, below 2^996. Dekker, same place, section 5, with the halves of Veltkamp.
constexpr Pair product(double a, double b) {
  constexpr double splitter = 134217729.0;  // 2^27 + 1
  const double a_scaled = a * splitter;
  const double a_high = a_scaled - (a_scaled - a);
  const double a_low = a - a_high;
  const double b_scaled = b * splitter;
  const double b_high = b_scaled - (b_scaled - b);
  const double b_low = b - b_high;
  const double high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr Pair operator+(Pair a, Pair b) {
  const Pair high = sum(a.high, b.high);
  return sum_of_ordered(high.high, high.low + (a.low + b.low));
}

constexpr Pair operator*(Pair a, Pair b) {
  const Pair high = product(a.high, b.high);
  return sum_of_ordered(high.high, high.low + (a.high * b.low + a.low * b.high));
}

constexpr Pair operator/(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair back = b * Pair{first, 0.0};
  const Pair rest = a + Pair{-back.high, -back.low};
  return sum_of_ordered(first, rest.high / b.high);
}

inline constexpr Pair ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

}  // namespace headroom::elementary
