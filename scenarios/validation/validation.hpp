// SPDX-License-Identifier: Apache-2.0
// Predicted against measured: per row, per group, beside two trivial baselines, and against a budget.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/measured/row_filter.hpp>
#include <headroom/scenarios/validation/layout_ranking.hpp>
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
  std::vector<ScoredRow> rows;  ///< none where they were handed on one by one
  RowTally tally;
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

/// Name, form and header of each text, no rows. ConfigError with every problem of all rows: read before a text is
/// scored, so that nothing is predicted of one that is refused.
[[nodiscard]] std::vector<RunFile> checked_heads(std::span<const RunText> texts);

/// The same of texts that are read row by row, so that files larger than memory can be scored: `each` is handed every
/// row that passes, and what it does not keep is let go. `heads` are theirs.
using RowSink = std::function<void(const ScoredRow&)>;
[[nodiscard]] Validation validate(std::span<const RunText> texts,
                                  std::span<const RunFile> heads,
                                  const ValidationScope& scope,
                                  const Sources& sources,
                                  TermSet without,
                                  const RowSink& each);

/// Groups and their statistics of rows that were predicted elsewhere.
[[nodiscard]] Validation score_rows(std::vector<ScoredRow> rows);

/// The published rows embedded in the binary.
[[nodiscard]] std::vector<RunFile> published_runs();
[[nodiscard]] std::vector<RunText> published_texts();

}  // namespace headroom
