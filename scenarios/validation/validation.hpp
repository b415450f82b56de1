// SPDX-License-Identifier: Apache-2.0
// Predicted against measured: per row, per group, beside two trivial baselines, and against a budget.
#pragma once

#include <headroom/model/estimate.hpp>
#include <headroom/scenarios/validation/layout_ranking.hpp>
#include <headroom/scenarios/validation/row_filter.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>
#include <headroom/scenarios/validation/sweeps.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct Sources;

/// Statistics of a baseline or of the model over the supported rows of a group.
struct ErrorSummary {
  double mape = 0.0, median_ape = 0.0, p90_ape = 0.0, bias = 0.0;
};

struct GroupScore {
  std::string group;
  std::string metric;  ///< empty: all metrics
  std::size_t n = 0, supported = 0, rejected = 0;
  ErrorSummary model{}, constant{}, roofline{};
  double within_interval = 0.0;
  double kendall_tau = 0.0;       ///< NaN when the group mixes metrics or is too small
  double left_out_mape = 0.0;     ///< of the rows predicted without their source; NaN without any
  std::size_t left_out_rows = 0;  ///< those
  /// Supported share of what can be scored: rejected rows are out of both.
  [[nodiscard]] double coverage() const noexcept {
    return n > rejected ? static_cast<double>(supported) / static_cast<double>(n - rejected) : 0.0;
  }
};

struct Validation {
  std::vector<ScoredRow> rows;
  std::vector<GroupScore> groups;
  Sweeps sweeps;
  std::vector<LayoutScore> layouts;
};

/// Which rows, how they weigh, and groups of the caller's own.
struct ValidationScope {
  std::vector<RowFilter> filters;
  std::vector<std::string> weight_by;  ///< rows that agree in these columns share one row's weight in the means
  std::vector<RowGroup> groups;        ///< whose conditions may name columns that no file has: then no row passes
};

/// Scores every row that passes all filters. Metrics and forms that no model predicts are unsupported, rows that beat
/// the hardware's bound are rejected, each with the reason. `without`: terms that training steps are priced without.
/// ConfigError for unknown columns.
[[nodiscard]] Validation validate(std::span<const RunFile> files,
                                  const ValidationScope& scope,
                                  const Sources& sources,
                                  TermSet without = {});

/// The same with predictions of the caller's; asked only for rows that no note and no cell rejects.
using RowPredictor = std::function<RowPrediction(const RunFile&, const RunRow&)>;
[[nodiscard]] Validation validate(std::span<const RunFile> files,
                                  const ValidationScope& scope,
                                  const RowPredictor& predictor);

/// Groups and their statistics of rows that were predicted elsewhere.
[[nodiscard]] Validation score_rows(std::vector<ScoredRow> rows);

/// The published rows embedded in the binary.
[[nodiscard]] std::vector<RunFile> published_runs();

}  // namespace headroom
