// SPDX-License-Identifier: Apache-2.0
// A latency objective of a class: a time that a share of its requests must meet.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// ttft: client to first token. tpot: (last - first token) / (tokens - 1). e2e: client to last token.
enum class LatencyMetric : std::uint8_t { ttft, tpot, e2e };
inline constexpr std::array<std::string_view, 3> latency_metric_names{"ttft", "tpot", "e2e"};

struct TailObjective {
  static constexpr double mean = 0.0;  ///< value of `quantile` that selects the mean
  LatencyMetric metric = LatencyMetric::ttft;
  /// Quantile (0 to 1) that must not exceed `limit`, or `mean`.
  double quantile = 0.95;
  Seconds limit{};
};

}  // namespace headroom
