// SPDX-License-Identifier: Apache-2.0
// Rows that describe a workload in words ("resnet50; 224px; batch=256; amp nhwc; eager") as rows of calls and training.
#pragma once

#include <headroom/scenarios/measured/run_row.hpp>

#include <optional>
#include <string>

namespace headroom {

class ModelData;

/// The serving or training row that such a row means, by model/stacks/step/network-workloads.toml: `form` says which.
/// nullopt, with the reason, where its words say too little or no network runs.
[[nodiscard]] std::optional<RunRow> workload_row(const ModelData& data,
                                                 const RunFile& file,
                                                 const RunRow& row,
                                                 std::string& why);

/// Whether rows like this one stand in other files too, in columns: no fit counts them twice.
[[nodiscard]] bool repeats(const ModelData& data, const RunFile& file, const RunRow& row);

}  // namespace headroom
