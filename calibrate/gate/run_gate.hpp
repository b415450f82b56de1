// SPDX-License-Identifier: Apache-2.0
// A candidate's results against a baseline's, metric by metric: same, faster, slower, or not to be told.
#pragma once

#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/gate/welch.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct RunGateRule {
  GateRule rule;
  double power = 0.8;                ///< chance with which least_shown and runs_needed show a slow-down, above 1/2
  std::vector<std::string> metrics;  ///< the metrics to judge; empty: those that are usual of the form
  std::vector<std::string> lower, higher;  ///< metrics that are better so, whatever their names say
};

/// One side of a metric. `deviation`: 1.4826 median absolute deviations, of a summary its standard deviation.
struct GateSide {
  double n = 0.0, mean = 0.0, median = 0.0, deviation = 0.0;
  std::size_t outliers = 0;
};

/// A metric of the candidate against the baseline's.
struct MetricGate {
  std::string of, metric, unit;
  Better better = Better::lower;
  GateSide baseline, candidate;
  double change = 0.0, low = 0.0, high = 0.0;  ///< of the metric, as a share, with its interval; positive: more
  double median_change = 0.0;                  ///< the same between medians
  double p = 1.0;  ///< that a candidate which is not slower than the threshold shows this, after Holm 1979
  std::optional<double> least_shown;  ///< smallest slow-down that these runs show with the rule's power, as a share
  std::optional<double> runs_needed;  ///< of each side, for the threshold
  bool tested = true;                 ///< false: a side has one value, which no test judges
  GateVerdict verdict = GateVerdict::inconclusive;
};

struct RunGate {
  BenchmarkResult baseline, candidate;   ///< as they were read
  std::vector<MetricGate> metrics;       ///< the worst first
  std::vector<std::string> passed_over;  ///< metrics whose better direction is not known
  std::vector<std::string> only_baseline, only_candidate;
  /// slower: a metric is; inconclusive: none is, and one that was tested is inconclusive, or none was tested.
  GateVerdict verdict = GateVerdict::inconclusive;
};

/// Judges what both hold. A case that is the only one of each side matches whatever it is called. ConfigError with
/// every problem: nothing in common, a metric that is named and not there, or whose direction nobody tells, values that
/// are not above 0.
[[nodiscard]] RunGate judge_runs(BenchmarkResult baseline, BenchmarkResult candidate, const RunGateRule& rule);

}  // namespace headroom
