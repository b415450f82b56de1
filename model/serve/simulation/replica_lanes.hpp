// SPDX-License-Identifier: Apache-2.0
// The engines of a pool: how its replicas' limits divide among them, and what they have counted together.
#pragma once

#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstddef>
#include <span>

namespace headroom {

/// Settings of one of a replica's concurrent batches, of at least one place.
[[nodiscard]] EngineSettings lane_of(const ReplicaPool& pool);
/// Engines of all replicas.
[[nodiscard]] std::size_t engines_in(const ReplicaPool& pool) noexcept;
/// Sums over every `stride`-th of the engines, from the first on.
[[nodiscard]] PoolCounters counters_of(std::span<const SimulatedEngine> engines, std::size_t stride = 1);

}  // namespace headroom
