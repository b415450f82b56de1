// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/curve.hpp>
#include <headroom/model/laboratory/stored_format.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

constexpr std::string_view ocp = "Rouhani et al. 2023, table 1: e8m0 scale for 32 elements";
constexpr std::array stored_table{
    StoredFormat{"fp32", "fp32", 0, 0, 0.0, Rate::fp32_vector, "IEEE 754-2019, binary32"},
    StoredFormat{"tf32", "tf32", 0, 0, 0.0, Rate::tf32, "NVIDIA A100 whitepaper; 32 bits in memory, 19 multiply"},
    StoredFormat{"fp16", "fp16", 0, 0, 0.0, Rate::fp16, "IEEE 754-2019, binary16"},
    StoredFormat{"bf16", "bf16", 0, 0, 0.0, Rate::bf16, "Kalamkar et al. 2019"},
    StoredFormat{"mxfp8", "e4m3", 0, 32, 8.0, Rate::fp8, ocp},
    StoredFormat{"e5m2", "e5m2", 0, 0, 0.0, Rate::fp8, "Micikevicius et al. 2022, table 1"},
    StoredFormat{"e4m3", "e4m3", 0, 0, 0.0, Rate::fp8, "Micikevicius et al. 2022, table 1"},
    StoredFormat{"int8", "", 8, 0, 0.0, Rate::int8, "two's complement, symmetric about 0"},
    StoredFormat{"mxfp6", "e2m3", 0, 32, 8.0, std::nullopt, ocp},
    StoredFormat{"e3m2", "e3m2", 0, 0, 0.0, std::nullopt, "Rouhani et al. 2023, table 1"},
    StoredFormat{"e2m3", "e2m3", 0, 0, 0.0, std::nullopt, "Rouhani et al. 2023, table 1"},
    StoredFormat{"nvfp4", "e2m1", 0, 16, 8.0, Rate::fp4, "NVIDIA Blackwell: e4m3 scale for 16 elements"},
    StoredFormat{"mxfp4", "e2m1", 0, 32, 8.0, Rate::fp4, ocp},
    StoredFormat{"e2m1", "e2m1", 0, 0, 0.0, Rate::fp4, "Rouhani et al. 2023, table 1"},
    StoredFormat{"int4", "", 4, 0, 0.0, std::nullopt, "two's complement, symmetric about 0"},
};
constexpr std::array stored_aliases{FormatAlias{"fp8", "e4m3"},     FormatAlias{"fp6", "e2m3"},
                                    FormatAlias{"fp4", "e2m1"},     FormatAlias{"float32", "fp32"},
                                    FormatAlias{"float16", "fp16"}, FormatAlias{"half", "fp16"},
                                    FormatAlias{"bfloat16", "bf16"}};

}  // namespace

const NumberFormat* StoredFormat::number() const noexcept {
  const auto* const found = std::find_if(number_formats.begin(), number_formats.end(),
                                         [&](const NumberFormat& format) { return format.name == element; });
  return found == number_formats.end() ? nullptr : found;
}

double StoredFormat::bits() const noexcept {
  const NumberFormat* const format = number();
  return (format != nullptr ? format->bits() : whole_bits) + (block > 0 ? scale_bits / block : 0.0);
}

double StoredFormat::largest() const noexcept {
  const NumberFormat* const format = number();
  return format != nullptr ? format->largest() : std::ldexp(1.0, whole_bits - 1) - 1.0;
}

std::span<const StoredFormat> stored_formats() noexcept {
  return stored_table;
}

const StoredFormat* find_stored_format(std::string_view name) noexcept {
  return find_format(stored_table, stored_aliases, name);
}

double nearest_value(const NumberFormat& format, double value) noexcept {
  const double size = std::abs(value);
  if (!(size > 0.0) || std::isinf(value)) {
    return value;
  }
  // Of the binade that the value lies in, or of the subnormals below the smallest normal.
  const int exponent = std::max(std::ilogb(size), std::ilogb(format.smallest_normal()));
  const double step = std::ldexp(1.0, exponent - format.mantissa_bits);
  const double rounded = std::nearbyint(size / step) * step;  // ties to even, the default of the floating-point unit
  if (rounded <= format.largest()) {
    return std::copysign(rounded, value);
  }
  return std::copysign(format.top == TopCodes::numbers ? format.largest() : std::numeric_limits<double>::infinity(),
                       value);
}

}  // namespace headroom
