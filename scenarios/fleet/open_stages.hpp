// SPDX-License-Identifier: Apache-2.0
// Ranks that a serving question leaves open beside tp: stages where no tensor ranks within a host hold the model, and
// those of experts where everything is freed.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>

#include <vector>

namespace headroom {

/// Adds pp of up to 4 stages behind tp, where neither [strategy] nor [search] states tp or pp and there is a SKU,
/// engine and format among the axes that no tp holds a request of. Stages of which none would hold it either, or that
/// take more than the stated GPUs, are left out. Several models on one replica are left as they are.
void free_stages(const ConfigValue& root, const Statement& base, std::vector<FleetAxis>& axes);

/// Adds ep of up to 8 ranks where [search] frees strategy = "any", nothing states ep and the model has experts.
void free_experts(const ConfigValue& root, const Statement& base, std::vector<FleetAxis>& axes);

}  // namespace headroom
