// SPDX-License-Identifier: Apache-2.0
// Tables [serving.kv_offload.*] and the key serving.preemption_mode.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Reads `[serving.kv_offload]` into the fleet's question and `preemption_mode` into the stack's scheduler; what is
/// left open is told.
void read_kv_offload(ServingKeys& serving, ServeScenario& serve, std::vector<std::string>& assumptions);

/// Whether a node's memory has room for the tiers that replicas keep in it: told, and refused where what is stated
/// holds not even one replica's.
void hold_host_memory(ConfigTable& root,
                      const HardwareChoice& hardware,
                      const ServeScenario& serve,
                      std::vector<std::string>& assumptions);

}  // namespace headroom
