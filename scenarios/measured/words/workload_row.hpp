// SPDX-License-Identifier: Apache-2.0
// Rows that describe a workload in words ("resnet50; 224px; batch=256; amp nhwc; eager") as rows of calls and training.
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// "A100-PCIex8_TRT" as its card and count; "A30-MIG_32x1g.6gb_TRT" as slices.
struct WrittenSystem {
  std::string gpu;  ///< as the catalog or a slice is spelled
  std::int64_t gpus = 1;
};
/// By the [[hardware]] of model/stacks/step/network-workloads.toml, the longest name that `hardware` begins with.
[[nodiscard]] std::optional<WrittenSystem> written_system(const ModelData& data, std::string_view hardware);

/// The SKU of such a system. nullptr, with the reason, where none is named.
[[nodiscard]] const Device* written_device(const ModelData& data,
                                           RowDevices& devices,
                                           std::string_view hardware,
                                           std::string& why);

/// The serving or training row that such a row means, by model/stacks/step/network-workloads.toml: `form` says which.
/// nullopt, with the reason, where its words say too little or no network runs.
[[nodiscard]] std::optional<RunRow> workload_row(const ModelData& data,
                                                 const RunFile& file,
                                                 const RunRow& row,
                                                 std::string& why);

/// The answer to workload_row()'s row as the row in words asks for it: the time of an image of a batch.
[[nodiscard]] RowPrediction asked_of_workload(const RunRow& row, RowPrediction answer);

/// What such a row's answer takes for granted of its machine or words; empty: nothing.
[[nodiscard]] std::string workload_assumed(const ModelData& data, const RunFile& file, const RunRow& row);

/// Whether rows like this one stand in other files too, in columns: no fit counts them twice.
[[nodiscard]] bool repeats(const ModelData& data, const RunFile& file, const RunRow& row);

}  // namespace headroom
