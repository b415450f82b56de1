// SPDX-License-Identifier: Apache-2.0
// A job of a language model: prompts that lie there, to be answered by a time or by stated GPUs. A question of kind
// batch whose [serving] and [strategy] describe one replica as kind serve does.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct TokenJob {
  Scenario replica;  ///< under a fixed load, on GPUs of its own; what is left open is still blank in its document
  BatchJob job;
  std::optional<std::int64_t> gpus;  ///< nothing: the answer says how many
  bool layout_open = false;          ///< none of tp, pp and ep is stated
  bool load_open = false;            ///< serving.concurrency is not stated
  std::vector<std::string> assumptions;

  [[nodiscard]] const ServeScenario& serve() const { return std::get<ServeScenario>(replica.question); }
};

/// Whether a document asks for it: kind batch of a model that is no network of ops.
[[nodiscard]] bool asks_for_token_job(const ConfigValue& root,
                                      const ModelLibrary& models,
                                      const NetworkLibrary& networks);

/// ConfigError with every problem at once: those of a replica as kind serve tells them, of [job], and of tables and
/// keys that mean nothing to a job, each with its reason.
[[nodiscard]] TokenJob read_token_job(const ConfigValue& root, const std::string& file, const Sources& sources);
TokenJob read_token_job(const ConfigValue& root, const std::string& file, const Sources&& gone) = delete;

}  // namespace headroom
