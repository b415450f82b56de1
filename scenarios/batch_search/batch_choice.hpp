// SPDX-License-Identifier: Apache-2.0
// One batch question on several SKUs, engines, precisions and numbers of instances: what each takes, and the cheapest.
#pragma once

#include <headroom/scenarios/inference/batch_plan.hpp>

#include <string>
#include <vector>

namespace headroom {

/// A combination that is to be planned, or why it cannot be asked about.
struct BatchCandidate {
  std::optional<BatchScenario> scenario;
  std::string gpu, engine, precision;
  std::int64_t instances = 1;
  std::string why;
};

/// Plans each and takes the cheapest that holds: by dollars a million samples or of the job; without a price on any by
/// GPUs. Its `choices` are all, best first. ConfigError with what is wrong with the first where none can be asked
/// about.
[[nodiscard]] BatchPlan choose_plan(std::vector<BatchCandidate> candidates);

}  // namespace headroom
