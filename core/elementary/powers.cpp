// SPDX-License-Identifier: Apache-2.0
// Powers and roots by the logarithm with more digits than a double holds.
#include <headroom/core/elementary/elementary.hpp>
#include <headroom/core/elementary/kernels.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace headroom::elementary {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

double size_of(double x) {
  return x < 0.0 ? -x : x;
}

bool is_whole(double y) {
  return size_of(y) >= 0x1p52 || (size_of(y) + 0x1p52) - 0x1p52 == size_of(y);
}
/// Of a whole number.
bool is_odd(double y) {
  return size_of(y) < 0x1p53 && !is_whole(0.5 * y);
}

/// Of a base that is zero or infinite, or an exponent that is infinite; neither is NaN.
double power_at_the_ends(double x, double y) {
  const double size = size_of(x);
  if (size_of(y) == infinity) {
    return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? infinity : 0.0;
  }
  const double result = (size > 1.0) == (y > 0.0) ? infinity : 0.0;
  const bool negative = 1.0 / x < 0.0 || x == -infinity;
  return negative && is_whole(y) && is_odd(y) ? -result : result;
}

/// The root of x^2 + y^2 for x >= y > 0 whose squares neither overflow nor vanish, corrected by what the rounded root
/// leaves: h^2 - x^2 - y^2, written so that no term of it cancels much. C. F. Borges, "An improved algorithm for
/// hypot(a,b)", 2019 (arXiv 1904.09481), the corrected form without a fused multiply-add.
double corrected_root(double x, double y) {
  const double h = __builtin_sqrt(x * x + y * y);
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
  return h - (first + second) / (2.0 * h);
}

}  // namespace

double power(double x, double y) noexcept {
  if (y == 0.0 || x == 1.0) {
    return 1.0;
  }
  if (x != x || y != y) {
    return x + y;
  }
  if (x == 2.0) {
    return power_of_two(y);  // compilers take the one for the other
  }
  double size = x;
  bool negative = false;
  if (!(x > 0.0 && x < infinity) || size_of(y) == infinity) {
    if (x == 0.0 || size_of(x) == infinity || size_of(y) == infinity) {
      return power_at_the_ends(x, y);
    }
    if (!is_whole(y)) {
      return nothing;
    }
    size = -x;
    negative = is_odd(y);
  }
  const Pair log = log_pair(size);
  double result = 0.0;
  if (size_of(y) > 0x1p66 || size_of(y * log.high) > 800.0) {  // log is zero or beyond 2^-54
    result = log.high == 0.0 ? 1.0 : (log.high > 0.0) == (y > 0.0) ? infinity : 0.0;
  } else {
    const Pair exponent = product(y, log.high);
    const Pair whole = sum_of_ordered(exponent.high, exponent.low + y * log.low);
    result = exp_pair(whole.high, whole.low);
  }
  return negative ? -result : result;
}

double cube_root(double x) noexcept {
  if (x == 0.0 || x != x || size_of(x) == infinity) {
    return x;
  }
  const bool subnormal = size_of(x) < std::numeric_limits<double>::min();
  const std::uint64_t bits = to_bits(size_of(x) * (subnormal ? 0x1p54 : 1.0));
  // x is 2^(3 thirds) times what lies in [1, 8), whose root is a cubic of its fraction, to 2^-12, times one of three.
  const int exponent = static_cast<int>(bits >> 52U) - 1023 + 3 * 1023;
  const int thirds = exponent / 3 - 1023;
  const int left = exponent % 3;
  const double fraction = from_bits((bits & ((std::uint64_t{1} << 52U) - 1)) | to_bits(1.0));
  const double a = left == 0 ? fraction : left == 1 ? 2.0 * fraction : 4.0 * fraction;
  constexpr std::array<double, 3> roots{1.0, 0x1.428a2f98d728bp+0, 0x1.965fea53d6e3dp+0};  // of 1, 2 and 4
  const double start =
      (0.5557909602691388 +
       fraction * (0.5808263911380952 + fraction * (-0.1586624600531909 + fraction * 0.022148699208245196))) *
      roots[static_cast<std::size_t>(left)];
  // Halley's iteration twice: from a third to an eighth of the error's cube each time. For the second the root has so
  // few digits that its square is exact.
  const double cube = start * start * start;
  const double root =
      from_bits(to_bits(start * (cube + 2.0 * a) / (2.0 * cube + a)) & ~((std::uint64_t{1} << 27U) - 1));
  const Pair exact = product(root * root, root);
  const double rest = (a - exact.high) - exact.low;
  const double size = root + root * rest / (2.0 * exact.high + a);
  const double scale = from_bits(static_cast<std::uint64_t>(thirds + 1023 - (subnormal ? 18 : 0)) << 52U);
  return x < 0.0 ? -size * scale : size * scale;
}

double hypotenuse(double a, double b) noexcept {
  if (size_of(a) == infinity || size_of(b) == infinity) {
    return infinity;
  }
  if (a != a || b != b) {
    return nothing;
  }
  const double x = size_of(a) > size_of(b) ? size_of(a) : size_of(b);
  const double y = size_of(a) > size_of(b) ? size_of(b) : size_of(a);
  constexpr double large = 0x1p511;
  constexpr double small = 0x1p-459;
  constexpr double tiny = 0x1p-54;  // of x: what y adds is less than half of its last digit
  constexpr double scale = 0x1p600;
  if (y <= x * tiny) {
    return x + y;
  }
  if (x > large) {
    return corrected_root(x / scale, y / scale) * scale;
  }
  if (y < small) {
    return corrected_root(x * scale, y * scale) / scale;
  }
  return corrected_root(x, y);
}

}  // namespace headroom::elementary
