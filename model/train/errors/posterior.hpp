// SPDX-License-Identifier: Apache-2.0
// How far the fitted numbers behind a training step may lie off: their posterior covariance, what a software or a SKU
// that nobody fitted adds to it, and what that makes of a step (model/stacks/step/posterior.toml, docs/confidence.md).
#pragma once

#include <headroom/core/config_reader.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;

/// Owner of a number of the training step.
enum class StepScope : std::uint8_t { physics, level, stack, experts };
inline constexpr std::array<std::string_view, 4> step_scope_names{"physics", "level", "stack", "experts"};

/// A fitted number. Effects are logarithms, of shares the number itself.
struct StepEffect {
  StepScope scope = StepScope::physics;
  std::string id;   ///< stack; SKU, generation or "any" of a level; "physics"
  std::string key;  ///< its name in the table
};

/// Kinds of training whose steps weigh the numbers alike.
enum class StepKind : std::uint8_t { dense, experts, adapters };
inline constexpr std::array<std::string_view, 3> step_kind_names{"dense", "experts", "adapters"};

/// Symmetric numbers over n x n pairs, row by row.
struct PairTable {
  std::size_t size = 0;
  std::vector<double> entries;
  explicit PairTable(std::size_t n = 0) : size{n}, entries(n * n, 0.0) {}
  [[nodiscard]] double& operator()(std::size_t row, std::size_t column) noexcept {
    return entries[row * size + column];
  }
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const noexcept {
    return entries[row * size + column];
  }
};

/// Axes that a measured row may leave blank, and that are then closed as its software would.
enum class BlankAxis : std::uint8_t {
  micro_batch,
  recompute,
  vpp,
  experts,  ///< how layers of experts are launched and exchanged: what software mostly does (ExpertHabits::usual)
};
inline constexpr std::array<std::string_view, 4> blank_axis_names{"micro_batch", "recompute", "vpp", "experts"};
using BlankAxes = std::array<bool, blank_axis_names.size()>;

/// ln(step with the axis closed / step as it was run), over runs that state the axis.
struct BlankError {
  double mean = 0.0, deviation = 0.0;
  std::int64_t rows = 0;
};

/// What an uncertainty is asked of.
struct StepUnknown {
  StepKind kind = StepKind::dense;
  bool hosts = false;               ///< the job spans several hosts
  std::vector<std::string> stacks;  ///< the software, then the stacks that its file is based on, nearest first
  std::string sku, generation;
  BlankAxes blank{};           ///< closed without being stated
  bool network_known = false;  ///< what share of its network training reaches is stated
  /// Share of stragglers in the step, which grows with the job's GPUs; 0: as in the runs of the fit.
  double stragglers = 0.0;
};

/// Parts of the variance of ln(predicted/measured).
struct StepVariance {
  double numbers = 0.0;   ///< of the fitted numbers
  double software = 0.0;  ///< of a software that no run of the fit used
  double sku = 0.0;       ///< of a SKU that no run of the fit used
  double level = 0.0;     ///< of a cluster and a way of measuring
  double shape = 0.0;     ///< of runs of one cluster
  double scale = 0.0;     ///< of stragglers among more GPUs than the runs of the fit had
  double blank = 0.0;     ///< of axes that nobody stated
  [[nodiscard]] double total() const noexcept { return numbers + software + sku + level + shape + blank + scale; }
};

/// Quantiles of |ln(predicted/measured)| over its standard deviation, of runs whose source was left out of the fit.
struct DeviationQuantiles {
  double half = 0.6745, eighty = 1.2816, ninety = 1.6449;  ///< 50, 80 and 90 %; those of a normal distribution
  std::int64_t rows = 0, sources = 0;                      ///< behind them
};

struct StepPosterior {
  std::vector<StepEffect> effects;
  PairTable covariance;  ///< of the effects
  /// Keys that steps depend on, "stack.host": a number of the question's software, SKU or of physics.
  std::vector<std::string> keys;
  /// Standard deviation of what a software or SKU of its own adds to a key's number; 0: nothing.
  std::vector<double> own;
  /// Mean of the products of two keys' derivatives of ln(step), over the runs of a kind, on one host and on several.
  std::array<std::array<PairTable, 2>, step_kind_names.size()> sensitivity;
  std::array<DeviationQuantiles, step_kind_names.size()> quantiles;
  std::array<BlankError, blank_axis_names.size()> blank;
  /// Effect of each key for the software of that id, with a dense network and with experts; -1: none.
  std::map<std::string, std::array<std::vector<std::ptrdiff_t>, 2>, std::less<>> owners;
  /// Software and SKUs with runs in the fit; of software with experts "ID.moe" too.
  std::set<std::string, std::less<>> seen;
  double level = 0.0, shape = 0.0;  ///< standard deviations of ln(predicted/measured)
  std::string source;
  /// Share of the variance around numbers and level that like jobs of one cluster have in common, and the distance in
  /// logarithms of their axes over which it fades; 0: nothing is known of it.
  double alike = 0.0, length = 0.0;

  /// The effect behind a key of a level: the SKU's, its generation's, else "any"; -1: none.
  [[nodiscard]] std::ptrdiff_t level_effect(std::string_view key,
                                            std::string_view sku,
                                            std::string_view generation) const noexcept;
  /// The effect behind each key for a question's software and SKU; -1: none.
  [[nodiscard]] std::vector<std::ptrdiff_t> effects_of(const StepUnknown& unknown) const;
  [[nodiscard]] StepVariance variance(const StepUnknown& unknown) const;
  /// Covariance of the numbers of a question's software and SKU, by key, before a run of the user's own is known: that
  /// of their effects, and what a software or a SKU without effects of its own adds to a key.
  [[nodiscard]] PairTable prior_of(const StepUnknown& unknown) const;
  /// Standard deviation of runs of one cluster around what the numbers say, as most of them lie: `shape` has their
  /// tails too, which the fit weighs linearly.
  [[nodiscard]] double run_noise(StepKind kind) const noexcept;
  /// Variance that the axes which a row leaves blank add to its error.
  [[nodiscard]] double blank_variance(const BlankAxes& axes) const noexcept;
  [[nodiscard]] const DeviationQuantiles& quantiles_of(StepKind kind) const noexcept {
    return quantiles[static_cast<std::size_t>(kind)];
  }
};

/// Reads the file; problems are added to `diagnostics`.
[[nodiscard]] StepPosterior read_step_posterior(const ConfigValue& document,
                                                const std::string& file,
                                                Diagnostics& diagnostics);
/// Of `data`. ConfigError if the file is invalid.
[[nodiscard]] const StepPosterior& step_posterior(const ModelData& data);

/// The text of the file, which read_step_posterior() reads back to four digits.
[[nodiscard]] std::string posterior_toml(const StepPosterior& posterior);

}  // namespace headroom
