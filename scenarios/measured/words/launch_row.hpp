// SPDX-License-Identifier: Apache-2.0
// Rows that describe launches of kernels in words ("chain of 8 no-op kernels; WSL2", "inductor per kernel; 19 args").
#pragma once

#include <headroom/model/laboratory/launch.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>

namespace headroom {

class ModelData;

/// Whether the row measures launches: its words stand in model/stacks/step/launch-rows.toml, or they tell a chain of
/// empty kernels.
[[nodiscard]] bool launch_row(const ModelData& data, const RunFile& file, const RunRow& row);
/// Time of a chain launched one by one, as a graph or with barriers across its grid, or host time of one launch; of
/// ranges the ends: a launch that nothing waits for, and one that the host waits for. In the row's unit.
[[nodiscard]] RowPrediction predict_launch(const ModelData& data, const RunFile& file, const RunRow& row);

}  // namespace headroom
