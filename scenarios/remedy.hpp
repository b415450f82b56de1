// SPDX-License-Identifier: Apache-2.0
// The smallest change that makes a training plan fit: single changes first, then pairs, then three at once.
#pragma once

#include <headroom/scenarios/plan.hpp>

#include <vector>

namespace headroom {

/// At most `limit` remedies, least disruptive first: micro-batch, recomputation, sharding of states, then parallelism
/// at the same GPU count. Empty when nothing of these helps.
[[nodiscard]] std::vector<Remedy> find_remedies(const CompiledTraining& compiled,
                                                const Strategy& strategy,
                                                std::int64_t domain,
                                                std::size_t limit);

}  // namespace headroom
