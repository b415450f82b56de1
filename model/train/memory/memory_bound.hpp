// SPDX-License-Identifier: Apache-2.0
// Memory from below: what no strategy of a layer table can do without, for searches that leave out what cannot fit.
#pragma once

#include <headroom/model/train/memory/memory.hpp>

namespace headroom {

/// Never above the upper end of device_interval of any strategy that has this table, tp, pp, cp, dp, ZeRO stage,
/// recomputation and micro-batches, whatever its schedule and chunks: states and activations in flight of the first
/// stage's fewest layers, or of the mean stage, whichever are more (Rajbhandari et al. 2020, figure 1; Korthikanti et
/// al. 2022, equations 1 to 5); no workspace, no ends, no slack. Zero where stages are stated or adapters are trained.
[[nodiscard]] Bytes least_device(const CompiledMemory& compiled,
                                 const MemoryTable& table,
                                 const Strategy& strategy,
                                 double micro_batches) noexcept;

}  // namespace headroom
