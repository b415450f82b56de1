// SPDX-License-Identifier: Apache-2.0
// Fits the numbers behind a training step from measured runs, and says what they are worth on sources never seen.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct StepFitOptions {
  std::string stack = "all";      ///< the software whose numbers are free; "all": every number of every file
  std::vector<std::string> gpus;  ///< SKUs or generations whose levels are free beside one software's
  bool leave_one_out = true;
  /// Standard deviation of what sets a source apart in level (cluster, drivers, method of measuring).
  double level = 0.0;
  double noise = 0.02;  ///< log error of one run beside that level, against which priors are weighed
  double scale = 0.05;  ///< log error beyond which a run counts linearly
};

/// One measured time or rate that the fit rests on. Errors are ln(predicted time / measured time).
struct FittedRun {
  const RunRow* row = nullptr;
  std::size_t family = 0;
  double weight = 1.0;
  StepOwner owner;
  double before = 0.0;
  double fitted = 0.0;
  double left_out = 0.0;  ///< with its whole source out of the fit; NaN when that was not asked for
};

/// Rows of one source, SKU, and kind of network or method, on one host or on several.
struct RunFamily {
  std::string source, gpu, kind;
  bool hosts = false;  ///< several
  std::size_t runs = 0;
  double level = 0.0;  ///< of its own, ln
};

/// Why a row of time or throughput is not fitted.
enum class UnusedKind : std::uint8_t { doubted, broken, framework, unpublished, unpredicted, impossible };
inline constexpr std::array<std::string_view, 6> unused_kind_names{
    "in doubt by their notes",        "with cells that cannot be true", "of a framework that no software knows",
    "without cells that a fit needs", "that no model answers",          "faster than the hardware can be"};

struct UnusedRow {
  const RunRow* row = nullptr;
  UnusedKind kind = UnusedKind::unpredicted;
  std::string why;
};

struct StepFit {
  std::string stack;            ///< as asked for
  std::vector<StepKnob> knobs;  ///< with the values as they were
  std::vector<bool> free;
  HierarchicalResult result;
  std::vector<double> values;  ///< fitted, in the units of the files
  std::vector<FittedRun> runs;
  std::vector<std::vector<std::size_t>> behind;  ///< knobs that each run rests on
  std::vector<RunFamily> families;
  std::vector<UnusedRow> unused;  ///< rows of time or throughput that the fit does not rest on
};

/// Rows of time and throughput weigh 1/sqrt(n) of their family, n its profiles: rows that agree in network width,
/// layout of a layer, sequence and recipe repeat one measurement of it and share one row's weight. A configuration
/// published in FLOP rates and as time or throughput counts by the latter alone. Rows that `UnusedKind` names are left
/// out. The rows of `files` must outlive the answer. ConfigError for an unknown software, SKU or generation, for a
/// software without a number that a fit may move, and with every row's reason where none is left. `progress` is told
/// what is being done.
[[nodiscard]] StepFit fit_step(std::span<const RunFile> files,
                               const Sources& sources,
                               const StepFitOptions& options,
                               const std::function<void(std::string_view)>& progress = {});

/// Mean absolute error, as a share of the measured time, of log errors.
[[nodiscard]] double mape_of(std::span<const double> log_errors);

/// The same with `given` runs of the family measured and their mean error, shrunk by w, taken off the others; the mean
/// over draws of a fixed seed. NaN for families of no more than `given` runs.
[[nodiscard]] double mape_with_runs(std::span<const double> log_errors, std::size_t given, double w);

}  // namespace headroom
