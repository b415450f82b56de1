// SPDX-License-Identifier: Apache-2.0
// Runs of one table whose level nobody can predict, for they state neither batch nor sequence, and whose ratios can be:
// what another schedule gains on the same job.
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <functional>
#include <span>

namespace headroom {

/// Whether only the row's ratio to others of its table is predicted (option `ratios`, from a fact of its publication).
[[nodiscard]] bool only_ratios(const RunRow& row);

/// The row's prediction with the level of the other rows of its table: of the same publication, network, SKU, GPUs and
/// metric. Its own measurement does not enter. `predict` answers a row by itself. Unsupported when no other is
/// answered.
[[nodiscard]] RowPrediction predict_ratio(std::span<const RunRow> table,
                                          const RunRow& row,
                                          const std::function<RowPrediction(const RunRow&)>& predict);

}  // namespace headroom
