// SPDX-License-Identifier: Apache-2.0
// The scan of a recurrent mixer, chunk by chunk of tokens: its work, the bytes that the kernels of its libraries move,
// and their time.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// Sizes of one rank's share.
struct ScanShape {
  Mixer mixer = Mixer::mamba2;  ///< a recurrent one
  double sequences = 1.0;
  double tokens = 1.0;  ///< new ones of each sequence
  double heads = 1.0;   ///< with a state of `key` x `value` each; Mamba: 1
  double groups = 1.0;  ///< that share B and C, or keys
  double key = 1.0;     ///< Mamba-2: the state's width
  double value = 1.0;   ///< Mamba: the inner width
  double chunk = 0.0;   ///< tokens at once; 0: as the mixer's library does
};

/// Tokens at once: 256 of mamba_ssm (Dao and Gu 2024, section 6), 64 of flash-linear-attention (Yang et al. 2024,
/// section 3.3; Kimi Team 2025, section 3), no more than there are; 1 of Mamba, which has no chunks.
[[nodiscard]] double chunk_of(const ScanShape& shape) noexcept;
/// Products of the chunked form, a multiply-add as two, per token with Q = chunk, n = key, p = value:
/// @code
/// Mamba-2          2 (groups Q n + heads (Q p + 2 n p))                 Dao and Gu 2024, section 6
/// delta-net, KDA   2 heads (3 Q n + 2 Q p + 3 n p + Q^2 / 3)            Yang et al. 2024, equations 8 to 10
/// Mamba            none: exponentials, of the vector units (below)      Gu and Dao 2023, algorithm 2
/// @endcode
[[nodiscard]] Flops scan_flops(const ScanShape& shape) noexcept;
/// Bytes that the forward kernels read and write, of 16-bit activations. Mamba-2 (mamba_ssm, ssd_combined.py): x twice
/// and the output once, B and C twice, a chunk's scores in fp32 written and read, its state written and read in fp32,
/// then in 16 bit. Delta rules (flash-linear-attention, ops/gated_delta_rule and ops/kda): keys of four kernels, two
/// matrices of a chunk's pairs, the transformed keys and values of each head, a chunk's state written and read in 16
/// bit; KDA's decay by channel in fp32. Mamba: x, dt, z and the output once.
[[nodiscard]] Bytes scan_bytes(const ScanShape& shape) noexcept;
/// Kernels of a forward scan: 1 of Mamba, 5 of mamba_ssm, 6 of Gated DeltaNet, 7 of KDA.
[[nodiscard]] double scan_kernels(Mixer mixer) noexcept;

/// Parameters that all mixers and SKUs share (model/stacks/step/scan.toml).
struct ScanNumbers {
  double bandwidth = 1.0;  ///< share of the memory's bandwidth
  double rate = 1.0;       ///< share of the dense 16-bit peak
  double backward = 1.0;   ///< a backward pass over a forward one, of delta rules and retention
  // Mamba-2 as training runs it
  double mamba2_rate = 1.0;      ///< share of the dense 16-bit peak
  double mamba2_backward = 1.0;  ///< a backward pass over a forward one
  double mamba2_vector = 0.0;    ///< FLOP of the vector units in the time of a byte, on SKUs of these generations
  std::vector<std::string> vector_generations;
  std::string source;
};
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const ScanNumbers& scan_numbers(const ModelData& data);

class ScanModel {
 public:
  /// `wide` is the rate of 16-bit products. ConfigError when the SKU lacks that peak or its bandwidth.
  ScanModel(const ModelData& data, const Device& device, Rate wide);

  /// The longer of work at the peak's share and bytes at the bandwidth's share (Williams et al. 2009). An element of
  /// Mamba's state takes an exponential a token, as long as 16 FLOP of the vector units (CUDA C++ Programming Guide,
  /// arithmetic instructions, compute capability 9.0: 16 special functions and 128 fused multiply-adds a clock and
  /// multiprocessor).
  [[nodiscard]] Seconds forward(const ScanShape& shape) const noexcept;
  /// Of kernels that training runs, which keep what the backward pass reads. Those of Mamba-2 reach their own share of
  /// the 16-bit peak; on Blackwell, whose peak their instructions do not reach, a byte takes as long as `mamba2_vector`
  /// FLOP of the vector units.
  [[nodiscard]] Seconds training_forward(const ScanShape& shape) const noexcept;
  [[nodiscard]] Seconds backward(const ScanShape& shape) const noexcept;
  [[nodiscard]] const ScanNumbers& numbers() const noexcept { return numbers_; }

 private:
  ScanNumbers numbers_;
  double flop_time_ = 0.0, byte_time_ = 0.0, exponential_time_ = 0.0;
  double training_flop_time_ = 0.0, training_byte_time_ = 0.0;  ///< of Mamba-2
};

}  // namespace headroom
