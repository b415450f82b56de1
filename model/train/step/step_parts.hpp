// SPDX-License-Identifier: Apache-2.0
// What steps of layers and steps of op lists are made of: kernels as they run inside a step, waiting for the host,
// traffic beside compute, collectives as far as a software reaches their rate.
#pragma once

#include <headroom/model/collectives/collective_time.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/train/software/step_stack.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Whether products of the recipe multiply in 8 bit or fewer.
[[nodiscard]] bool narrow_recipe(Precision precision) noexcept;
/// The GEMM format of what stays in 16 bit or more: attention, heads, convolutions; fp16 where the SKU has no bf16.
[[nodiscard]] std::string_view wide_format(const Device& device, Precision precision) noexcept;
/// The GEMM format of the recipe's products.
[[nodiscard]] std::string_view narrow_format(const Device& device, Precision precision) noexcept;

/// Products of a format without what a kernel in a step does not have: a launch of its own, for the host runs ahead;
/// droop, for the step's clock is the SKU's level; casts, which are priced as passes. `gradient`: the result is read
/// and written in fp32. A SKU without curves takes the medians of the measured SKUs, which `why` says. ConfigError when
/// the SKU lacks peak, bandwidth or units.
[[nodiscard]] GemmModel step_product(const Device& device, std::string_view format, bool gradient, std::string& why);
/// Fused attention: the software's kernel, else the newest that was measured, which `why` says.
[[nodiscard]] TrainingAttentionModel step_attention(const Device& device,
                                                    std::string_view format,
                                                    std::string_view kernel,
                                                    std::string& why);

/// What unfused attention runs on.
struct UnfusedGround {
  const StepPhysics& physics;
  FlopsPerSecond peak{};
  BytesPerSecond bandwidth{};  ///< sustained
};
struct UnfusedAttention {
  Seconds forward{}, backward{};
};
/// Every score is formed, masked or not (Korthikanti et al. 2022, section 4): al 4 pairs d / (u P16) + `score_bytes` a
/// score / B; backward 2 x products, 1.5 x bytes; al = `unaligned` where 8 does not divide d. `pairs` of all heads.
[[nodiscard]] UnfusedAttention unfused_attention(
    double pairs, double width, bool aligned, double element, const UnfusedGround& ground) noexcept;

/// (a^5 + b^5)^(1/5) - a: what waiting for the host adds to the GPU's own time.
[[nodiscard]] Seconds wait_for_host(Seconds gpu, Seconds host) noexcept;

/// Compute c with communication x beside it, of which a share o overlaps: what overlaps slows compute by sig.
[[nodiscard]] Seconds overlapped(Seconds c, Seconds x, double o, double sig) noexcept;

/// What a group's traffic takes on a stack that reaches a share of the measured rates; nothing without a group.
[[nodiscard]] Seconds reached(const GroupCollectives* group,
                              Collective collective,
                              double bytes,
                              const StepPhysics& physics,
                              const StepStack& stack) noexcept;

/// GPUs from which stragglers are felt.
inline constexpr double straggler_free = 8.0;
/// Of the last micro-batch's compute, what gradients may hide beside.
inline constexpr double hiding_room = 0.8;

}  // namespace headroom
