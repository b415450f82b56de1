// SPDX-License-Identifier: Apache-2.0
// The [training] and [strategy] tables of a training question.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Reads both tables; the model, the hardware and the number of GPUs stand in `train` already. Blank keys take the
/// software's defaults and are told in `assumptions`; problems go to the root's diagnostics.
void read_training(ConfigTable& root, TrainScenario& train, std::vector<std::string>& assumptions);

}  // namespace headroom
