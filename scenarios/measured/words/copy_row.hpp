// SPDX-License-Identifier: Apache-2.0
// Rows that describe one copy between host and GPU in words ("H2D pinned 1 GiB", "host_to_device_memcpy_sm; buffer 1
// GiB").
#pragma once

#include <headroom/model/laboratory/host_copy.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// The copy that words mean: 1 GiB where they state no size. nullopt, with the reason, where they leave its memory
/// open.
[[nodiscard]] std::optional<HostCopy> written_copy(std::string_view config, std::string& why);

/// Whether the row measures such a copy.
[[nodiscard]] bool copy_row(const RunFile& file, const RunRow& row);
/// Bandwidth in GB/s or GiB/s, or time in ms; of ranges the ends of the interval.
[[nodiscard]] RowPrediction predict_copy(const ModelData& data, const RunFile& file, const RunRow& row);

}  // namespace headroom
