// SPDX-License-Identifier: Apache-2.0
// What an engine adds to the kernels of an iteration: launches, its host's work, what a request waits for; and the
// numbers that all engines share.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Table [time] of an engine's stack. Keys in the files are the members' names.
struct IterationStack {
  std::string curves = "trtllm";  ///< whose measured kernels stand for the engine's
  Seconds step{};                 ///< of the host, an iteration: schedule, inputs, outputs
  Seconds sequence{};             ///< of the host, a sequence of it
  Seconds layer{};                ///< between the kernels of a layer in a replayed graph
  Seconds prompt_layer{};         ///< of a layer in steps that hold prompts, launched one by one
  Seconds expert_layer{};         ///< more of a layer of experts
  double products = 1.0;          ///< time of products over that of the measured kernels
  double experts = 1.0;           ///< the same of grouped products
  double vector = 0.0;  ///< time of decode attention on the vector units over their fp32 peak; 0: tensor cores
  bool windows = true;  ///< a sliding window bounds cache and attention
  Seconds request{};    ///< between a request's arrival and its first iteration, and back to the client
  /// Of the front end's one process, a request: parsed, tokenised, handed on. Requests pass one after the other, and
  /// answers queue behind them (simulation/front_end.hpp).
  Seconds intake{};
  double steps = 0.5;         ///< iterations that a prompt waits for before its own
  double burst = 1.0;         ///< time of the prompts that start together over that of full iterations of them
  double interference = 1.0;  ///< share of other requests' prompts that a decoding one meets
  std::vector<std::string> fitted;
  std::string source;
};

/// Numbers of all engines (model/stacks/step/serve.toml): time over that of measured kernels, by kind.
struct IterationPhysics {
  double decode_attention = 1.0;
  double prefill_attention = 1.0;
  double all_reduce = 1.0;
  double exchange = 1.0;    ///< of experts by an all-gather, or by sends that stand for kernels nobody measured
  double all_to_all = 1.0;  ///< by the measured kernels of dispatch and combine
  double passes = 1.0;
  double weight_only = 1.0;  ///< products whose narrow weights are unpacked on the way
  double bubble = 0.3;       ///< share of (pp - 1) / pp that pipeline stages wait
  double routing = 1.2;      ///< exponent of the experts' loads
  double overlap = 0.0;      ///< share of the shorter of a prompt step's kernels and launches that the longer hides
  std::vector<std::string> fitted;
  std::string source;
};

/// Numbers by their key in the files, times in seconds. ConfigError for a key that names none.
[[nodiscard]] double iteration_number(const IterationStack& stack, std::string_view key);
[[nodiscard]] double iteration_number(const IterationPhysics& physics, std::string_view key);
void set_iteration_number(IterationStack& stack, std::string_view key, double value);
void set_iteration_number(IterationPhysics& physics, std::string_view key, double value);
[[nodiscard]] std::vector<std::string_view> iteration_stack_keys();
[[nodiscard]] std::vector<std::string_view> iteration_physics_keys();
/// Whether the file writes the number as a time: "34 us".
[[nodiscard]] bool is_iteration_time(std::string_view key) noexcept;

/// Reads [time]; what it does not state stays as it is.
void read_iteration_stack(ConfigTable& root, IterationStack& stack);
[[nodiscard]] IterationPhysics read_iteration_physics(const ConfigValue& document,
                                                      const std::string& file,
                                                      Diagnostics& diagnostics);
/// The embedded file, user folders first; parsed once.
[[nodiscard]] const IterationPhysics& iteration_physics();

}  // namespace headroom
