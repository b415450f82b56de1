// SPDX-License-Identifier: Apache-2.0
// Decodes stored numbers on the host, to check a product of the device. Free of CUDA, so that any machine can test it.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom::probes {

enum class Number : std::uint8_t { bf16, fp16, fp32, e4m3, e5m2, int8, int32, e2m1 };

/// The i-th number in little-endian bytes; for e2m1 an even i is the low half of its byte. fp8 and fp4 follow OCP 8-bit
/// Floating Point 1.0 (section 5) and OCP Microscaling Formats 1.0 (section 5.3.3).
[[nodiscard]] double decoded(const std::vector<unsigned char>& raw, std::int64_t i, Number number);

/// A scale in ue4m3, which is e4m3 without a sign.
[[nodiscard]] double decoded_scale(unsigned char code) noexcept;

/// Number of elements that share a scale.
inline constexpr std::int64_t scaled_block = 16;

/// Bytes of the scales for `rows` rows of k elements, in whole tiles of 128 rows by 4 scales.
[[nodiscard]] std::int64_t scale_bytes(std::int64_t rows, std::int64_t k) noexcept;

/// Place of the scale of block `block` (16 elements) of a row (cuBLAS documentation, "1D Block Scaling Factors
/// Layout"): tiles of 512 bytes, along k first; within a tile 16 (row mod 32) + 4 (row / 32) + block.
[[nodiscard]] std::int64_t scale_place(std::int64_t row, std::int64_t block, std::int64_t k) noexcept;

}  // namespace headroom::probes
