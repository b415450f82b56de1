// SPDX-License-Identifier: Apache-2.0
// Several models that share the GPUs of one replica: the classes of [traffic] that use each, and its part of the
// memory.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace headroom {

/// Number of models on a replica: the scenario's own and those in `beside`.
[[nodiscard]] inline std::size_t model_count(const ServeScenario& serve) noexcept {
  return 1 + serve.beside.size();
}
[[nodiscard]] const Architecture& model_of(const ServeScenario& serve, std::size_t model) noexcept;
/// "Llama 3.1 8B and Qwen3 8B".
[[nodiscard]] std::string model_names(const ServeScenario& serve);
/// Past errors of the model's serving times; for several models the errors of the worst-known kind among them.
[[nodiscard]] ServingErrors serving_errors(const ServeScenario& serve, ServingQuantity quantity);
/// What the times of a SKU rest on whose kernels nobody measured; empty of any other.
[[nodiscard]] std::string other_kernels_text(const ServeScenario& serve);
/// The question reduced to one model on GPUs of its own, with its classes and formats.
[[nodiscard]] ServeScenario alone(const ServeScenario& serve, std::size_t model);

/// KV pool of each model on one GPU. Stated shares divide what weights, activations and frameworks of all engines
/// leave. Of the rest, each model without a share first gets room for its longest request; the remainder is divided in
/// proportion to requests/s x output tokens x bytes of a mean sequence, which by Little's law is the resident cache
/// when all models decode at the same pace, as engines that take turns do. Throws ConfigError, with the missing bytes,
/// when the engines do not fit together or a pool holds no request.
struct BesideMemory {
  std::vector<Bytes> pools;
  std::vector<double> shares;
};
[[nodiscard]] BesideMemory beside_memory(const ServeScenario& serve);

}  // namespace headroom
