// SPDX-License-Identifier: Apache-2.0
// The fitted parameters behind a training step's time: those of a software stack, of a SKU, and those all share.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What a training software adds to, or hides of, the time of its kernels and collectives: table [time] of a stack.
struct StepStack {
  Seconds host{};                   ///< what the host needs to launch one layer's forward; backward takes twice that
  double elementwise = 1.0;         ///< bytes that element-wise kernels move over those of fused ones
  double gemm = 1.0;                ///< time of products over that of the measured kernels
  double accumulation_bytes = 1.0;  ///< per local weight and micro-batch, where there are several
  double dp_overlap = 0.0;          ///< share of data-parallel traffic that runs beside compute
  double tp_overlap = 0.0;          ///< the same of tensor-parallel traffic with sequence parallelism
  double p2p_exposed = 0.3;         ///< share of steady-state stage-to-stage sends that a stage waits for
  std::string attention_kernel = "flash2";  ///< fused attention that it runs, as attention_training.hpp names them
  double attention = 1.0;                   ///< rate of fused attention in a step over that of the measured kernel
  double link = 1.0;                        ///< share of the measured scale-up bandwidth that it reaches
  double nic = 1.0;                         ///< share of the measured scale-out bandwidth that it reaches
  double gradient_bytes = 4.0;              ///< of a gradient on its way through data parallelism
  double selective_recompute = 0.0;         ///< share of the forward formed again under selective recomputation
  bool broadcast_weights = false;  ///< ZeRO 1: each rank sends out the weights that it updated, one after another
  bool full_tensor_sends = false;  ///< every tensor rank sends the whole activation to the next stage
  Seconds stage{};                 ///< per micro-batch and chunk of a pipeline stage
  // Mixture of experts
  double moe_host = 1.0;        ///< host time of a layer of experts over that of a dense one
  double moe_gemm = 1.0;        ///< time of grouped products over that of one product an expert
  double expert_traffic = 1.0;  ///< time of dispatch and combine over that of their bytes
  double ep_overlap = 0.0;      ///< share of them that runs beside compute of the same micro-batch
  std::string source;
};

/// Reads [time], and over it [time.moe] for networks with experts. `plain` and `moe` keep what is not stated.
struct StepStacks {
  StepStack plain, moe;
};
void read_step_stack(ConfigTable& root, StepStacks& stacks);

/// Parameters that all stacks and SKUs share (model/stacks/step/physics.toml).
struct StepPhysics {
  double bandwidth = 0.78;         ///< share of the memory's bandwidth that passes over tensors sustain
  double unfused_rate = 0.6;       ///< share of the 16-bit peak of unfused attention's products
  double score_bytes = 11.8;       ///< moved per score of unfused attention, forward
  double unaligned = 20.0;         ///< slow-down of unfused attention's products where 8 does not divide head_dim
  double logit_bytes = 28.0;       ///< moved per logit at the loss
  double overlap_slowdown = 0.15;  ///< of hidden communication, what it takes from compute
  double straggler = 0.0094;       ///< per doubling of GPUs above eight
  double cast = 1.0;               ///< 8-bit casts: passes of five bytes an element
  double fp8_host = 0.85;          ///< host time with 8-bit recipes over that with 16 bit
  double fp4_time = 0.5;           ///< time of 4-bit products over that of 8-bit ones
  double tp_host = 0.29;           ///< share that each doubling of tensor ranks adds to host time
  double nic = 0.9;                ///< share of the measured scale-out bandwidth that training reaches
  double cp_overlap = 0.51;        ///< share of context-parallel traffic beside compute
  Seconds exchange{15e-6};         ///< latency of an exchange between experts on several nodes
  double optimizer_bytes = 40;     ///< moved per local parameter in the update
  Seconds optimizer_step{5e-3};
  double compiled = 0.7;            ///< bytes of passes in a compiled model over those run op by op
  double async_tp = 0.7;            ///< share of tensor-parallel traffic beside products that are cut up for it
  Seconds graph_node{0.5e-6};       ///< between kernels of a CUDA graph
  double graph_nodes = 16;          ///< kernels of a dense layer's forward
  double offload_overlap = 0.9;     ///< share of compute that copies to and from the host may run beside
  Seconds host_update{0.257e-9};    ///< of a parameter by the processors of one host
  double lora_wgrad = 0.05;         ///< weight-gradient work of adapters over that of the matrices
  std::vector<std::string> fitted;  ///< keys that `headroom fit` moves
  std::string source;
};
[[nodiscard]] StepPhysics read_step_physics(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

/// What a SKU's sustained clock and kernels do to the time of measured ones.
struct StepLevel {
  double wide = 1.0;       ///< time of 16-bit products over that of the measured kernels: power-limited clocks
  double narrow = 1.0;     ///< the same of 8-bit products
  double attention = 1.0;  ///< on the stack's rate of fused attention, where the SKU's own was not measured
  std::string source;
  /// At a lower clock, as a power cap leaves it: products take 1 / clock, passes over memory what they took. The rate
  /// of attention is held against that of wide products, so that it follows.
  [[nodiscard]] StepLevel at_clock(double clock) const {
    StepLevel slower = *this;
    slower.wide /= clock;
    slower.narrow /= clock;
    return slower;
  }
};

/// One table of levels.toml: of a SKU, a generation, or "any". What it does not state it takes from the next wider one.
struct StatedLevel {
  std::optional<double> wide, narrow, attention;
  std::vector<std::string> fitted;  ///< keys that `headroom fit` moves
  std::string source;
};
class StepLevels {
 public:
  [[nodiscard]] static StepLevels read(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
  /// Each number of the SKU, else of its generation, else of any.
  [[nodiscard]] StepLevel of(const Device& device) const;
  [[nodiscard]] const std::map<std::string, StatedLevel, std::less<>>& stated() const noexcept { return stated_; }
  /// Precondition: the table is stated and `key` is one of step_level_keys().
  void set(std::string_view id, std::string_view key, double value);

 private:
  std::map<std::string, StatedLevel, std::less<>> stated_;
};

/// Everything about time that is not the software's own.
struct StepParameters {
  StepPhysics physics;
  StepLevels levels;
};

/// A document of model/stacks/step, user folders first. ConfigError when there is none of that id.
struct StepDocument {
  ConfigValue tree;
  std::string file;
};
[[nodiscard]] StepDocument step_document(std::string_view id);

/// The embedded files, user folders first; parsed once. ConfigError when one is broken.
[[nodiscard]] const StepParameters& step_parameters();

/// Numbers by their key in the files, times in seconds. ConfigError for a key that names none.
[[nodiscard]] double step_number(const StepStack& stack, std::string_view key);
[[nodiscard]] double step_number(const StepPhysics& physics, std::string_view key);
[[nodiscard]] std::optional<double> step_number(const StatedLevel& level, std::string_view key);
void set_step_number(StepStack& stack, std::string_view key, double value);
void set_step_number(StepPhysics& physics, std::string_view key, double value);
[[nodiscard]] std::vector<std::string_view> step_stack_keys();
[[nodiscard]] std::vector<std::string_view> step_physics_keys();
[[nodiscard]] std::vector<std::string_view> step_level_keys();
/// Whether the file writes the number as a time: "634 us".
[[nodiscard]] bool is_step_time(std::string_view key) noexcept;

}  // namespace headroom
