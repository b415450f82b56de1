// SPDX-License-Identifier: Apache-2.0
// The rows with the largest errors, each with the step term that would explain the error best.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace headroom {

struct Sources;

/// A row, and the change of one term that brings its prediction closest.
struct WorstRow {
  std::size_t row = 0;
  double time = 1.0;         ///< predicted over measured step time
  std::optional<Term> term;  ///< absent when no change of one term closes a tenth of the gap (in the logarithm)
  bool twice = false;        ///< true: the term counted twice; false: left out
  double changed = 1.0;      ///< predicted over measured step time with that change
};

/// Predicts a row without one term, in the row's unit.
using TermPredictor = std::function<RowPrediction(const ScoredRow&, Term without)>;

/// The `count` largest errors of training time and throughput, at most one per family (source, SKU, software, kind of
/// network, method). A step with a term twice takes 2 T - T_without.
[[nodiscard]] std::vector<WorstRow> worst_rows(std::span<const ScoredRow> rows,
                                               std::size_t count,
                                               const TermPredictor& predictor);

/// Predictor with the parameters of the binary. `sources` must outlive it.
[[nodiscard]] TermPredictor shipped_terms(const Sources& sources);

/// Predicted over measured step time, for any metric of time or throughput.
[[nodiscard]] double time_ratio(const ScoredRow& row) noexcept;
/// Whether a row measures a step time: training rows of any metric but memory.
[[nodiscard]] bool is_time(const ScoredRow& row) noexcept;

}  // namespace headroom
