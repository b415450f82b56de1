// SPDX-License-Identifier: Apache-2.0
// Compares two calibrations with a verdict: a performance gate for devices, drivers and dates.
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
  double threshold = 0.02;   ///< relative slow-down that counts as a regression
  double confidence = 0.95;  ///< level of the intervals, in (0, 1); each one-sided test uses half the remainder
};

enum class GateVerdict : std::uint8_t { same, faster, slower, inconclusive };
inline constexpr std::array<std::string_view, 4> gate_verdict_names{"same", "faster", "slower", "inconclusive"};

/// Verdict of B against A. `slower`: significantly slower than the threshold. `same`: surely not slower than the
/// threshold. `faster`: surely faster than the threshold. Otherwise inconclusive.
struct GateRow {
  std::string name;
  std::size_t n_a = 0, n_b = 0;               ///< number of spans; for families, of shared probes
  double ratio = 1.0, low = 1.0, high = 1.0;  ///< time of B over A, with its interval
  double p = 1.0;  ///< p-value of "B is not slower than the threshold"; for probes after Holm 1979
  GateVerdict verdict = GateVerdict::inconclusive;
};

/// Compares one quantity of two runs, times in any unit: Welch's test (1947) on logarithms, with outliers
/// (outliers_of()) moved to the farthest ordinary value. Precondition: at least two values on each side.
[[nodiscard]] GateRow compare_times(std::string name,
                                    std::span<const double> a,
                                    std::span<const double> b,
                                    const GateRule& rule);

struct Gate {
  std::vector<GateRow> families;  ///< paired t-tests over all probes of one kind and type
  std::vector<GateRow> probes;
  std::vector<std::string> only_a, only_b;
  GateVerdict verdict = GateVerdict::inconclusive;  ///< slower: a family or a probe is slower; same: every family is
};

/// Compares probes by name. Throws ConfigError when no name is in both.
[[nodiscard]] Gate compare_calibrations(std::span<const ProbeTiming> a,
                                        std::span<const ProbeTiming> b,
                                        const GateRule& rule);

}  // namespace headroom
