// SPDX-License-Identifier: Apache-2.0
// What steps of layers and steps of op lists are made of: kernels as they run inside a step, waiting for the host,
// traffic beside compute, collectives as far as a software reaches their rate.
#pragma once

#include <headroom/model/collectives/collective_time.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/scan.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>
#include <headroom/model/train/software/step_stack.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Whether products of the recipe multiply in 4 bit.
[[nodiscard]] bool four_bit_recipe(Precision precision) noexcept;

/// Whether products of the recipe multiply in 8 bit or fewer.
[[nodiscard]] bool narrow_recipe(Precision precision) noexcept;

/// Products of a format without what a kernel in a step does not have: a launch of its own, for the host runs ahead;
/// droop, for the step's clock is the SKU's level; casts, which are priced as passes. `gradient`: the result is read
/// and written in fp32. A SKU without curves takes the medians of the measured SKUs, which `why` says. ConfigError when
/// the SKU lacks peak, bandwidth or units.
[[nodiscard]] GemmModel step_product(
    const ModelData& data, const Device& device, std::string_view format, bool gradient, std::string& why);
/// What sets a dispatcher's kernels apart. Permutation around the exchange, by rank and by expert (Megatron-Core,
/// token_dispatcher.py); flexible dispatchers leave the second alone. Shares: published tables with 4,096 tokens of
/// 7,168 elements: HybridEP reaches 0.63 to 0.75 of an NVL72's 900 GB/s with 16 multiprocessors, DeepEP 0.50 to 0.57
/// with 24, both 43 to 58 GB/s of a 50 GB/s port.
struct DispatcherForm {
  bool once_a_rank = false;  ///< a token is sent to a rank once, however many of its experts are there
  double link = 1.0;         ///< share of the scale-up rate beyond what the stack reaches of it
  double network = 0.0;      ///< share of the NICs' rate; 0: as the job's other traffic
  double permuted = 0.0;     ///< times that 2 bytes of a routed row's element are read or written around the exchange
};
[[nodiscard]] DispatcherForm dispatcher_form(ExpertDispatcher dispatcher) noexcept;

/// One product, forward and backward.
struct ProductTimes {
  Seconds forward{}, data_gradient{}, weight_gradient{};
  Seconds casts_forward{}, casts_backward{};  ///< of 8-bit recipes: passes over tensors beside it
};
struct AttentionTimes {
  Seconds forward{}, backward{};
};

/// Kernels as they run inside a training step, of layers and of op lists.
class StepKernels {
 public:
  /// ConfigError when the SKU lacks the recipe's peak, bandwidth or units.
  StepKernels(const ModelData& data,
              const Device& device,
              const StepStack& stack,
              const StepPhysics& physics,
              const StepLevel& level,
              Precision precision);

  /// m x n from m x k, `share` of them, in the recipe's format; `gradient_share` of the weight gradient, 0 of a frozen
  /// matrix. Casts take five bytes an element: inputs and half the weights forward, gradients of outputs backward. A
  /// frozen matrix needs no transposed copies of either: three bytes an element, and where the device multiplies 8-bit
  /// matrices in one layout alone two bytes an element of the matrix, which is transposed for the backward pass.
  [[nodiscard]] ProductTimes product(double m, double n, double k, double share, double gradient_share) const noexcept;
  /// The same of a matrix that a narrow recipe leaves in 16 bit: nothing is cast.
  [[nodiscard]] ProductTimes wide_product(
      double m, double n, double k, double share, double gradient_share) const noexcept;
  /// A product of a 4-bit recipe as one of MXFP8: in 8-bit time, with its casts.
  void in_eight_bit(ProductTimes& t) const noexcept;
  /// In 16 bit or more, the recipe's factors apart: heads.
  [[nodiscard]] const GemmModel& wide() const noexcept { return wide_; }
  [[nodiscard]] const GemmModel& wide_gradient() const noexcept { return wide_gradient_; }
  [[nodiscard]] const GemmFormat& wide_format() const noexcept { return wide_format_; }
  [[nodiscard]] double wide_factor() const noexcept { return wide_factor_; }
  /// How many times as long products with the vocabulary as n take, for rows that start below 16 bytes:
  /// `unaligned_rows` at 2 bytes, each halving alike by its logarithm.
  [[nodiscard]] double unaligned_rows(const GemmShape& shape) const noexcept;
  /// The software's fused kernel, at the clock that power leaves to products; `narrow`: in 8 bit.
  [[nodiscard]] AttentionTimes attention(const AttentionShape& shape, bool narrow = false) const noexcept;
  /// Every score is formed, masked or not (Korthikanti et al. 2022, section 4): al 4 pairs d / (u P16) + `score_bytes`
  /// a score / B; backward 2 x products, 1.5 x bytes; al = `unaligned` where 8 does not divide d. `pairs` of all heads,
  /// `element` bytes of an activation.
  [[nodiscard]] AttentionTimes unfused(double pairs, double width, bool aligned, double element) const noexcept;
  /// The kernels of a recurrent mixer's library, in 16 bit.
  [[nodiscard]] const ScanModel& scan() const noexcept { return scan_; }

  /// Sustained in passes over tensors.
  [[nodiscard]] BytesPerSecond bandwidth() const noexcept { return bandwidth_; }
  [[nodiscard]] const std::string& narrow_why() const noexcept { return narrow_why_; }
  [[nodiscard]] const std::string& wide_why() const noexcept { return wide_why_; }
  [[nodiscard]] const std::string& attention_why() const noexcept { return attention_why_; }

 private:
  StepPhysics physics_;
  std::string narrow_why_, wide_why_, attention_why_;  ///< filled while the models are made
  const GemmFormat& wide_format_;
  const GemmFormat& narrow_format_;
  GemmModel narrow_, narrow_gradient_, wide_, wide_gradient_;
  TrainingAttentionModel fused_;
  ScanModel scan_;
  std::optional<TrainingAttentionModel> faster_;  ///< that part of the runs have, of a software that states no kernel
  double narrow_factor_, wide_factor_;
  double attention_rate_;
  bool casts_, transposes_;
  double cast_both_, cast_one_;  ///< bytes an element that is cast in both layouts, and in one
  double eight_casts_;           ///< those of MXFP8 over the recipe's
  FlopsPerSecond wide_peak_{};
  BytesPerSecond bandwidth_{};
};

/// (a^5 + b^5)^(1/5) - a: what waiting for the host adds to the GPU's own time.
[[nodiscard]] Seconds wait_for_host(Seconds gpu, Seconds host) noexcept;

/// Compute c with communication x beside it, of which a share o overlaps: what overlaps slows compute by sig.
[[nodiscard]] Seconds overlapped(Seconds c, Seconds x, double o, double sig) noexcept;

/// What a group's traffic takes on a stack that reaches a share of the measured rates; nothing without a group.
[[nodiscard]] Seconds reached(const GroupCollectives* group,
                              Collective collective,
                              double bytes,
                              const StepPhysics& physics,
                              const StepStack& stack) noexcept;

/// Launches of an expert's forward pass over those in 16 bit, its two products: in narrow recipes each product's input
/// is cast first, expert by expert (TransformerEngine, extensions/cast.cpp: quantised one by one unless scales are
/// delayed).
[[nodiscard]] double expert_launches(const StepPhysics& physics, Precision precision) noexcept;

/// GPUs from which stragglers are felt.
inline constexpr double straggler_free = 8.0;
/// Mean of the largest of n draws from a standard normal distribution, n of at least 1: Blom 1958, Statistical
/// Estimates and Transformed Beta-Variables, equation 6.10.6, with alpha 3/8.
[[nodiscard]] double largest_of(double n) noexcept;
/// What the slowest of n boards adds to compute, as a share of it, beyond the slowest of eight boards of the usual
/// spread: (s - usual) (largest_of(n) - largest_of(8)). The fitted stragglers have the usual one.
[[nodiscard]] double board_wait(const Device& device, const StepPhysics& physics, double n) noexcept;
/// What `explain` tells of stragglers; refers to the device and to physics.
struct StragglerWords {
  std::string_view formula;
  ExplainInput rest, gpus, spread, slowest;
};
[[nodiscard]] StragglerWords straggler_words(const Device& device, const StepPhysics& physics, double n) noexcept;
/// Share of stragglers in a step of n GPUs.
[[nodiscard]] double straggler_share(const StepPhysics& physics, double n) noexcept;
/// Of a step, what runs on the GPU's own units.
[[nodiscard]] Seconds compute_of(const Breakdown& time) noexcept;
/// Of the last micro-batch's compute, what gradients may hide beside.
inline constexpr double hiding_room = 0.8;

}  // namespace headroom
