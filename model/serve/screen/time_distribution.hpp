// SPDX-License-Identifier: Apache-2.0
// A distribution of times built from pieces: fixed size, no heap.
#pragma once

#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headroom {

/// Weights by time in 32 bins per doubling from 60 ns to 194 days, uniform within a bin. The mean is exact.
class TimeDistribution {
 public:
  void add(double seconds, double weight) noexcept {
    bins_[bin(seconds)] += static_cast<float>(weight);
    weight_ += weight;
    sum_ += weight * seconds;
  }
  void add(const TimeDistribution& other, double weight) noexcept;
  /// Delays the share `share` of the weight by an exponential time of mean `seconds`.
  void delay(double share, double seconds) noexcept;
  /// Delays all weight by a fixed time.
  void shift(double seconds) noexcept;

  [[nodiscard]] double mean() const noexcept;
  /// The q-quantile (0 <= q <= 1), in seconds; NaN if empty.
  [[nodiscard]] double quantile(double q) const noexcept;
  /// The share of the weight above `seconds`; NaN if empty.
  [[nodiscard]] double beyond(double seconds) const noexcept;
  /// The medians of the strata of length_strata.hpp.
  [[nodiscard]] Strata strata() const noexcept;
  [[nodiscard]] TimeSummary summary() const noexcept;

 private:
  static constexpr int least_exponent = -24;
  static constexpr std::size_t bins = std::size_t{48} * 32;
  [[nodiscard]] static std::size_t bin(double seconds) noexcept {
    constexpr std::int64_t zero = std::int64_t{1023 + least_exponent} * 32;
    std::uint64_t bits = 0;
    std::memcpy(&bits, &seconds, sizeof bits);
    const auto at = static_cast<std::int64_t>(bits >> 47U) - zero;
    return at < 0 ? 0 : (at >= static_cast<std::int64_t>(bins) ? bins - 1 : static_cast<std::size_t>(at));
  }
  [[nodiscard]] static double edge(std::size_t i) noexcept;
  [[nodiscard]] static double middle(std::size_t i) noexcept { return 0.5 * (edge(i) + edge(i + 1)); }

  std::array<float, bins> bins_{};
  double weight_ = 0.0, sum_ = 0.0;
};

}  // namespace headroom
