// SPDX-License-Identifier: Apache-2.0
// The order that ZB-H1 and ZB-H2 share (Qi et al. 2023, section 2.3, figure 3).
#pragma once

#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <vector>

namespace headroom {

/// 1F1B with `reach` times as many forward passes ahead; stage i delays weight gradients by `reach` i micro-batches.
void write_zero_bubble(const PipelineShape& shape, std::int32_t stage, std::int32_t reach, std::vector<Pass>& out);

}  // namespace headroom
