// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to a prediction: sequences that the KV pool holds, and times and rates of
// loads with closed forms (serving_times.hpp) or from simulation (serving_simulated.hpp).
#pragma once

#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_runs.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Predicts rows and caches what they share: devices, one stack per engine, one architecture per model.
class ServingRowModel {
 public:
  explicit ServingRowModel(const Sources& sources)
      : sources_{sources}, devices_{sources.catalog}, networks_{sources}, times_{sources}, runs_{sources.data} {}
  /// Replaces the stack of its engine, for fitting.
  void set_stack(ServingStack stack);
  /// Predicts `metric` in `unit`; the model sees nothing but the configuration. A layout that the row leaves open is
  /// the fastest that its GPUs hold; its interval holds those of half and twice as many ranks. A range of mean prompts
  /// (prompt_tokens_low, prompt_tokens_high) widens the interval by both ends.
  [[nodiscard]] RowPrediction predict(const ServingConfiguration& run, std::string_view metric, std::string_view unit);
  /// The same with blank cells filled by what is known of the publication's launches (serving_launches.hpp).
  [[nodiscard]] RowPrediction predict(const RunRow& row);

  /// Number of cached objects; a caller with an unlimited stream of rows starts a new model when it grows large.
  [[nodiscard]] std::size_t kept() const noexcept {
    return devices_.kept() + networks_.kept() + times_.kept() + runs_.kept() + layouts_.size();
  }

  /// Sequences that all KV pools of a row hold, before rounding down; nullopt when predict() would not answer.
  [[nodiscard]] std::optional<double> exact_capacity(const ServingConfiguration& run);

 private:
  /// Question to the memory model.
  struct Question {
    CompiledServingMemory compiled;
    ServingLimits limits;
    double replicas = 1.0;
    double cap = 0.0;  ///< most sequences per replica under a published batch limit
  };
  /// The row's question; nullopt, with the reason in `refusal`, when there is none.
  std::optional<Question> question(const ServingConfiguration& run, RowPrediction& refusal);
  const ServingStack& stack(Engine engine);

  /// Of a row without open layout and range.
  [[nodiscard]] RowPrediction predict_stated(const ServingConfiguration& run,
                                             std::string_view metric,
                                             std::string_view unit);
  [[nodiscard]] RowPrediction predict_any_layout(const ServingConfiguration& run,
                                                 std::string_view metric,
                                                 std::string_view unit);
  [[nodiscard]] RowPrediction predict_times(const ServingConfiguration& run,
                                            std::string_view metric,
                                            std::string_view unit);
  [[nodiscard]] ServingErrors errors_of(const ServingConfiguration& run,
                                        const std::string& stack,
                                        ServingQuantity quantity,
                                        bool experts);
  [[nodiscard]] RowPrediction predict_power(const ServingConfiguration& run, std::string_view metric);
  [[nodiscard]] RowPrediction predict_deployment(const ServingConfiguration& run, std::string_view metric);
  [[nodiscard]] RowPrediction predict_run(const ServingConfiguration& run,
                                          std::string_view metric,
                                          std::string_view unit);

  const Sources& sources_;
  RowDevices devices_;
  NetworkRowModel networks_;
  ServingTimeModel times_;
  SimulatedRuns runs_;
  std::map<std::string, std::vector<ServingConfiguration>, std::less<>> layouts_;  ///< best first, then its neighbours
  std::array<std::optional<ServingStack>, engine_names.size()> stacks_;
};

/// Engine named "TensorRT-LLM", "trtllm", "vLLM" or "SGLang" in any case; nullopt for other names.
[[nodiscard]] std::optional<Engine> engine_of(std::string_view name);

/// Network of a row's columns. MLP gating and tied embeddings have no column: of the four combinations the one whose
/// size is nearest to params_b is taken, or gated and untied when params_b is blank.
[[nodiscard]] Architecture architecture_of(const ServingConfiguration& run);

}  // namespace headroom
