// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/latency_hiding.hpp>

namespace headroom {

std::string_view name_of(SpillLevel level) noexcept {
  switch (level) {
    case SpillLevel::l1: return "L1";
    case SpillLevel::l2: return "L2";
    case SpillLevel::memory: break;
  }
  return "memory";
}

SpillCost spill_cost(
    Bytes per_thread, double resident, double threads, double units, const SpillPlaces& places) noexcept {
  SpillCost cost;
  cost.held = resident * per_thread;
  cost.moved = 2.0 * threads * per_thread;
  if (places.l1_rate && cost.held <= places.l1) {
    cost.level = SpillLevel::l1;
    cost.time = cost.moved / *places.l1_rate;
  } else if (units * cost.held <= places.l2) {
    cost.level = SpillLevel::l2;
    cost.time = cost.moved / places.l2_rate;
  } else {
    cost.time = cost.moved / places.memory_rate;
  }
  return cost;
}

}  // namespace headroom
