// SPDX-License-Identifier: Apache-2.0
// Memory from below: what no strategy of a layer table can do without, for searches that leave out what cannot fit.
#pragma once

#include <headroom/model/train/memory/memory.hpp>

#include <span>

namespace headroom {

/// What the first and the mean stage of a strategy hold at least, whatever its ZeRO stage and shards.
struct LeastHolding {
  bool known = false;              ///< false where stages are stated or adapters are trained
  double first = 0.0, mean = 0.0;  ///< layers
  Bytes at_first{}, at_mean{};     ///< of their activations
};
[[nodiscard]] LeastHolding least_holding(const CompiledMemory& compiled,
                                         const MemoryTable& table,
                                         const Strategy& strategy,
                                         double micro_batches) noexcept;

/// Never above the upper end of device_interval of any strategy that has this table, tp, pp, cp, dp, ZeRO stage,
/// recomputation and micro-batches, whatever its schedule and chunks: states and activations in flight of the first
/// stage's fewest layers, or of the mean stage, whichever are more (Rajbhandari et al. 2020, figure 1; Korthikanti et
/// al. 2022, equations 1 to 5); no workspace, no ends, no slack. Zero where stages are stated or adapters are trained.
[[nodiscard]] Bytes least_device(const CompiledMemory& compiled,
                                 const MemoryTable& table,
                                 const Strategy& strategy,
                                 double micro_batches) noexcept;
/// The least of a strategy's splits, of which `splits`, one or more, tells what each holds.
[[nodiscard]] Bytes least_device(const CompiledMemory& compiled,
                                 const MemoryTable& table,
                                 const Strategy& strategy,
                                 std::span<const LeastHolding> splits) noexcept;

}  // namespace headroom
