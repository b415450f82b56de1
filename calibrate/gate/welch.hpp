// SPDX-License-Identifier: Apache-2.0
// Two sets of repeated measurements with a verdict: Welch's test on logarithms, its power, and how many runs it needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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

/// Number, mean and variance of logarithms.
struct LogMoments {
  double n = 0.0, mean = 0.0, variance = 0.0;
};

/// Of positive values, with outliers (outliers_of()) moved to the farthest ordinary value to limit their weight.
/// Precondition: at least two values.
[[nodiscard]] LogMoments log_moments(std::span<const double> values);
/// Of n values of which mean and standard deviation alone are known, as of a log-normal distribution of these moments
/// (Aitchison and Brown 1957, section 2.3). Precondition: n >= 2, mean > 0.
[[nodiscard]] LogMoments log_moments(double n, double mean, double deviation);

/// A difference of means of logarithms, its standard error and degrees of freedom.
struct LogDifference {
  double value = 0.0, error = 0.0, freedom = 1.0;
};

/// B less A (Welch 1947; degrees of freedom: Satterthwaite 1946, equation 17).
[[nodiscard]] LogDifference welch(const LogMoments& a, const LogMoments& b);

/// Ratio, interval, p-value and verdict of a difference of logarithms of times.
void judge(GateRow& row, const LogDifference& d, const GateRule& rule);

/// Holm 1979: multiplies the k-th smallest of n p-values by n - k + 1 and keeps their order; what is then no longer
/// significantly slower becomes inconclusive.
void correct_for_number(std::vector<GateRow>& rows, const GateRule& rule);

/// Compares one quantity of two runs, times in any unit, by welch() and judge(). Precondition: at least two values on
/// each side.
[[nodiscard]] GateRow compare_times(std::string name,
                                    std::span<const double> a,
                                    std::span<const double> b,
                                    const GateRule& rule);

/// The smallest relative slow-down that these runs would call slower with this probability (`power` above 1/2):
/// ln(1 + threshold) + (t_tail + t_power) standard errors, as a share (Cohen 1988, section 2.4, with Student's t).
[[nodiscard]] double least_shown(const LogDifference& d, double power, const GateRule& rule);

/// The fewest runs on each side, at least 2, with which two equal programs are told from one slower by the threshold
/// with this probability: n >= 2 variance (t_tail + t_power)^2 / ln(1 + threshold)^2 (Cohen 1988, equation 2.4.1).
/// `variance`: of logarithms of one run. nullopt: more than a million, or no threshold.
[[nodiscard]] std::optional<double> runs_needed(double variance, double power, const GateRule& rule);

}  // namespace headroom
