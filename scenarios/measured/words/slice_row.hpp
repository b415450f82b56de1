// SPDX-License-Identifier: Apache-2.0
// Rows that describe slices of a card under MIG in words ("PyTorch GEMM FP16 peak; 1g.10gb (14 SMs)").
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// Predicts what large products reach on a slice or a whole card, and the multiprocessors that MIG leaves unused.
class SliceRowModel {
 public:
  SliceRowModel(const Catalog& catalog, const ModelData& data) : data_{data}, devices_{catalog} {}

  /// Whether the row measures slices themselves, no network on them.
  [[nodiscard]] static bool means(const RunFile& file, const RunRow& row);
  /// TFLOP/s of a product of 8,192 x 8,192 x 8,192, or the share of multiprocessors in percent.
  [[nodiscard]] RowPrediction predict(const RunFile& file, const RunRow& row);

 private:
  const ModelData& data_;
  RowDevices devices_;
};

}  // namespace headroom
