// SPDX-License-Identifier: Apache-2.0
// What the user's own runs do to one plan: how far each number that they moved moves its step, and how much less
// uncertain it is.
#pragma once

#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <memory>
#include <string>
#include <vector>

namespace headroom {

/// A number that the runs moved, and with it the step.
struct MovedNumber {
  std::string key;    ///< "dp_overlap"
  std::string owner;  ///< "megatron-core", "h100-sxm-80gb", "hopper"; "all" of what steps have in common
  double was = 0.0, now = 0.0;
  bool time = false;  ///< in seconds
  double step = 0.0;  ///< relative change of the plan's step by this number alone
};

struct OwnEffect {
  double step = 1.0;  ///< factor of the runs on the plan's step
  /// Share of the variance of ln(step) that the runs took, of all but what runs of one cluster differ by.
  double weight = 0.0;
  std::vector<MovedNumber> moved;  ///< that move the step by 0.2 % or more, the one that moves it most first
  /// Sets of them that the runs cannot tell apart, "gemm, attention": only what they do together is known.
  std::vector<std::string> alike;
};

/// Derivatives of ln(step) of a plan by each key of `own`, where no run moved it yet. `groups` are those of its job.
[[nodiscard]] std::vector<double> step_derivative(const TrainScenario& train,
                                                  const OwnNumbers& own,
                                                  const Strategy& strategy,
                                                  const std::shared_ptr<const JobGroups>& groups,
                                                  TermSet without);

/// Of a legal plan that is priced with `own`, whose step has this `derivative`.
[[nodiscard]] OwnEffect own_effect(const TrainScenario& train,
                                   const OwnNumbers& own,
                                   const std::vector<double>& derivative,
                                   const Strategy& strategy,
                                   const std::shared_ptr<const JobGroups>& groups,
                                   TermSet without);

}  // namespace headroom
