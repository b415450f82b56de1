// SPDX-License-Identifier: Apache-2.0
// Numeric formats derived from their exponent and mantissa bits: range, spacing at 1, smallest normal and subnormal.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// The meaning of the codes with the largest exponent.
enum class TopCodes : std::uint8_t {
  infinity_and_nan,  ///< all are infinities or NaN (IEEE 754)
  one_nan,           ///< only the all-ones code is NaN (e4m3: Micikevicius et al. 2022; e8m0: Rouhani et al. 2023)
  numbers,           ///< all are numbers (e3m2, e2m3, e2m1)
};

/// A binary floating-point format with values (-1)^s 2^(e - bias) (1 + m / 2^mantissa_bits) and bias = 2^(exponent_bits
/// - 1) - 1. Exponent code 0 holds the subnormals if there is a mantissa.
struct NumberFormat {
  std::string_view name;
  int sign_bits = 1;
  int exponent_bits = 1;
  int mantissa_bits = 0;
  TopCodes top = TopCodes::infinity_and_nan;
  std::string_view source;

  [[nodiscard]] constexpr int bits() const noexcept { return sign_bits + exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr int bias() const noexcept { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] double largest() const noexcept;
  [[nodiscard]] double smallest_normal() const noexcept;
  /// The smallest value above zero; smallest_normal() for a format without mantissa.
  [[nodiscard]] double smallest_subnormal() const noexcept;
  /// The distance from 1 to the next larger value: 2^-mantissa_bits.
  [[nodiscard]] double epsilon() const noexcept;
};

inline constexpr std::array number_formats{
    NumberFormat{"fp32", 1, 8, 23, TopCodes::infinity_and_nan, "IEEE 754-2019, binary32"},
    NumberFormat{"tf32", 1, 8, 10, TopCodes::infinity_and_nan, "NVIDIA A100 whitepaper"},
    NumberFormat{"bf16", 1, 8, 7, TopCodes::infinity_and_nan, "Kalamkar et al. 2019"},
    NumberFormat{"fp16", 1, 5, 10, TopCodes::infinity_and_nan, "IEEE 754-2019, binary16"},
    NumberFormat{"e5m2", 1, 5, 2, TopCodes::infinity_and_nan, "Micikevicius et al. 2022, table 1"},
    NumberFormat{"e4m3", 1, 4, 3, TopCodes::one_nan, "Micikevicius et al. 2022, table 1"},
    NumberFormat{"e3m2", 1, 3, 2, TopCodes::numbers, "Rouhani et al. 2023, table 1"},
    NumberFormat{"e2m3", 1, 2, 3, TopCodes::numbers, "Rouhani et al. 2023, table 1"},
    NumberFormat{"e2m1", 1, 2, 1, TopCodes::numbers, "Rouhani et al. 2023, table 1"},
    NumberFormat{"e8m0", 0, 8, 0, TopCodes::one_nan, "Rouhani et al. 2023, the scale of the mx formats"},
};

}  // namespace headroom
