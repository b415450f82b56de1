// SPDX-License-Identifier: Apache-2.0
// The way of samples to a GPU and from it, as text and as a member of "headroom.batch/1".
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {
struct BatchScenario;
struct DataPlan;

[[nodiscard]] std::string pipeline_text(const DataPlan& data, const BatchScenario& scenario);
[[nodiscard]] Value pipeline_value(const DataPlan& data);

}  // namespace headroom
