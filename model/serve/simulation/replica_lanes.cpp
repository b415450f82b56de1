// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/replica_lanes.hpp>

#include <algorithm>
#include <cstdint>

namespace headroom {

EngineSettings lane_of(const ReplicaPool& pool) {
  EngineSettings settings = pool.engine;
  settings.max_num_seqs = std::max<std::int64_t>(settings.max_num_seqs / pool.lanes, 1);
  settings.blocks /= pool.lanes;
  settings.watermark_blocks /= pool.lanes;
  return settings;
}

std::size_t engines_in(const ReplicaPool& pool) noexcept {
  return static_cast<std::size_t>(pool.replicas * pool.lanes);
}

PoolCounters counters_of(std::span<const SimulatedEngine> engines, std::size_t stride) {
  PoolCounters all;
  for (std::size_t i = 0; i < engines.size(); i += stride) {
    const SimulatedEngine& engine = engines[i];
    ++all.engines;
    all.blocks += engine.settings().blocks;
    all.engine_blocks = engine.settings().blocks;
    all.sum.add(engine.counters());
  }
  all.peak_blocks = all.sum.peak_blocks;
  return all;
}

}  // namespace headroom
