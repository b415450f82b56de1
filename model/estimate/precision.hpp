// SPDX-License-Identifier: Apache-2.0
// The numeric recipes of a run, and the device rate and bytes that each implies.
#pragma once

#include <headroom/hardware/catalog/device.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Training recipes come first, in the order of `training_precision_names`.
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, mxfp8, nvfp4, mxfp4, int8, int4, count };
inline constexpr std::size_t precision_count = static_cast<std::size_t>(Precision::count);

struct PrecisionRow {
  Precision precision;
  std::string_view name;
  Rate rate;                ///< rate of the matrix units
  double weight_bytes;      ///< bytes of a served weight without its scales
  double scale_bytes;       ///< bytes of block scales per weight
  double compute_bytes;     ///< bytes of a weight held for training's forward and backward pass; 0: not for training
  bool trains;              ///< usable for training
  std::string_view family;  ///< row of a stack's table of sustained shares
};

// clang-format off
// fp8 and fp4 recipes train with bf16 weights, cast on the way into the GEMM (Micikevicius et al. 2022). Scales: fp8
// one float per 128 x 128 (DeepSeek-AI 2024, DeepSeek-V3, section 3.3.2); mx formats one byte per 32 (Rouhani et al.
// 2023, table 1); nvfp4 one byte per 16; int4 a half and a 4-bit zero point per 128 (Lin et al. 2024, AWQ).
inline constexpr std::array precision_rows{
    //            precision         name     rate               weight scale             compute trains family
    PrecisionRow{Precision::fp32,  "fp32",  Rate::fp32_vector, 4.0,   0.0,              4.0,    true,  "fp32"},
    PrecisionRow{Precision::tf32,  "tf32",  Rate::tf32,        4.0,   0.0,              4.0,    true,  "tf32"},
    PrecisionRow{Precision::fp16,  "fp16",  Rate::fp16,        2.0,   0.0,              2.0,    true,  "16-bit"},
    PrecisionRow{Precision::bf16,  "bf16",  Rate::bf16,        2.0,   0.0,              2.0,    true,  "16-bit"},
    PrecisionRow{Precision::fp8,   "fp8",   Rate::fp8,         1.0,   4.0 / 16384.0,    2.0,    true,  "8-bit"},
    PrecisionRow{Precision::mxfp8, "mxfp8", Rate::fp8,         1.0,   1.0 / 32.0,       2.0,    true,  "8-bit"},
    PrecisionRow{Precision::nvfp4, "nvfp4", Rate::fp4,         0.5,   1.0 / 16.0,       2.0,    true,  "4-bit"},
    PrecisionRow{Precision::mxfp4, "mxfp4", Rate::fp4,         0.5,   1.0 / 32.0,       2.0,    true,  "4-bit"},
    PrecisionRow{Precision::int8,  "int8",  Rate::int8,        1.0,   0.0,              0.0,    false, "8-bit"},
    PrecisionRow{Precision::int4,  "int4",  Rate::fp16,        0.5,   2.5 / 128.0,      0.0,    false, "16-bit"},
};
// clang-format on
static_assert(precision_rows.size() == precision_count);

[[nodiscard]] constexpr const PrecisionRow& row_of(Precision precision) {
  return precision_rows[static_cast<std::size_t>(precision)];
}
/// Bytes of a stored GEMM weight with its share of the scales.
[[nodiscard]] constexpr double stored_bytes(Precision precision) {
  return row_of(precision).weight_bytes + row_of(precision).scale_bytes;
}
[[nodiscard]] constexpr std::string_view name_of(Precision precision) {
  return row_of(precision).name;
}

inline constexpr std::array<std::string_view, 8> training_precision_names{"fp32", "tf32",  "fp16",  "bf16",
                                                                          "fp8",  "mxfp8", "nvfp4", "mxfp4"};
inline constexpr std::array<std::string_view, precision_count> precision_names{
    "fp32", "tf32", "fp16", "bf16", "fp8", "mxfp8", "nvfp4", "mxfp4", "int8", "int4"};

}  // namespace headroom
