// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/schedules/zero_bubble.hpp>

#include <algorithm>

namespace headroom {

void write_zero_bubble(const PipelineShape& shape, std::int32_t stage, std::int32_t reach, std::vector<Pass>& out) {
  const std::int32_t m = shape.micro_batches;
  const std::int32_t warm_up = std::min(m, reach * (shape.stages - stage - 1));
  const std::int32_t delay = std::min(m, reach * stage);
  for (std::int32_t k = 0; k < warm_up; ++k) {
    out.push_back({PassKind::forward, stage, k});
  }
  for (std::int32_t k = 0; k < m; ++k) {
    if (k + warm_up < m) {
      out.push_back({PassKind::forward, stage, k + warm_up});
    }
    out.push_back({PassKind::backward_input, stage, k});
    if (k >= delay) {
      out.push_back({PassKind::backward_weight, stage, k - delay});
    }
  }
  for (std::int32_t k = m - delay; k < m; ++k) {
    out.push_back({PassKind::backward_weight, stage, k});
  }
}

}  // namespace headroom
