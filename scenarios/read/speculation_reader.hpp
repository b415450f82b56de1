// SPDX-License-Identifier: Apache-2.0
// Who drafts for a served model: [serving.speculative].
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <functional>
#include <string>
#include <vector>

namespace headroom {

/// The network that a value names: a preset's id, or the path of a config.json. ConfigError where there is none.
using ModelFinder = std::function<Architecture(const ConfigValue& named)>;

/// Reads [serving.speculative] into the work of `serve`, whose layout and formats stand in it already. What drafting
/// takes must be known: of a model it is priced, of n-grams nothing, else the time is to be stated. Problems go to the
/// table's diagnostics; what the step gives and who drafts is told in `assumptions`.
void read_speculation(ConfigTable& serving,
                      const ModelFinder& models,
                      ServeScenario& serve,
                      std::vector<std::string>& assumptions);

}  // namespace headroom
