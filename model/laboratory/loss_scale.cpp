// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/loss_scale.hpp>
#include <headroom/model/laboratory/stored_format.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// The smallest power of two, at most two below `near`, that holds.
template <class Holds>
double smallest_power(double near, Holds holds) noexcept {
  int exponent = std::ilogb(near) - 2;
  while (!holds(std::ldexp(1.0, exponent))) {
    ++exponent;
  }
  return std::ldexp(1.0, exponent);
}

}  // namespace

Fate fate_of(const NumberFormat& format, double magnitude) noexcept {
  const double size = std::abs(magnitude);
  const double kept = nearest_value(format, size);
  const double spacing =
      std::ldexp(1.0, std::ilogb(format.largest()) - format.mantissa_bits);  // of the numbers next to the largest
  return std::isinf(kept) || size >= format.largest() + 0.5 * spacing ? Fate::overflow
         : kept == 0.0                                                ? Fate::zero
         : kept < format.smallest_normal()                            ? Fate::subnormal
                                                                      : Fate::normal;
}

int significant_bits(const NumberFormat& format, double magnitude) noexcept {
  const double kept = nearest_value(format, std::abs(magnitude));
  return kept == 0.0 ? 0
                     : std::min(format.mantissa_bits, std::ilogb(kept) - std::ilogb(format.smallest_subnormal())) + 1;
}

double least_scale_nonzero(const NumberFormat& format, double magnitude) noexcept {
  return smallest_power(0.5 * format.smallest_subnormal() / magnitude,
                        [&](double scale) { return nearest_value(format, scale * magnitude) > 0.0; });
}

double least_scale_subnormal(const NumberFormat& format, double magnitude) noexcept {
  return smallest_power(format.smallest_subnormal() / magnitude,
                        [&](double scale) { return scale * magnitude >= format.smallest_subnormal(); });
}

double least_scale_normal(const NumberFormat& format, double magnitude) noexcept {
  return smallest_power(format.smallest_normal() / magnitude,
                        [&](double scale) { return scale * magnitude >= format.smallest_normal(); });
}

double largest_scale(const NumberFormat& format, double magnitude) noexcept {
  return 0.5 * smallest_power(format.largest() / magnitude,
                              [&](double scale) { return fate_of(format, scale * magnitude) == Fate::overflow; });
}

}  // namespace headroom
