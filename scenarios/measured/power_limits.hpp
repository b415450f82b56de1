// SPDX-License-Identifier: Apache-2.0
// Limits that the operators of published runs set on each GPU's power (MLPerf's MaxQ), by
// model/stacks/step/power-limits.toml.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <optional>

namespace headroom {

class ModelData;
struct LaunchedRow;

/// The limit under which a row's run was made; nullopt where none is known: the GPUs' own.
[[nodiscard]] std::optional<Watts> published_power_limit(const ModelData& data, const RunRow& row);

/// Gives a row's configuration the limit, as its option power_cap_w, unless it states one.
void limit_power(LaunchedRow& launched, const ModelData& data, const RunRow& row);

}  // namespace headroom
