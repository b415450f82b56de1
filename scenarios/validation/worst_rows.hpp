// SPDX-License-Identifier: Apache-2.0
// The rows that the model is furthest from, and the term of the step that would explain it best.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

struct Sources;

/// A row whose step would be predicted best with one term left out, or counted twice.
struct WorstRow {
  std::size_t row = 0;
  double time = 1.0;         ///< predicted over measured step time
  std::optional<Term> term;  ///< none where no change of one term closes a tenth of the gap (in the logarithm)
  bool twice = false;        ///< else left out
  double changed = 1.0;      ///< predicted over measured with that change
};

/// The prediction of a row without a term, in the row's unit.
using TermPredictor = std::function<RowPrediction(const ScoredRow&, Term without)>;

/// The `count` largest errors of training time and throughput, at most one a family: source, SKU, software, kind of
/// network, method. Twice a term is its share of the step once more: 2 T - T without it.
[[nodiscard]] std::vector<WorstRow> worst_rows(std::span<const ScoredRow> rows,
                                               std::size_t count,
                                               const TermPredictor& predictor);

/// With the parameters that the binary ships with. `sources` must outlive it.
[[nodiscard]] TermPredictor shipped_terms(const Sources& sources);

/// Predicted over measured step time, whatever the metric of time or throughput.
[[nodiscard]] double time_ratio(const ScoredRow& row) noexcept;
/// Whether a row speaks of a step's time: training rows of any metric but memory.
[[nodiscard]] bool is_time(const ScoredRow& row) noexcept;

}  // namespace headroom
