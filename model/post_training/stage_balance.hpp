// SPDX-License-Identifier: Apache-2.0
// Stages that feed each other on one cluster, such as simulate, render, train, adapt and evaluate: GPUs of each so that
// none waits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct BalancedStage {
  std::string name;
  double rate = 1.0;      ///< units a second of one GPU; above 0
  double units = 1.0;     ///< of this stage for one unit of the flow; above 0
  double demand = 0.0;    ///< units a second that it must reach, whatever the flow is; 0: the flow's
  std::int64_t gpus = 0;  ///< that it has; 0: open
};

struct StageShare {
  std::int64_t gpus = 0;  ///< at least 1
  double exact = 0.0;     ///< GPUs of a split into parts of any size
  double rate = 0.0;      ///< units a second that it can do
  double idle = 0.0;      ///< share of its time without work, 0 to 1
};

struct StageBalance {
  std::vector<StageShare> stages;  ///< in the order of the stages
  double flow = 0.0;               ///< of the whole a second, by the slowest stage
  std::size_t binds = 0;           ///< that stage
};

/// Of a flow x every stage needs x u_i / r_i GPUs; n GPUs carry x = n / sum(u_i / r_i) at most. Whole GPUs: each stage
/// gets one, and each further GPU goes to the stage that binds, which is the best of all splits (the least of a family
/// of rates that grow with their own GPUs alone). Stages with GPUs of their own keep them. nullopt: fewer GPUs than
/// stages.
[[nodiscard]] std::optional<StageBalance> balance_stages(std::span<const BalancedStage> stages, std::int64_t gpus);

/// GPUs that a flow asks of each stage: ceil(x u / r), or of its own demand ceil(d / r).
[[nodiscard]] StageBalance stages_for(std::span<const BalancedStage> stages, double flow);

}  // namespace headroom
