// SPDX-License-Identifier: Apache-2.0
// What is printed beside a plan and changes nothing of it.
#pragma once

#include <headroom/scenarios/plan/plan.hpp>

#include <span>

namespace headroom {

/// Measured runs like a priced step: published ones and those of the user.
void add_nearest(Plan& plan, std::span<const RunFile> own, const Sources& sources);

/// What more of each part of the hardware would buy.
void add_sensitivities(Plan& plan);

}  // namespace headroom
