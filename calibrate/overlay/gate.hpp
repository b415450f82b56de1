// SPDX-License-Identifier: Apache-2.0
// Two calibrations side by side, with a verdict: a performance gate for devices, drivers and days.
#pragma once

#include <headroom/calibrate/measure/calibration.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct GateRule {
  double threshold = 0.02;   ///< slower by more than this is a regression
  double confidence = 0.95;  ///< of the intervals; each one-sided test has half the rest
};

enum class GateVerdict : std::uint8_t { same, faster, slower, inconclusive };
inline constexpr std::array<std::string_view, 4> gate_verdict_names{"same", "faster", "slower", "inconclusive"};

/// B against A. `slower` means: beyond the threshold, and no accident; `same`: surely not slower by the threshold;
/// `faster`: that, and surely faster by the threshold; else inconclusive.
struct GateRow {
  std::string name;
  std::size_t n_a = 0, n_b = 0;               ///< spans; of families the probes they share
  double ratio = 1.0, low = 1.0, high = 1.0;  ///< of times, B over A, with its interval
  double p = 1.0;                             ///< that B is not slower than the threshold; of probes after Holm 1979
  GateVerdict verdict = GateVerdict::inconclusive;
};

/// One quantity of two runs, times in any unit: Welch's test (1947) of the logarithms, values beyond the gate of
/// outliers_of() drawn in to the farthest ordinary one. Precondition: two values or more on each side.
[[nodiscard]] GateRow compare_times(std::string name,
                                    std::span<const double> a,
                                    std::span<const double> b,
                                    const GateRule& rule);

struct Gate {
  std::vector<GateRow> families;  ///< all probes of one kind and type: a paired t-test over them
  std::vector<GateRow> probes;
  std::vector<std::string> only_a, only_b;
  GateVerdict verdict = GateVerdict::inconclusive;  ///< slower: a family or a probe is; same: every family is
};

/// Probes are found by their names. ConfigError when the two share none.
[[nodiscard]] Gate compare_calibrations(std::span<const ProbeTiming> a,
                                        std::span<const ProbeTiming> b,
                                        const GateRule& rule);

}  // namespace headroom
