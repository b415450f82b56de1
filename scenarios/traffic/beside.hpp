// SPDX-License-Identifier: Apache-2.0
// Several models on the GPUs of one replica: which classes of [traffic] ask which, and what each gets of the memory.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

/// The scenario's model and those beside it.
[[nodiscard]] inline std::size_t model_count(const ServeScenario& serve) noexcept {
  return 1 + serve.beside.size();
}
[[nodiscard]] const Architecture& model_of(const ServeScenario& serve, std::size_t model) noexcept;
/// "Llama 3.1 8B and Qwen3 8B".
[[nodiscard]] std::string model_names(const ServeScenario& serve);
/// How far measured runs lay from what the model says; of several models those of the kind that is known worst.
[[nodiscard]] ServingErrors serving_errors(const ServeScenario& serve, ServingQuantity quantity);
/// The question of one of the models with GPUs of its own: its classes, its formats.
[[nodiscard]] ServeScenario alone(const ServeScenario& serve, std::size_t model);

/// KV pool of one GPU of each model. Stated shares are of what weights, activations and frameworks of all engines
/// leave; of the rest each model whose share is not stated holds its longest request, and what then remains goes by
/// requests/s x output tokens x bytes of a mean sequence: by Little's law what is resident where all models give tokens
/// at one pace, as engines do that take turns. ConfigError where the engines do not fit together, by how much, and
/// where a pool holds no request.
struct BesideMemory {
  std::vector<Bytes> pools;
  std::vector<double> shares;
};
[[nodiscard]] BesideMemory beside_memory(const ServeScenario& serve);

}  // namespace headroom
