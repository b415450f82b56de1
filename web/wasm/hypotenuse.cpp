// SPDX-License-Identifier: Apache-2.0
// hypot of the C library of Emscripten and that of Linux round differently in one of eight results. This one rounds as
// the latter does, so that an answer here and there has the same digits: C. F. Borges, "An improved algorithm for
// hypot(a,b)", 2019 (arXiv 1904.09481), the corrected form without a fused multiply-add.
#include <algorithm>
#include <cmath>
#include <limits>

namespace {

/// The root of x^2 + y^2 for x >= y > 0 whose squares neither overflow nor vanish, corrected by what the rounded root
/// leaves: h^2 - x^2 - y^2, written so that no term of it cancels much.
double corrected(double x, double y) {
  double h = std::sqrt(x * x + y * y);
  double first = 0.0;
  double second = 0.0;
  if (h <= 2.0 * y) {
    const double over = h - y;
    first = x * (2.0 * over - x);
    second = (over - 2.0 * (x - y)) * over;
  } else {
    const double over = h - x;
    first = 2.0 * over * (x - 2.0 * y);
    second = (4.0 * over - y) * y + over * over;
  }
  h -= (first + second) / (2.0 * h);
  return h;
}

}  // namespace

extern "C" double hypot(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) {
    return std::isinf(a) || std::isinf(b) ? std::numeric_limits<double>::infinity()
                                          : std::numeric_limits<double>::quiet_NaN();
  }
  const double x = std::max(std::abs(a), std::abs(b));
  const double y = std::min(std::abs(a), std::abs(b));
  constexpr double large = 0x1p511;
  constexpr double small = 0x1p-459;
  constexpr double tiny = 0x1p-54;  // of x: what y adds is less than half of its last digit
  constexpr double scale = 0x1p600;
  if (y <= x * tiny) {
    return x + y;
  }
  if (x > large) {
    return corrected(x / scale, y / scale) * scale;
  }
  if (y < small) {
    return corrected(x * scale, y * scale) / scale;
  }
  return corrected(x, y);
}
