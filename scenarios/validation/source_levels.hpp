// SPDX-License-Identifier: Apache-2.0
// Each publication's errors told as a level and what is left around it, beside how far its own repeated runs differ.
#pragma once

#include <headroom/scenarios/validation/scored_row.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Errors are mean sizes of predicted / measured - 1, as shares.
struct SourceLevel {
  std::string source;
  std::size_t rows = 0;           ///< rows with a prediction
  double mape = 0.0;              ///< as predicted
  double own_level = 0.0;         ///< after every time is divided by the median of predicted / measured time
  double left_out = 0.0;          ///< as predicted by fits without the source; NaN without any
  double left_out_level = 0.0;    ///< those after their median; NaN without any
  std::size_t repeated_rows = 0;  ///< rows whose cells and metric another row of the source shares
  double run_to_run = 0.0;        ///< of repeated rows: mean distance of a measured value from their mean; NaN without
};

/// Publications with a predicted row of a time or rate, by name.
[[nodiscard]] std::vector<SourceLevel> source_levels(std::span<const ScoredRow> rows);

}  // namespace headroom
