// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/stage_balance.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace headroom {
namespace {

/// Of the flow that one GPU of a stage carries.
double flow_of_one(const BalancedStage& stage) noexcept {
  return stage.rate / stage.units;
}

void settle(std::span<const BalancedStage> stages, StageBalance& balance) {
  balance.flow = 1e300;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    StageShare& share = balance.stages[i];
    share.rate = static_cast<double>(share.gpus) * stages[i].rate;
    if (const double flow = share.rate / stages[i].units; flow < balance.flow) {
      balance.flow = flow;
      balance.binds = i;
    }
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    StageShare& share = balance.stages[i];
    share.exact = balance.flow / flow_of_one(stages[i]);
    share.idle = std::max(0.0, 1.0 - share.exact / static_cast<double>(share.gpus));
  }
}

}  // namespace

std::optional<StageBalance> balance_stages(std::span<const BalancedStage> stages, std::int64_t gpus) {
  StageBalance balance;
  std::int64_t left = gpus;
  for (const BalancedStage& stage : stages) {
    balance.stages.push_back({std::max<std::int64_t>(1, stage.gpus), 0.0, 0.0, 0.0});
    left -= balance.stages.back().gpus;
  }
  if (stages.empty() || left < 0) {
    return std::nullopt;
  }
  for (; left > 0; --left) {
    std::size_t slowest = stages.size();
    double least = 1e300;
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const double flow = static_cast<double>(balance.stages[i].gpus) * flow_of_one(stages[i]);
      if (flow < least) {
        least = flow;
        slowest = i;
      }
    }
    if (stages[slowest].gpus > 0) {
      break;  // what binds has GPUs of its own, and more of others move nothing
    }
    ++balance.stages[slowest].gpus;
  }
  settle(stages, balance);
  return balance;
}

StageBalance stages_for(std::span<const BalancedStage> stages, double flow) {
  StageBalance balance;
  for (const BalancedStage& stage : stages) {
    const double units = stage.demand > 0.0 ? stage.demand : flow * stage.units;
    const auto gpus = static_cast<std::int64_t>(std::max(1.0, std::ceil(units / stage.rate - 1e-9)));
    balance.stages.push_back({stage.gpus > 0 ? stage.gpus : gpus, 0.0, 0.0, 0.0});
  }
  settle(stages, balance);
  return balance;
}

}  // namespace headroom
