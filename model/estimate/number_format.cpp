// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/estimate/number_format.hpp>

#include <cmath>

namespace headroom {

double NumberFormat::largest() const noexcept {
  const int top_code = (1 << exponent_bits) - 1;
  const double full = 2.0 - std::ldexp(1.0, -mantissa_bits);  // mantissa all ones
  switch (top) {
    case TopCodes::infinity_and_nan: return std::ldexp(full, top_code - 1 - bias());
    case TopCodes::numbers: return std::ldexp(full, top_code - bias());
    case TopCodes::one_nan: break;
  }
  // The all-ones code is NaN: the largest value is one mantissa step lower, or without mantissa one exponent lower.
  return mantissa_bits > 0 ? std::ldexp(full - std::ldexp(1.0, -mantissa_bits), top_code - bias())
                           : std::ldexp(1.0, top_code - 1 - bias());
}

double NumberFormat::smallest_normal() const noexcept {
  return std::ldexp(1.0, (mantissa_bits > 0 ? 1 : 0) - bias());
}

double NumberFormat::smallest_subnormal() const noexcept {
  return std::ldexp(smallest_normal(), -mantissa_bits);
}

double NumberFormat::epsilon() const noexcept {
  return std::ldexp(1.0, -mantissa_bits);
}

}  // namespace headroom
