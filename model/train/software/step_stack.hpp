// SPDX-License-Identifier: Apache-2.0
// Fitted parameters of a training step's time: of a software stack, of a SKU, and those that all share.
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

class ModelData;

/// What a training software adds to, or hides of, the time of its kernels and collectives: table [time] of a stack.
struct StepStack {
  Seconds host{};            ///< host time to launch one layer's forward pass; the backward pass takes twice that
  double elementwise = 1.0;  ///< bytes moved by element-wise kernels over those of fused ones
  double gemm = 1.0;         ///< time of products over that of the measured kernels
  double accumulation_bytes = 1.0;  ///< bytes per local weight and micro-batch, if there are several micro-batches
  double dp_overlap = 0.0;          ///< share of data-parallel traffic that overlaps with compute
  double tp_overlap = 0.0;          ///< share of tensor-parallel traffic that overlaps, with sequence parallelism
  double p2p_exposed = 0.3;         ///< share of steady-state stage-to-stage sends that a stage waits for
  std::string attention_kernel = "flash2";  ///< name of the fused attention it runs, as in attention_training.hpp
  double attention = 1.0;                   ///< rate of fused attention in a step over that of the measured kernel
  double link = 1.0;                        ///< share of the measured scale-up bandwidth that is reached
  double nic = 1.0;                         ///< share of the measured scale-out bandwidth that is reached
  double gradient_bytes = 4.0;              ///< bytes of a gradient during data-parallel reduction
  double selective_recompute = 0.0;         ///< share of the forward pass repeated under selective recomputation
  bool broadcast_weights = false;           ///< ZeRO 1: ranks broadcast the weights they updated, one after another
  bool full_tensor_sends = false;           ///< every tensor rank sends the whole activation to the next stage
  Seconds stage{};                          ///< time per micro-batch and chunk of a pipeline stage
  Seconds optimizer_step{5e-3};             ///< once a step: norm of gradients, scaling, logging, the next batch
  // Mixture of experts
  Seconds moe_launch{};          ///< host time of an expert layer's forward pass beyond a dense layer's
  Seconds expert_launch{};       ///< the same for each local expert, where their products are launched one by one
  double router_launches = 0.0;  ///< launches of a router's forward pass, counted
  double rotary_launches = 0.0;  ///< launches of latent attention's rotary pass over those of one fused kernel, counted
  double moe_gemm = 1.0;         ///< time of grouped products over that of one product per expert
  double expert_traffic = 1.0;   ///< time of dispatch and combine over that of their bytes
  double ep_overlap = 0.0;       ///< share of dispatch and combine that overlaps with compute of the same micro-batch
  std::string source;
};

/// Ops of a dense layer's forward, which `host` launches: 4 products, attention, rotary embedding, 2 norms, activation,
/// 2 residuals (`graph_nodes` of physics.toml less its collectives and its cast).
inline constexpr double ops_of_a_layer = 11.0;

/// Reads [time], then [time.moe] for networks with experts. Missing keys keep their values.
struct StepStacks {
  StepStack plain, moe;
};
void read_step_stack(ConfigTable& root, StepStacks& stacks);

/// Parameters that all stacks and SKUs share (model/stacks/step/physics.toml).
struct StepPhysics {
  double bandwidth = 0.78;          ///< share of the memory's bandwidth that passes over tensors sustain
  double unfused_rate = 0.6;        ///< share of the 16-bit peak in unfused attention's products
  double score_bytes = 11.8;        ///< bytes moved per score of unfused attention, forward
  double unaligned = 20.0;          ///< slow-down of unfused attention's products if 8 does not divide head_dim
  double unaligned_rows = 3.0;      ///< slow-down of products with a vocabulary whose rows start at 2 bytes, not 16
  double early_cudnn = 0.85;        ///< rate of cuDNN's fused attention before container release 24.09 over later ones
  double fast_attention = 0.6;      ///< share of runs on the newest kernels among those that do not state theirs
  double ultra_attention = 1.3;     ///< rate of attention with twice the exponentials a clock (Blackwell Ultra)
  double fp8_attention = 0.75;      ///< time of attention in 8 bit over that in 16 bit
  double logit_bytes = 28.0;        ///< bytes moved per logit at the loss
  double overlap_slowdown = 0.15;   ///< share of hidden communication's time that it takes from compute
  double expert_overlap = 1.0;      ///< share of the exchanges of experts that run beside another micro-batch's compute
  double straggler = 0.0094;        ///< relative delay per doubling of GPUs above eight
  double board_spread = 0.01;       ///< standard deviation of a board's time across boards of a SKU that states none
  double cast = 1.0;                ///< passes of five bytes per element for 8-bit casts
  double fp8_host = 0.85;           ///< host time with 8-bit recipes over that with 16 bit
  double fp4_time = 0.5;            ///< time of 4-bit products over that of 8-bit ones
  double tensor_casts = 4.0;        ///< launches that cast an expert's input with one scale, for one of its product
  double block_casts = 1.0;         ///< the same with a scale a block, whose maximum the kernel finds itself
  double fp4_casts = 0.0;           ///< the same of 4-bit blocks below a scale of the tensor
  double row_scales = 1.2;          ///< time of 8-bit products with a scale a row over those with one a tensor
  double row_casts = 2.0;           ///< casts with a scale a row over those with one a tensor
  double unfused_host = 0.45;       ///< share added to host time where attention is not one kernel
  double tp_host = 0.29;            ///< share added to host time by each doubling of tensor ranks
  double nic = 0.9;                 ///< share of the measured scale-out bandwidth that training reaches
  double cp_overlap = 0.51;         ///< share of context-parallel traffic that overlaps with compute
  Seconds exchange{15e-6};          ///< latency of an exchange between experts on several nodes
  double optimizer_bytes = 40;      ///< bytes moved per local parameter in the update
  double compiled = 0.7;            ///< bytes of passes in a compiled model over those run op by op
  double async_tp = 0.7;            ///< share of tensor-parallel traffic that overlaps with products split for it
  Seconds graph_node{0.5e-6};       ///< gap between kernels of a CUDA graph
  double graph_nodes = 16;          ///< kernels of a dense layer's forward pass
  double moe_graph_nodes = 24;      ///< kernels of an expert layer's forward pass beyond a dense layer's
  double latent_launches = 6;       ///< launches of latent attention's forward pass beyond those of attention
  double collective_launches = 15;  ///< of an expert layer's forward pass with the collective beyond a flexible one's
  double count_launches = 8;        ///< of these, those that count tokens, which graphs of preprocessing hold
  Seconds sync{60e-6};              ///< from the end of a layer's router to the first kernel after its counts are read
  double offload_overlap = 0.9;     ///< share of compute that copies to and from the host may overlap with
  Seconds host_update{0.257e-9};    ///< update of one parameter by a host whose memory bandwidth is not known
  double host_update_bytes = 30.0;  ///< bytes of host memory moved per parameter in that update
  double host_bandwidth = 0.46;     ///< share of the host memory's peak bandwidth in that update
  double adapter_passes = 1.0;  ///< bytes moved by a pair of adapters over those of its tensors read and written once
  double power_clock = 0.4;     ///< clock of products grows with this power of the power a multiprocessor has
  std::vector<std::string> fitted;  ///< keys that `headroom fit` may change
  std::string source;
};
[[nodiscard]] StepPhysics read_step_physics(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

/// Effect of a SKU's sustained clock and kernels on the time of measured kernels.
struct StepLevel {
  double wide = 1.0;       ///< time of 16-bit products over that of the measured kernels: power-limited clocks
  double narrow = 1.0;     ///< time of 8-bit products over that of the measured kernels
  double attention = 1.0;  ///< factor on the stack's rate of fused attention, if the SKU's own was not measured
  std::string source;
  /// The level at a lower clock, as under a power cap: products take 1 / clock, memory passes are unchanged. The rate
  /// of attention is relative to that of wide products, so that it follows.
  [[nodiscard]] StepLevel at_clock(double clock) const {
    StepLevel slower = *this;
    slower.wide /= clock;
    slower.narrow /= clock;
    return slower;
  }
};

/// The board on which a generation's numbers were measured.
struct LevelBoard {
  Watts power{};
  double units = 1.0;                    ///< multiprocessors
  double flop_per_clock_and_unit = 1.0;  ///< in 16 bit: other chips of the generation are not compared
};

/// One table of levels.toml, of a SKU, a generation, or "any". Missing numbers come from the next wider table.
struct StatedLevel {
  std::optional<double> wide, narrow, attention;
  std::optional<LevelBoard> board;  ///< of a generation
  std::vector<std::string> fitted;  ///< keys that `headroom fit` may change
  std::string source;
};
class StepLevels {
 public:
  [[nodiscard]] static StepLevels read(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);
  /// Each number from the SKU's table, else its generation's, else "any"; products times board_factor().
  [[nodiscard]] StepLevel of(const Device& device, double power_clock) const;
  /// (power a unit of the generation's board / of the SKU's)^x: the dynamic power of a clock f at voltage V grows with
  /// f V^2, and V with f. 1 for a SKU with measured kernels of its own, of another chip, or without a board power.
  [[nodiscard]] double board_factor(const Device& device, double power_clock) const;
  [[nodiscard]] const std::map<std::string, StatedLevel, std::less<>>& stated() const noexcept { return stated_; }
  /// Precondition: the table exists and `key` is one of step_level_keys().
  void set(std::string_view id, std::string_view key, double value);

 private:
  std::map<std::string, StatedLevel, std::less<>> stated_;
};

struct StepParameters {
  StepPhysics physics;
  StepLevels levels;
};

/// Of `data`. ConfigError if a file is invalid.
[[nodiscard]] const StepParameters& step_parameters(const ModelData& data);

/// Numbers by their key in the files, times in seconds. ConfigError for an unknown key.
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
