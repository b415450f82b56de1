// SPDX-License-Identifier: Apache-2.0
// Tables [serving.kv_offload.*] and the key serving.preemption_mode.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Reads `[serving.kv_offload]` into the fleet's question and `preemption_mode` into the stack's scheduler; what is
/// left open is told.
void read_kv_offload(ServingKeys& serving, ServeScenario& serve, std::vector<std::string>& assumptions);

}  // namespace headroom
