// SPDX-License-Identifier: Apache-2.0
// P. T. P. Tang, "Table-driven implementation of the exponential function in IEEE floating-point arithmetic", ACM
// Transactions on Mathematical Software 15 (2), 1989: x is k/128 ln 2 + r, e^x is 2^(k/128) of a table times a short
// series of r, |r| <= ln 2 / 256.
#include <headroom/core/elementary/elementary.hpp>
#include <headroom/core/elementary/kernels.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headroom::elementary {
namespace {

constexpr int steps = 128;

struct Step {
  double scale = 1.0;  ///< 2^(i/128), rounded
  double rest = 0.0;   ///< what the rounding left, in scale
};

/// The table by the series of e^x in pairs: of x <= ln 2 its 30th term is below 2^-124.
constexpr std::array<Step, steps> make_table() {
  std::array<Step, steps> table{};
  for (int i = 0; i < steps; ++i) {
    const Pair x = ln2 * Pair{static_cast<double>(i) / steps, 0.0};
    Pair term{1.0, 0.0};
    Pair whole{1.0, 0.0};
    for (int n = 1; n <= 30; ++n) {
      term = term * x / Pair{static_cast<double>(n), 0.0};
      whole = whole + term;
    }
    table[static_cast<std::size_t>(i)] = {whole.high, whole.low / whole.high};
  }
  return table;
}
constexpr std::array<Step, steps> table = make_table();

constexpr double steps_of_one = 0x1.71547652b82fep+7;  // 128 / ln 2
constexpr double step_high = 0x1.62e42fef8p-8;         // ln 2 / 128 to 34 bits: its multiples below 2^18 are exact
constexpr double step_low = 0x1.1cf79abc9e3b4p-43;     // the rest
constexpr double to_whole = 0x1.8p52;                  // a sum with it is rounded to a whole number
constexpr double largest = 709.782712893384;           // of which e^x is finite
constexpr double smallest = -745.1332191019412;        // below it e^x rounds to zero

double power_of_two_of(int exponent) {
  return from_bits(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

/// e^r - 1 as r and the terms behind it: r^7 / 5040 is below 2^-63 of r.
double series_of(double r) {
  const double r2 = r * r;
  return r2 * ((0.5 + r * (1.0 / 6.0)) + r2 * ((1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0)));
}

Exponential parts_of(int k, double r) {
  const Step& step = table[static_cast<std::size_t>(k & (steps - 1))];
  return {k >> 7, step.scale, step.rest + (r + series_of(r))};
}

double assembled(const Exponential& e) {
  const double mantissa = e.scale + e.scale * e.rest;
  if (e.exponent > -1022 && e.exponent < 1023) {
    return mantissa * power_of_two_of(e.exponent);
  }
  const int half = e.exponent / 2;
  return mantissa * power_of_two_of(half) * power_of_two_of(e.exponent - half);
}

}  // namespace

Exponential exp_parts(double x, double tail) {
  const double whole = (x * steps_of_one + to_whole) - to_whole;
  return parts_of(static_cast<int>(whole), ((x - whole * step_high) - whole * step_low) + tail);
}

double exp_pair(double x, double tail) {
  if (!(x <= largest + 1.0)) {
    return x > 0.0 ? std::numeric_limits<double>::infinity() : x;
  }
  if (x < smallest - 1.0) {
    return 0.0;
  }
  return assembled(exp_parts(x, tail));
}

double exponential(double x) noexcept {
  if (!(x <= largest)) {
    return x > 0.0 ? std::numeric_limits<double>::infinity() : x;
  }
  if (x < smallest) {
    return 0.0;
  }
  return assembled(exp_parts(x, 0.0));
}

double power_of_two(double x) noexcept {
  if (!(x < 1024.0)) {
    return x > 0.0 ? std::numeric_limits<double>::infinity() : x;
  }
  if (x < -1075.0) {
    return 0.0;
  }
  const double whole = (x * steps + to_whole) - to_whole;
  return assembled(parts_of(static_cast<int>(whole), (x - whole / steps) * ln2.high));
}

double exponential_less_one(double x) noexcept {
  if (!(x <= largest)) {
    return x > 0.0 ? std::numeric_limits<double>::infinity() : x;
  }
  if (x < -40.0) {
    return -1.0;
  }
  if (x > -0x1p-54 && x < 0x1p-54) {
    return x;
  }
  if (x > -0.125 && x < 0.125) {  // x^13 / 13! is below 2^-68 of x
    const double square = x * x;
    const double series = (1.0 / 6.0 + x * (1.0 / 24.0)) +
                          square * ((1.0 / 120.0 + x * (1.0 / 720.0)) +
                                    square * ((1.0 / 5040.0 + x * (1.0 / 40320.0)) +
                                              square * ((1.0 / 362880.0 + x * (1.0 / 3628800.0)) +
                                                        square * (1.0 / 39916800.0 + x * (1.0 / 479001600.0)))));
    return x + square * (0.5 + x * series);
  }
  const Exponential e = exp_parts(x, 0.0);
  const double half = power_of_two_of(e.exponent - 1);  // 2^1024 is no double
  const double scale = e.scale * half;
  const Pair less = sum(scale, -0.5);
  return 2.0 * (less.high + (less.low + scale * e.rest));
}

}  // namespace headroom::elementary
