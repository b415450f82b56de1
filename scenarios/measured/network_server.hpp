// SPDX-License-Identifier: Apache-2.0
// What a server of one network sustains when requests come at random and may not wait longer than a limit.
#pragma once

#include <headroom/scenarios/measured/network_row.hpp>

#include <array>
#include <vector>

namespace headroom {

/// MLPerf's Server scenario (Reddi et al. 2020, section IV): requests come at random, and 99 % of them have to be
/// answered within the benchmark's limit.
struct ServedWithin {
  double rate = 0.0;     ///< samples a second of one GPU that its operator asks for; 0: one call alone is too long
  double highest = 0.0;  ///< at which the simulated queue keeps the limit
  ServedLatencies latencies{};
};

/// A queue that feeds all GPUs of the system, called by the harness's batches, windows and streams, and its answers'
/// latencies at shares of the highest rate within the limit.
class ServedQueue {
 public:
  ServedQueue(const NetworkRowCall& call, const CallRates& rates, const NetworkEngine& engine);
  [[nodiscard]] double highest() const noexcept { return highest_; }
  /// At `rate`, or where it is 0 at the rate that is predicted. An operator asks for `share` of the highest rate within
  /// a spread, and a stated rate tells the GPU's speed: of ln(rate / highest rate) both are measurements, weighed by
  /// their variances. The ends are those of 80 % of that, widened by what the harness leaves unexplained.
  [[nodiscard]] ServedWithin within(const NetworkRowCall& call, double speed_spread) const;

 private:
  struct Point {
    double share = 0.0;
    std::array<double, served_latency_count> seconds{};
  };
  [[nodiscard]] std::array<double, served_latency_count> at(double share) const;
  double highest_ = 0.0;
  std::vector<Point> points_;  ///< ascending shares
};

}  // namespace headroom
