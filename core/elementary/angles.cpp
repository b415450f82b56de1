// SPDX-License-Identifier: Apache-2.0
// Sine and cosine: x less the nearest multiple of a quarter turn, and the series of what is left.
#include <headroom/core/elementary/elementary.hpp>
#include <headroom/core/elementary/pair.hpp>

#include <cstdint>

namespace headroom::elementary {
namespace {

constexpr double quarters_of_one = 0x1.45f306dc9c883p-1;  // 2 / pi
constexpr double quarter = 0x1.921fb54442d18p+0;          // pi / 2
constexpr double quarter_rest = 0x1.1a62633145c07p-54;
constexpr double to_whole = 0x1.8p52;

/// r and its rest, |r| <= pi / 4, with x = quarters x pi / 2 + r; the last two bits of `quarters` count.
struct Angle {
  std::int64_t quarters = 0;
  double r = 0.0;
  double rest = 0.0;
};

Angle reduced(double x) {
  const double whole = (x * quarters_of_one + to_whole) - to_whole;
  const Pair turned = product(whole, quarter);
  const Pair left = sum(x - turned.high, -turned.low) + Pair{-whole * quarter_rest, 0.0};
  return {static_cast<std::int64_t>(whole), left.high, left.low};
}

/// sin(r + rest): r^19 / 19! is below 2^-63.
double sine_of(double r, double rest) {
  const double s = r * r;
  const double series =
      s * (-1.0 / 6.0 +
           s * (1.0 / 120.0 +
                s * (-1.0 / 5040.0 +
                     s * (1.0 / 362880.0 +
                          s * (-1.0 / 39916800.0 + s * (1.0 / 6227020800.0 + s * (-1.0 / 1307674368000.0 +
                                                                                  s * (1.0 / 355687428096000.0))))))));
  return r + (r * series + rest * (1.0 - 0.5 * s));
}

/// cos(r + rest): r^20 / 20! is below 2^-67.
double cosine_of(double r, double rest) {
  const Pair s = product(r, r);
  const Pair less = sum_of_ordered(1.0, -0.5 * s.high);
  const double x = s.high;
  const double series =
      x * x *
      (1.0 / 24.0 +
       x * (-1.0 / 720.0 +
            x * (1.0 / 40320.0 +
                 x * (-1.0 / 3628800.0 +
                      x * (1.0 / 479001600.0 + x * (-1.0 / 87178291200.0 + x * (1.0 / 20922789888000.0 +
                                                                                x * (-1.0 / 6402373705728000.0))))))));
  return less.high + (less.low + (series - 0.5 * s.low - r * rest));
}

/// The sine of an angle `quarters` quarter turns further.
double turned_sine(const Angle& a, std::int64_t quarters) {
  const std::int64_t n = a.quarters + quarters;
  const double size = (n & 1) == 0 ? sine_of(a.r, a.rest) : cosine_of(a.r, a.rest);
  return (n & 2) == 0 ? size : -size;
}

bool is_small(double x) {
  return x > -0x1p52 && x < 0x1p52;
}

}  // namespace

double sine(double x) noexcept {
  if (x > -0x1p-27 && x < 0x1p-27) {
    return x;
  }
  return is_small(x) ? turned_sine(reduced(x), 0) : x - x;
}

double cosine(double x) noexcept {
  return is_small(x) ? turned_sine(reduced(x), 1) : 1.0 + (x - x);
}

void sine_and_cosine(double x, double* s, double* c) noexcept {
  *s = sine(x);
  *c = cosine(x);
}

}  // namespace headroom::elementary
