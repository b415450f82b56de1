// SPDX-License-Identifier: Apache-2.0
// What is promised of the requests of a class: a time that a share of them keeps.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Client to first token; (last - first token) / (tokens - 1); client to last token.
enum class LatencyMetric : std::uint8_t { ttft, tpot, e2e };
inline constexpr std::array<std::string_view, 3> latency_metric_names{"ttft", "tpot", "e2e"};

struct TailObjective {
  static constexpr double mean = 0.0;  ///< instead of a quantile
  LatencyMetric metric = LatencyMetric::ttft;
  double quantile = 0.95;
  Seconds limit{};
};

}  // namespace headroom
