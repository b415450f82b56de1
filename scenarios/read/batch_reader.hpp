// SPDX-License-Identifier: Apache-2.0
// The tables of a question of kind batch.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>

namespace headroom {

/// [hardware], [inference], [requests], [clients], [job], [data], [money], [energy]; `model` may be left out where
/// [[inference.call]] states calls. Throws ConfigError with every problem at once.
[[nodiscard]] BatchScenario read_batch_scenario(const ConfigValue& root,
                                                const std::string& file,
                                                const Sources& sources,
                                                const NetworkLibrary& networks);

}  // namespace headroom
