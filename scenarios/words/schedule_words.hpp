// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules as sentences name them.
#pragma once

#include <headroom/model/train/schedules/schedule_model.hpp>

#include <span>
#include <string>

namespace headroom {

/// "\"1f1b\" or \"zb-v\"".
[[nodiscard]] std::string either_of(std::span<const Schedule> schedules);

/// Those of which something holds, in the same words.
[[nodiscard]] std::string either_where(bool (*holds)(const ScheduleModel& model));

}  // namespace headroom
