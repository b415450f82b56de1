// SPDX-License-Identifier: Apache-2.0
// What answers about video, simulators and policies say and hold beside those of every algorithm.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>

#include <optional>
#include <string>

namespace headroom {

/// Precondition: a plan without cores.
[[nodiscard]] std::string media_verdict(const classic::Plan& plan);
/// Sentences and a table of stages; empty for other algorithms.
[[nodiscard]] std::string media_figures(const classic::Plan& plan);
// Absent for other algorithms.
[[nodiscard]] Value video_value(const std::optional<classic::VideoFigures>& video);
[[nodiscard]] Value simulation_value(const std::optional<classic::SimulatorFigures>& simulator);
[[nodiscard]] Value control_value(const std::optional<classic::PolicyFigures>& policy);

}  // namespace headroom
