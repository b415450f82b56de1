// SPDX-License-Identifier: Apache-2.0
// Scores predictions against measurements: per row, per group, next to two trivial baselines, and against a budget.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/validation/layout_ranking.hpp>
#include <headroom/scenarios/validation/row_filter.hpp>
#include <headroom/scenarios/validation/score_book.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>
#include <headroom/scenarios/validation/sweeps.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct Sources;

struct Validation {
  std::vector<ScoredRow> rows;  ///< empty when rows were passed on one by one
  RowTally tally;
  std::vector<GroupScore> groups;
  Sweeps sweeps;
  std::vector<LayoutScore> layouts;
};

/// Selection of rows, their weights, and additional groups.
struct ValidationScope {
  std::vector<RowFilter> filters;
  std::vector<std::string> weight_by;  ///< columns; rows that agree in them together weigh as much as one row
  std::vector<RowGroup> groups;        ///< additional groups; a condition on a column that no file has matches no row
};

/// Scores every row that passes all filters. Rows of unpredicted metrics or forms are unsupported and rows that beat
/// the hardware's bound are rejected, with the reason. `without`: terms left out of training steps. Throws ConfigError
/// for unknown columns.
[[nodiscard]] Validation validate(std::span<const RunFile> files,
                                  const ValidationScope& scope,
                                  const Sources& sources,
                                  TermSet without = {});

/// Scores with the caller's predictor, which is called only for rows that neither notes nor cells reject.
using RowPredictor = std::function<RowPrediction(const RunFile&, const RunRow&)>;
[[nodiscard]] Validation validate(std::span<const RunFile> files,
                                  const ValidationScope& scope,
                                  const RowPredictor& predictor);

/// Name, form and header of each text, of its rows those alone whose ratios are predicted (ratio_rows.hpp). Throws
/// ConfigError with the problems of all rows, so that nothing
/// is predicted from a file that is refused.
[[nodiscard]] std::vector<RunFile> checked_heads(std::span<const RunText> texts);

/// Scores texts row by row, for files larger than memory: `each` receives every row that passes the filters, and no row
/// is kept. `heads` are those of `texts`.
using RowSink = std::function<void(const ScoredRow&)>;
[[nodiscard]] Validation validate(std::span<const RunText> texts,
                                  std::span<const RunFile> heads,
                                  const ValidationScope& scope,
                                  const Sources& sources,
                                  TermSet without,
                                  const RowSink& each);

/// Groups and statistics of rows with predictions.
[[nodiscard]] Validation score_rows(std::vector<ScoredRow> rows);

/// The published rows embedded in the binary.
[[nodiscard]] std::vector<RunFile> published_runs();
/// The published rows of one form; of files of the others only the header is read.
[[nodiscard]] std::vector<RunFile> published_runs(RowForm form);
[[nodiscard]] std::vector<RunText> published_texts();

}  // namespace headroom
