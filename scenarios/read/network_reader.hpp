// SPDX-License-Identifier: Apache-2.0
// The tables of a question whose model is a network of ops.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/question/network_scenario.hpp>

#include <string>

namespace headroom {

/// Whether a model is a network: the id of one, a TOML or ONNX file, or a table of ops.
[[nodiscard]] bool names_network(const ConfigValue& model, const ModelLibrary& models, const NetworkLibrary& networks);

/// Whether `model` names a network, and the document trains it.
[[nodiscard]] bool asks_for_network(const ConfigValue& root,
                                    const ModelLibrary& models,
                                    const NetworkLibrary& networks);

/// Reads a scenario whose model is a network: [hardware] gpu, gpus, node, cluster; [training] global_batch, precision,
/// gradients, optimizer or optimizer_bytes, software, samples, target_utilisation; [strategy] dp, zero, micro_batch,
/// recompute none|full, recompute_every, recompute_parts; [data]; [money]. A model file is looked for beside `file`.
/// Throws ConfigError with every problem at once.
[[nodiscard]] NetworkScenario read_network_scenario(const ConfigValue& root,
                                                    const std::string& file,
                                                    const Sources& sources,
                                                    const NetworkLibrary& networks);

}  // namespace headroom
