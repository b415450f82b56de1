// SPDX-License-Identifier: Apache-2.0
// Rows that describe slices of a card under MIG in words ("PyTorch GEMM FP16 peak; 1g.10gb (14 SMs)").
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

namespace headroom {

class ModelData;

/// Whether the row measures slices themselves, no network on them.
[[nodiscard]] bool slice_row(const RunFile& file, const RunRow& row);
/// TFLOP/s that a product of 8,192 x 8,192 x 8,192 reaches on a slice or a whole card, or the multiprocessors that
/// seven slices leave idle, in percent of the card's.
[[nodiscard]] RowPrediction predict_slice(const Catalog& catalog,
                                          const ModelData& data,
                                          const RunFile& file,
                                          const RunRow& row);

}  // namespace headroom
