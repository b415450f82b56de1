// SPDX-License-Identifier: Apache-2.0
// How sure a plan's times are, on what that rests, and where the question lies outside of it.
#pragma once

#include <headroom/model/train/confidence.hpp>
#include <headroom/scenarios/scenario.hpp>

#include <string>
#include <vector>

namespace headroom {

struct PlanConfidence {
  RunClass run_class = RunClass::dense;
  ClassErrors errors;  ///< of the class
  double width = 0.0;  ///< 80 % of it, narrowed by the user's own runs
  /// What of the question nobody measured: "1 024 GPUs: the largest measured run had 512". The width stays as it is.
  std::vector<std::string> outside;
};

[[nodiscard]] PlanConfidence confidence_of(const TrainScenario& train, const Confidence& table);

}  // namespace headroom
