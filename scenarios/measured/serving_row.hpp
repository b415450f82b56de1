// SPDX-License-Identifier: Apache-2.0
// From a measured serving row's configuration to a prediction: what the KV pool holds, and times and rates under loads
// that closed forms answer (serving_times.hpp) or that have to be run (serving_simulated.hpp).
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <optional>
#include <string>

namespace headroom {

/// Keeps what several rows share: devices looked up once, one stack an engine, one architecture a model.
class ServingRowModel {
 public:
  explicit ServingRowModel(const Sources& sources) : sources_{sources}, devices_{sources.catalog}, times_{sources} {}
  /// With a stack of the caller's in place of the engine's, as fitting needs.
  void set_stack(ServingStack stack);
  /// `metric` and `unit` name what is asked; the configuration is all the model sees.
  [[nodiscard]] RowPrediction predict(const ServingConfiguration& run, std::string_view metric, std::string_view unit);

  /// How many things are kept for later rows: a caller with rows without end begins anew when they are many.
  [[nodiscard]] std::size_t kept() const noexcept { return devices_.kept() + times_.kept() + runs_.kept(); }

  /// Sequences that all KV pools of a row hold, before rounding down; nullopt when predict() would not answer.
  [[nodiscard]] std::optional<double> exact_capacity(const ServingConfiguration& run);

 private:
  /// A row made into a question for the memory model.
  struct Question {
    CompiledServingMemory compiled;
    ServingLimits limits;
    double replicas = 1.0;
    double cap = 0.0;  ///< sequences that a published batch limit lets into a replica
  };
  /// nullopt: `refusal` says why.
  std::optional<Question> question(const ServingConfiguration& run, RowPrediction& refusal);
  const ServingStack& stack(Engine engine);

  [[nodiscard]] RowPrediction predict_times(const ServingConfiguration& run,
                                            std::string_view metric,
                                            std::string_view unit);
  [[nodiscard]] RowPrediction predict_run(const ServingConfiguration& run,
                                          std::string_view metric,
                                          std::string_view unit);

  const Sources& sources_;
  RowDevices devices_;
  ServingTimeModel times_;
  SimulatedRuns runs_;
  std::array<std::optional<ServingStack>, engine_names.size()> stacks_;
};

/// "TensorRT-LLM", "trtllm", "vLLM", "SGLang" in any case; nullopt for any other name.
[[nodiscard]] std::optional<Engine> engine_of(std::string_view name);

/// The network of a row's columns. MLP gating and tied embeddings have no column: of the four networks the one nearest
/// to params_b is meant, gated and untied when that is blank too.
[[nodiscard]] Architecture architecture_of(const ServingConfiguration& run);

}  // namespace headroom
