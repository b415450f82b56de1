// SPDX-License-Identifier: Apache-2.0
// Which factors bring gradients into the range of a format (Micikevicius et al. 2018, mixed precision training, section
// 3.2): powers of two, which change no mantissa.
#pragma once

#include <headroom/model/estimate/number_format.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// What becomes of a magnitude in a format.
enum class Fate : std::uint8_t { zero, subnormal, normal, overflow };
inline constexpr std::array<std::string_view, 4> fate_names{"zero", "subnormal", "normal", "overflow"};
/// Rounded to nearest, ties to even (nearest_value). Overflow: to infinity or NaN, or kept at the largest value.
[[nodiscard]] Fate fate_of(const NumberFormat& format, double magnitude) noexcept;
/// Significant bits that are left of a magnitude: mantissa_bits + 1 of normal numbers, one fewer with each halving
/// below the smallest normal, 0 of zero.
[[nodiscard]] int significant_bits(const NumberFormat& format, double magnitude) noexcept;

/// The smallest power of two that keeps a magnitude > 0 from being rounded to zero: the product must exceed half of the
/// smallest subnormal, since half of it ties to zero, which is even.
[[nodiscard]] double least_scale_nonzero(const NumberFormat& format, double magnitude) noexcept;
/// The smallest that brings it to the smallest subnormal, so that it lives under every rounding.
[[nodiscard]] double least_scale_subnormal(const NumberFormat& format, double magnitude) noexcept;
/// The smallest that brings it to the smallest normal number, so that no bit of its mantissa is lost.
[[nodiscard]] double least_scale_normal(const NumberFormat& format, double magnitude) noexcept;
/// The largest with which a magnitude > 0 does not overflow.
[[nodiscard]] double largest_scale(const NumberFormat& format, double magnitude) noexcept;

}  // namespace headroom
