// SPDX-License-Identifier: Apache-2.0
// The smallest change that makes a training plan fit: single changes first, then pairs, then three at once.
#pragma once

#include <headroom/scenarios/plan/plan.hpp>

#include <vector>

namespace headroom {

/// At most `limit` remedies with the fewest changes, one for each set of keys, the cheapest step first; what changes
/// the optimizer's numbers comes last. Each is what the question answers when it is resolved again with the changes,
/// and fits at the upper end of its interval, on the host too. Empty when nothing of these helps.
[[nodiscard]] std::vector<Remedy> find_remedies(const Scenario& scenario,
                                                const Strategy& strategy,
                                                PlanPart part,
                                                std::size_t limit);

/// Where none of these helps somebody who tunes a model: the fewest GPUs, in doublings up to eight times as many, whose
/// shards surely fit, and what else must be stated for that; by memory alone. Empty: none, or a run that is no tuning.
[[nodiscard]] Changes enough_gpus(const TrainScenario& train);
/// Whether somebody tunes a model, rather than trains one: adapters, or one GPU. Less may then be trained, of shorter
/// sequences.
[[nodiscard]] bool is_tuning(const TrainScenario& train) noexcept;

}  // namespace headroom
