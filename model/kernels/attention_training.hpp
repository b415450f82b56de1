// SPDX-License-Identifier: Apache-2.0
// The time of attention in a training step, forward and backward, fused (FlashAttention and its kin) or not.
#pragma once

#include <headroom/model/kernels/attention.hpp>

namespace headroom {

enum class AttentionAlgorithm : std::uint8_t {
  fused,    ///< scores never leave the SM; the backward makes them again
  standard  ///< the full tokens x context scores of every head are written to memory and read back
};

/// A family of kernels that a training stack may run.
struct AttentionImplementation {
  std::string_view name;  ///< "flash2"
  AttentionAlgorithm algorithm = AttentionAlgorithm::fused;
};
/// nullptr when the name is unknown. Names as publications write them ("FlashAttention-2", "PyTorch") are aliases.
[[nodiscard]] const AttentionImplementation* find_attention_implementation(std::string_view name) noexcept;
[[nodiscard]] std::span<const AttentionImplementation> attention_implementations() noexcept;

enum class AttentionPass : std::uint8_t { forward, backward, both };
inline constexpr std::array<std::string_view, 3> attention_pass_names{"forward", "backward", "forward+backward"};

enum class TrainingAttentionParameter : std::uint8_t {
  compute,      ///< share of the dense peak in the forward's products
  backward,     ///< the backward's rate over the forward's
  exponential,  ///< an SM's time per score
  cta,          ///< fixed time of a tile of 128 queries
  bandwidth,    ///< share of the memory's bandwidth in passes over written scores
  mask,         ///< passes over written scores that a causal mask adds
  copies,       ///< passes over tensors of the queries' size around the forward: transposes, reads, writes
  count
};
inline constexpr std::size_t training_attention_parameter_count =
    static_cast<std::size_t>(TrainingAttentionParameter::count);
using TrainingAttentionCurve = std::array<double, training_attention_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, training_attention_parameter_count>&
training_attention_parameters() noexcept;
/// Whether a parameter has a part in an algorithm's time.
[[nodiscard]] bool matters(TrainingAttentionParameter parameter, AttentionAlgorithm algorithm) noexcept;

/// FLOPs by the convention of FlashAttention's benchmarks: 4 b h pairs d forward, 2.5 times that backward, where a
/// causal mask halves the pairs exactly.
[[nodiscard]] Flops training_attention_flops(const AttentionShape& shape, AttentionPass pass) noexcept;

/// What one call keeps between forward and backward beside its inputs and output: fused, the softmax statistics;
/// standard, the scores, their softmax and its dropout with a mask of a byte, and three gradients of the scores.
[[nodiscard]] Bytes training_attention_memory(const AttentionShape& shape, AttentionAlgorithm algorithm) noexcept;

struct TrainingAttentionTime {
  Seconds total{};
  Seconds compute{};  ///< products alone
  Seconds softmax{};  ///< exponentials of a fused kernel
  Seconds fixed{};
  Seconds memory{};  ///< passes over written scores
};

/// 16-bit attention of one implementation on one device.
class TrainingAttentionModel {
 public:
  TrainingAttentionModel(const TrainingAttentionCurve& curve,
                         const KernelDevice& device,
                         AttentionAlgorithm algorithm) noexcept;

  /// Fused, tiles of 128 queries over blocks of 64 keys up to the diagonal (Dao 2023, section 3):
  ///   T = w (cta tiles + blocks norm3(F 128 64 d SM / (rate P), exponential 128 64)) / SM summed over heads,
  ///   with F = 4 forward and 10 backward (five products for two), rate = compute, and compute backward, and w the
  ///   waves of tiles made whole.
  /// Standard, over all pairs, whatever the mask, and S = 2 b h tokens context bytes of scores:
  ///   forward  2 norm3(2 pairs d / (compute P), S / (bandwidth B)) + ((2 + mask) S + copies Q) / (bandwidth B)
  ///   backward 4 norm3(2 pairs d / (compute backward P), S / (bandwidth B)) + (3 S + 2 copies Q) / (bandwidth B)
  /// for the products, the softmax's read and write, its backward's two reads and a write, and Q = 2 b h tokens d
  /// bytes.
  [[nodiscard]] Seconds time(const AttentionShape& shape, AttentionPass pass) const noexcept {
    return explain(shape, pass).total;
  }
  [[nodiscard]] TrainingAttentionTime explain(const AttentionShape& shape, AttentionPass pass) const noexcept;

  /// FLOPs of the unmasked pairs at the sustained rate. Never above time().
  [[nodiscard]] Seconds bound(const AttentionShape& shape, AttentionPass pass) const noexcept;

 private:
  [[nodiscard]] double value(TrainingAttentionParameter p) const noexcept {
    return curve_[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] TrainingAttentionTime fused(const AttentionShape& shape, bool backward) const noexcept;
  [[nodiscard]] TrainingAttentionTime standard(const AttentionShape& shape, bool backward) const noexcept;

  TrainingAttentionCurve curve_;
  AttentionAlgorithm algorithm_;
  double units_ = 1.0;
  double flop_time_ = 0.0;
  double byte_time_ = 0.0;
};

}  // namespace headroom
