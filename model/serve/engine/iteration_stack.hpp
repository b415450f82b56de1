// SPDX-License-Identifier: Apache-2.0
// What an engine adds to the kernels of an iteration: launches, host work, and delays of a request. Also the numbers
// that all engines share.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Table [time] of an engine's stack. The keys in the files are the members' names.
struct IterationStack {
  std::string curves = "trtllm";  ///< engine whose measured kernels represent this one's
  Seconds step{};                 ///< host time per iteration: schedule, inputs, outputs
  Seconds sequence{};             ///< host time per sequence of an iteration
  Seconds layer{};                ///< gap between the kernels of a layer in a replayed graph
  Seconds prompt_launch{};        ///< launch of a kernel in steps with prompts, which are not replayed
  /// Host time of a layer of gated delta rules in a step with prompts, beside its launches: Triton's kernels of it read
  /// their chunks' indices back from the device (docs/serve-model.md).
  Seconds delta_layer{};
  Seconds expert_layer{};  ///< additional time per layer of experts
  /// Launches of a layer of mxfp4 experts on the engine's own kernels, in place of those of the measured kernels and of
  /// `expert_layer`: on SKUs that unpack them to 16 bit first (Marlin, Triton), and on those with units for 4-bit
  /// floats (trtllm-gen). 0: those of the measured kernels.
  Seconds mxfp4_unpacked{}, mxfp4_native{};
  /// Host time of a layer of unpacked mxfp4 experts in a step with prompts, beside its launches: Triton's kernels for
  /// them choose their tiles and describe their operands in Python at every call.
  Seconds mxfp4_call{};
  /// Host time of an iteration with drafts that no kernel hides, where the scheduler waits for the accepted tokens
  /// before it forms the next one: of each iteration, and of each of its sequences. An engine that overlaps drafts has
  /// neither.
  Seconds draft_step{}, draft_sequence{};
  double products = 1.0;  ///< time of products over that of the measured kernels
  double nvfp4 = 1.0;     ///< time of nvfp4 products over `products` times that of the measured kernels
  double experts = 1.0;   ///< time of grouped products over that of the measured kernels
  /// Time of grouped products of weights scaled by blocks over `experts` times that of the measured kernels, where an
  /// expert has few rows: kernels of tiles of 64 rows take as long for one as for 64.
  double block_experts = 1.0;
  /// Bytes that filtering a sampled row by top-p or top-k moves for each of its logits; 0: not counted.
  double filter = 0.0;
  double vector = 0.0;  ///< time of decode attention over that at the vector units' fp32 peak; 0: uses tensor cores
  bool windows = true;  ///< a sliding window limits cache and attention
  Seconds request{};    ///< time from arrival to the first iteration, and back to the client
  /// Time that a first token waits between two pools, beside the bytes of its cache: the handshake of the workers, and
  /// how often they look for what has come. Of the closed form; simulated pools tell the first token of the engine that
  /// computes prompts, before it.
  Seconds handover{};
  Seconds tokenise{};  ///< the same for each token of the prompt: its text becomes tokens before the engine sees it
  /// Time per request in the front end's single process, which parses, tokenises and forwards it. Requests pass one
  /// after another, and answers queue behind them (simulation/front_end.hpp).
  Seconds intake{};
  /// Time that a process of the front end takes for a streamed piece of an answer.
  Seconds piece{};
  /// One process reads the texts of prompts, one after another, and writes the pieces (simulation/front_queue.hpp);
  /// elsewhere texts become tokens side by side.
  bool texts_in_turn = false;
  bool holds_first = false;        ///< streams the first token when its piece is full, not at once
  bool holds_first_apart = false;  ///< the same of a worker that decodes what another pool's worker began
  bool formed_ahead = false;       ///< forms an iteration before the running one has ended
  bool late_results = false;       ///< hands an iteration's tokens out once the next one is launched (scheduler.hpp)
  double steps = 0.5;              ///< iterations that a prompt waits before its own
  double burst = 1.0;              ///< time of prompts that start together over that of full iterations of them
  double interference = 1.0;       ///< share (0 to 1) of other requests' prompts that delay a decoding request
  /// Stack whose host time of a sequence a fit expects this one's near; empty: that of the base.
  std::string sequence_near;
  /// Keys that `headroom fit` may change.
  std::vector<std::string> fitted;
  std::string source;
  /// Time of a request outside its iterations whose prompt has `prompt` tokens.
  [[nodiscard]] Seconds way(double prompt) const noexcept { return request + prompt * tokenise; }
  /// Time of `way` in which the process that writes pieces is busy.
  [[nodiscard]] Seconds in_turn(double prompt) const noexcept { return texts_in_turn ? prompt * tokenise : Seconds{}; }
};

/// Numbers of all engines (model/stacks/step/serve.toml): time over that of measured kernels, by kind.
struct IterationPhysics {
  double decode_attention = 1.0;
  double prefill_attention = 1.0;
  double all_reduce = 1.0;
  double exchange = 1.0;    ///< expert exchange by all-gather, or by sends in place of kernels that were never measured
  double all_to_all = 1.0;  ///< expert exchange by the measured kernels of dispatch and combine
  double passes = 1.0;
  double weight_only = 1.0;  ///< products whose narrow weights are unpacked during the product; 1 at least of 64 rows
  double written_out = 1.0;  ///< writing packed weights out in 16 bit, over a pass of these bytes (weight_kernels.hpp)
  Seconds indexer{};         ///< launches per layer of a sparse indexer (scores, top-k, gather), beside its own bytes
  double bubble = 0.3;       ///< share of (pp - 1) / pp that pipeline stages wait
  double routing = 1.2;      ///< exponent of the power law of expert loads
  double overlap = 0.0;      ///< share of the shorter of a prompt step's kernels and launches that the longer hides
  std::vector<std::string> fitted;
  std::string source;
};

/// Numbers by their key in the files, times in seconds. ConfigError for an unknown key.
[[nodiscard]] double iteration_number(const IterationStack& stack, std::string_view key);
[[nodiscard]] double iteration_number(const IterationPhysics& physics, std::string_view key);
void set_iteration_number(IterationStack& stack, std::string_view key, double value);
void set_iteration_number(IterationPhysics& physics, std::string_view key, double value);
[[nodiscard]] std::vector<std::string_view> iteration_stack_keys();
[[nodiscard]] std::vector<std::string_view> iteration_physics_keys();
/// Whether the file writes the number as a time: "34 us".
[[nodiscard]] bool is_iteration_time(std::string_view key) noexcept;

/// Reads [time]; keys that are missing keep their values.
void read_iteration_stack(ConfigTable& root, IterationStack& stack);
[[nodiscard]] IterationPhysics read_iteration_physics(const ConfigValue& document,
                                                      const std::string& file,
                                                      Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const IterationPhysics& iteration_physics(const ModelData& data);

}  // namespace headroom
