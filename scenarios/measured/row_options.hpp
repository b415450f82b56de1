// SPDX-License-Identifier: Apache-2.0
// Options of a measured training row: their words and numbers, and what they and its name say of layers of experts.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/train/errors/step_update.hpp>
#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/software/step_stack.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Empty where the row does not state it.
[[nodiscard]] std::string_view option(const RunConfiguration& run, std::string_view key);
/// A whole number above zero.
[[nodiscard]] std::optional<std::int64_t> option_count(const RunConfiguration& run, std::string_view key);
/// The limit that the row states for each GPU, or for a superchip; its products run at the clock that holds it.
[[nodiscard]] std::optional<Watts> power_cap_of(const RunConfiguration& run);

/// Kernels of the run's own boards, measured alone: their time over that of the SKU's measured kernels.
struct OwnKernels {
  double products = 1.0;   ///< in 16 bit (own_products)
  double attention = 1.0;  ///< fused (own_attention)
};
/// Nothing where the row states neither.
[[nodiscard]] std::optional<OwnKernels> own_kernels_of(const RunConfiguration& run);
/// The parameters with the SKU's level for such boards. What a step adds to kernels alone stays the SKU's.
[[nodiscard]] StepParameters with_own_kernels(StepParameters parameters, const Device& sku, const OwnKernels& own);

/// A row's place among runs of its cluster. `blank` is the variance of closing the axes that it leaves blank; `hidden`
/// is of its network where the row states none.
[[nodiscard]] JobPlace job_place_of(const RunConfiguration& run, double blank, std::int64_t hidden = 0);

/// How a row runs its experts. Graphs of a run whose shapes are fixed hold whole layers; what is not stated is left to
/// the software's recipe.
[[nodiscard]] ExpertTraffic expert_traffic_of(const RunConfiguration& run);

/// Prediction modules that a row trains: as it or its name says, else as the software's recipe does.
[[nodiscard]] std::int64_t prediction_modules(const RunConfiguration& run,
                                              const ExpertHabits& recipe,
                                              const Architecture* preset);

/// Layers of the last stage where prediction modules and the loss stand for layers of its last chunk, and every other
/// chunk holds as many as that leaves (Megatron-Core, --pipeline-model-parallel-layout; Megatron-Bridge,
/// deepseek_v3.py). 0: that leaves none, or more than a stage's share.
[[nodiscard]] std::uint8_t layers_beside_modules(const Architecture& architecture, const Strategy& strategy) noexcept;

/// A model's name without a remark in brackets: "DeepSeekV3 (w/o MTP)".
[[nodiscard]] std::string without_remark(const std::string& model);

}  // namespace headroom
