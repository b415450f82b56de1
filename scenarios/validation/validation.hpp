// SPDX-License-Identifier: Apache-2.0
// Predicted against measured: per row, per group, beside two trivial baselines, and against a budget.
#pragma once

#include <headroom/scenarios/validation/serving_row.hpp>
#include <headroom/scenarios/validation/training_row.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One scored row.
struct ScoredRow {
  std::string id, file, metric, unit;
  double measured = 0.0;
  RowPrediction prediction;
  std::vector<std::string> groups;  ///< "all", "file=...", "source=...", ...
  double weight = 1.0;
  [[nodiscard]] double error() const noexcept { return prediction.predicted / measured - 1.0; }
};

/// Statistics of a baseline or of the model over the supported rows of a group.
struct ErrorSummary {
  double mape = 0.0, median_ape = 0.0, p90_ape = 0.0, bias = 0.0;
};

struct GroupScore {
  std::string group;
  std::string metric;  ///< empty: all metrics
  std::size_t n = 0, supported = 0, rejected = 0;
  ErrorSummary model, constant, roofline;
  double within_interval = 0.0;
  double kendall_tau = 0.0;  ///< NaN when the group mixes metrics or is too small
  /// Supported share of what can be scored: rejected rows are out of both.
  [[nodiscard]] double coverage() const noexcept {
    return n > rejected ? static_cast<double>(supported) / static_cast<double>(n - rejected) : 0.0;
  }
};

/// A condition "column=a|b", "!=", "<=", ">="; columns may be "options.KEY".
struct RowFilter {
  enum class Op : std::uint8_t { equal, unequal, at_most, at_least };
  std::string column;
  Op op = Op::equal;
  std::vector<std::string> values;
  double bound = 0.0;
};
/// ConfigError for an expression that is none.
[[nodiscard]] RowFilter parse_filter(std::string_view expression);

struct BudgetBar {
  std::string group, metric;
  std::optional<double> coverage, mape, median;
  std::string file;
  Position at;
};
[[nodiscard]] std::vector<BudgetBar> read_budget(const ConfigValue& root, const std::string& file);

struct Validation {
  std::vector<ScoredRow> rows;
  std::vector<GroupScore> groups;
};

/// Scores every row that passes all filters. Metrics and forms that no model predicts are unsupported, with the reason.
/// `weight_by`: rows that agree in these columns share one row's weight in the means. `without`: terms that training
/// steps are priced without. ConfigError for unknown columns.
[[nodiscard]] Validation validate(std::span<const RunFile> files,
                                  std::span<const RowFilter> filters,
                                  std::span<const std::string> weight_by,
                                  const Sources& sources,
                                  TermSet without = {});

/// Groups and their statistics of rows that were predicted elsewhere.
[[nodiscard]] Validation score_rows(std::vector<ScoredRow> rows);

/// One line per bar that is missed or names an empty group.
[[nodiscard]] std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars);

/// The published rows embedded in the binary.
[[nodiscard]] std::vector<RunFile> published_runs();

}  // namespace headroom
