// SPDX-License-Identifier: Apache-2.0
// Fits the numbers behind a training step to measured runs, and estimates their error on unseen sources.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/calibrate/stacks/step_after_runs.hpp>
#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct StepFitOptions {
  std::string stack = "all";      ///< software whose numbers are free; "all": every number of every file
  std::vector<std::string> gpus;  ///< SKUs or generations whose levels are also free when one software is fitted
  bool leave_one_out = true;
  /// Standard deviation (ln) of a family's own level, due to its cluster, drivers and method of measuring. Runs of one
  /// family alone have none: it cannot be told from the software's numbers.
  double level = 0.06;
  double noise = 0.06;  ///< log error of one run around that level, which weighs runs against priors
  double scale = 0.10;  ///< log error beyond which a run counts linearly
  /// Rounds of estimates of the widths of effects and of the level, where every number is free.
  int variance_rounds = 4;
  /// Log error of one run in the last descent, which has no levels where every number is free: most software is known
  /// from one publication, and its next run is more like that publication than like the mean of all.
  double settled_noise = 0.05;
};

inline constexpr double unknown_error = std::numeric_limits<double>::quiet_NaN();

/// A measured time or rate in the fit. Errors are ln(predicted time / measured time).
struct FittedRun {
  const RunRow* row = nullptr;
  std::size_t family = 0;
  double weight = 1.0;
  StepOwner owner;
  StepKind kind = StepKind::dense;
  bool own_kernels = true;  ///< the SKU's kernels were measured
  double before = 0.0;
  double fitted = 0.0;
  double left_out = 0.0;  ///< error with the run's source left out; NaN when not computed
  /// Standard deviation (ln) that the fit without the run's source gives its error; NaN when not computed.
  double deviation = 0.0;
  /// Mean of |predicted/measured - 1| of the time with the source left out and 1 or 3 other runs of the family given;
  /// NaN when not computed.
  std::array<double, given_runs.size()> after{unknown_error, unknown_error};
};

/// Rows of one source, SKU, kind of network or method, and number of hosts (one or several).
struct RunFamily {
  std::string source, gpu, kind;
  bool hosts = false;  ///< true: several hosts
  std::size_t runs = 0;
  double level = 0.0;  ///< the family's own level, ln
};

/// Why a row of time or throughput is not in the fit.
enum class UnusedKind : std::uint8_t { doubted, broken, framework, unpublished, unpredicted, impossible };
inline constexpr std::array<std::string_view, 6> unused_kind_names{
    "in doubt by their notes",        "with cells that cannot be true", "of a framework that no software knows",
    "without cells that a fit needs", "that no model answers",          "faster than the hardware can be"};

struct UnusedRow {
  const RunRow* row = nullptr;
  UnusedKind kind = UnusedKind::unpredicted;
  std::string why;
};

/// Share of left-out runs that lie within their 80 % intervals, and the median of these intervals' half widths;
/// families weigh alike. Of SKUs with measured kernels; NaN when not computed.
struct HeldIntervals {
  double share = unknown_error;
  double half_width = unknown_error;
};

struct StepFit {
  std::string stack;            ///< software whose numbers were free, or "all"
  std::vector<StepKnob> knobs;  ///< knobs with their values before the fit
  std::vector<bool> free;
  HierarchicalResult result;
  std::vector<double> values;  ///< fitted values, in the units of the files
  std::vector<FittedRun> runs;
  std::vector<std::vector<std::size_t>> behind;  ///< indices of the knobs that each run depends on
  std::vector<RunFamily> families;
  std::vector<UnusedRow> unused;                        ///< rows of time or throughput that are not in the fit
  StepPosterior posterior;                              ///< with quantiles where sources were left out
  HeldIntervals held_alone;                             ///< of left-out runs with none of their family given
  std::array<HeldIntervals, given_runs.size()> held{};  ///< with 1 or 3 others given
};

/// Rows of time and throughput weigh 1/sqrt(n) of their family, where n is its number of profiles: rows with equal
/// network width, layer layout, sequence and recipe repeat one measurement and share one row's weight. A configuration
/// published both in FLOP rates and as time or throughput counts by the latter. Rows of an UnusedKind are left out.
/// `files` must outlive the result; `progress` receives messages. Throws ConfigError for an unknown software, SKU or
/// generation, for a software without free numbers, and, with every row's reason, when no row is left.
[[nodiscard]] StepFit fit_step(std::span<const RunFile> files,
                               const Sources& sources,
                               const StepFitOptions& options,
                               const std::function<void(std::string_view)>& progress = {});

/// Mean of |exp(log error) - 1|, a share of the measured time.
[[nodiscard]] double mape_of(std::span<const double> log_errors);

}  // namespace headroom
