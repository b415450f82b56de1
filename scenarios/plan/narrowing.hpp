// SPDX-License-Identifier: Apache-2.0
// The facts that would narrow the interval of a training plan's step most.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/training/confidence.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <vector>

namespace headroom {

/// What the numbers of a plan's step are known to, with the runs of the user's own that count already.
struct KnownStep {
  const OwnNumbers& own;
  std::vector<double> derivative;  ///< of ln(step) by each key
};

/// Whether one of the runs that count is of the job: its derivatives are the plan's, to a thousandth of their length.
[[nodiscard]] bool measured_already(const KnownStep& step);

/// At most two facts, the one that narrows most first: a measured run of the very job that is planned, as narrow as the
/// interval of a plan with it will be; while no run counts, a software and a SKU that runs of the fit used. Facts that
/// narrow the 80 % width by less than a tenth are none, nor is a run of a job that runs of the user's own are of
/// already: repeats count once. `step`: null where runs are told to change nothing.
[[nodiscard]] std::vector<NarrowingFact> narrowing_facts(const TrainScenario& train,
                                                         const PlanConfidence& confidence,
                                                         const KnownStep* step);

}  // namespace headroom
