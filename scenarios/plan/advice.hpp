// SPDX-License-Identifier: Apache-2.0
// What stands beside a training plan because its scenario asks for it.
#pragma once

#include <headroom/scenarios/advice/batch_change.hpp>
#include <headroom/scenarios/advice/sweep.hpp>
#include <headroom/scenarios/plan/elastic.hpp>

#include <optional>
#include <vector>

namespace headroom {

struct TrainAdvice {
  std::optional<BatchAdvice> batch;
  std::optional<SweepPlan> sweep;  ///< only where time is priced
  std::vector<ElasticCount> elastic;
};

}  // namespace headroom
