// SPDX-License-Identifier: Apache-2.0
// What the functions share: logarithm and exponential with more digits than a double holds.
#pragma once

#include <headroom/core/elementary/pair.hpp>

namespace headroom::elementary {

/// log(x) to some 2^-66 of itself, for finite x > 0.
Pair log_pair(double x);

/// e^(x + tail) for |x| <= 750 and a tail below the last digit of x; 0 and infinity beyond what a double holds.
double exp_pair(double x, double tail);

/// 2^exponent x scale x (1 + rest) for |x| <= 710, apart: where one is taken from it, digits are not lost.
struct Exponential {
  int exponent = 0;
  double scale = 1.0;  ///< in [1, 2)
  double rest = 0.0;
};
Exponential exp_parts(double x, double tail);

}  // namespace headroom::elementary
