// SPDX-License-Identifier: Apache-2.0
// The time of attention in a training step, forward and backward, fused (FlashAttention and similar) or not.
#pragma once

#include <headroom/model/kernels/attention.hpp>

namespace headroom {

enum class AttentionAlgorithm : std::uint8_t {
  fused,    ///< scores stay in the SM; the backward pass recomputes them
  standard  ///< the tokens x context scores of every head are written to memory and read back
};

/// A family of kernels that a training stack may use.
struct AttentionImplementation {
  std::string_view name;  ///< "flash2"
  AttentionAlgorithm algorithm = AttentionAlgorithm::fused;
  std::string_view measured_as;  ///< the release whose curve it takes, where its own was not measured; empty: its own
};
/// The kernel of a software that does not say which it runs: FlashAttention-2 or the newest that was measured.
inline constexpr std::string_view unstated_attention = "unstated";
/// nullptr if the name is unknown. Names used in publications ("FlashAttention-2", "PyTorch") are aliases.
[[nodiscard]] const AttentionImplementation* find_attention_implementation(std::string_view name) noexcept;
/// Those that are measured.
[[nodiscard]] std::span<const AttentionImplementation> attention_implementations() noexcept;

enum class AttentionPass : std::uint8_t { forward, backward, both };
inline constexpr std::array<std::string_view, 3> attention_pass_names{"forward", "backward", "forward+backward"};

enum class TrainingAttentionParameter : std::uint8_t {
  compute,      ///< share of the dense peak in the forward pass's products
  backward,     ///< rate of the backward pass over that of the forward pass
  exponential,  ///< an SM's time per score
  cta,          ///< fixed time of a tile of 128 queries
  bandwidth,    ///< share of the memory's bandwidth in passes over stored scores
  mask,         ///< additional passes over stored scores for a causal mask
  copies,       ///< passes over query-sized tensors around the forward pass: transposes, reads, writes
  count
};
inline constexpr std::size_t training_attention_parameter_count =
    static_cast<std::size_t>(TrainingAttentionParameter::count);
using TrainingAttentionCurve = std::array<double, training_attention_parameter_count>;
[[nodiscard]] const std::array<CurveParameter, training_attention_parameter_count>&
training_attention_parameters() noexcept;
/// Whether a parameter occurs in the time of an algorithm.
[[nodiscard]] bool matters(TrainingAttentionParameter parameter, AttentionAlgorithm algorithm) noexcept;

/// FLOP in the convention of FlashAttention's benchmarks: 4 b h pairs d forward and 2.5 times that backward, where a
/// causal mask exactly halves the pairs.
[[nodiscard]] Flops training_attention_flops(const AttentionShape& shape, AttentionPass pass) noexcept;

/// Bytes that one call keeps between forward and backward besides inputs and output. Fused: the softmax statistics.
/// Standard: the scores, their softmax and its dropout with a one-byte mask, and three gradients of the scores.
[[nodiscard]] Bytes training_attention_memory(const AttentionShape& shape, AttentionAlgorithm algorithm) noexcept;

struct TrainingAttentionTime {
  Seconds total{};
  Seconds compute{};  ///< products alone
  Seconds softmax{};  ///< exponentials of a fused kernel
  Seconds fixed{};
  Seconds memory{};  ///< passes over stored scores
};

/// 16-bit attention of one implementation on one device.
class TrainingAttentionModel {
 public:
  TrainingAttentionModel(const TrainingAttentionCurve& curve,
                         const KernelDevice& device,
                         AttentionAlgorithm algorithm) noexcept;

  /// With P the peak, B the memory bandwidth, S = 2 b h tokens context bytes of scores, Q = 2 b h tokens d bytes:
  /// @code
  /// fused     T = w (cta tiles + blocks norm3(F 128 64 d SM / (rate P), exponential 128 64)) / SM, summed over heads;
  ///           forward F = 4, rate = compute; backward F = 10 (five products for two), rate = compute backward;
  ///           w rounds the waves of tiles up to whole ones
  /// standard
  ///   forward   2 norm3(2 pairs d / (compute P), S / (bandwidth B)) + ((2 + mask) S + copies Q) / (bandwidth B)
  ///   backward  4 norm3(2 pairs d / (compute backward P), S / (bandwidth B)) + (3 S + 2 copies Q) / (bandwidth B)
  /// @endcode
  /// Fused kernels use tiles of 128 queries over blocks of 64 keys up to the diagonal (Dao 2023, section 3). Standard
  /// ones compute all pairs under any mask: the products, the softmax's read and write, and its backward's three
  /// passes.
  [[nodiscard]] Seconds time(const AttentionShape& shape, AttentionPass pass) const noexcept {
    return explain(shape, pass).total;
  }
  [[nodiscard]] TrainingAttentionTime explain(const AttentionShape& shape, AttentionPass pass) const noexcept;

  /// FLOP of the unmasked pairs at the sustained rate. Never above time().
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
