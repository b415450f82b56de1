// SPDX-License-Identifier: Apache-2.0
// What no iteration beats: its bytes at the datasheet's bandwidth, its arithmetic at the peak.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <cstdint>

namespace headroom {

/// How many of the experts a step reads.
enum class ExpertsRead : std::uint8_t {
  expected,  ///< those that random routing meets: E (1 - (1 - k / E)^tokens)
  least,     ///< none: of those that one token meets a rank may hold none
};

/// Of one rank (Pope et al. 2022, section 2; Williams et al. 2009):
///   max((weights read + cache of the decodes) / B, (2 P_active tokens + 2 h V sampled) / (groups tp P))
/// with P the peak of the format that products multiply in; a draft's tokens are computed and sampled as others are.
/// Attention's products and everything sent are left out, so that it stays below any real iteration.
class LeastIteration {
 public:
  /// ConfigError where the SKU lacks the peak. Precondition: check() of the layout is feasible.
  LeastIteration(const Architecture& architecture,
                 const Device& device,
                 const ServingLayout& layout,
                 const ReplicaFormats& formats);
  [[nodiscard]] double time(const IterationMix& mix, ExpertsRead experts) const noexcept;
  /// Bytes of weights that an iteration of so many tokens reads on a rank, and of cache.
  [[nodiscard]] Bytes weights_read(double tokens, ExpertsRead experts) const noexcept;
  [[nodiscard]] Bytes cache_read(const IterationMix& mix) const noexcept;
  [[nodiscard]] Seconds multiply_time(const IterationMix& mix) const noexcept;
  /// Whether it reads for longer than it multiplies.
  [[nodiscard]] bool reads(const IterationMix& mix, ExpertsRead experts = ExpertsRead::expected) const noexcept;
  [[nodiscard]] Rate rate() const noexcept { return rate_; }  ///< that products multiply at
  [[nodiscard]] FlopsPerSecond peak() const noexcept { return peak_; }
  [[nodiscard]] BytesPerSecond bandwidth() const noexcept { return BytesPerSecond{1.0 / byte_time_}; }
  /// Of 16 bit, where the SKU has it; else of the format that products multiply in.
  [[nodiscard]] FlopsPerSecond wide_peak() const noexcept { return wide_peak_; }
  /// Whether blocks of the experts' weights have scales, which vector units apply.
  [[nodiscard]] bool scaled_experts() const noexcept { return scaled_experts_; }

 private:
  ServingStage rank_;
  double top_k_ = 0.0, experts_ = 0.0;
  double groups_ = 1.0;
  double selected_ = 0.0;  ///< keys that a sequence attends at most
  Rate rate_ = Rate::bf16;
  FlopsPerSecond peak_{}, wide_peak_{};
  bool scaled_experts_ = false;
  double flop_time_ = 0.0;  ///< of one token
  double head_time_ = 0.0;  ///< of one sampled token
  double byte_time_ = 0.0;
};

}  // namespace headroom
