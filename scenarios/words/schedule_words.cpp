// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/words/schedule_words.hpp>

#include <vector>

namespace headroom {

std::string either_of(std::span<const Schedule> schedules) {
  std::vector<std::string> names;
  for (const Schedule schedule : schedules) {
    names.push_back("\"" + std::string{name_of(schedule)} + "\"");
  }
  return joined(names, " or ");
}

std::string either_where(bool (*holds)(const ScheduleModel& model)) {
  std::vector<Schedule> found;
  for (const ScheduleRow& row : schedule_rows) {
    if (holds(*row.model)) {
      found.push_back(row.schedule);
    }
  }
  return either_of(found);
}

}  // namespace headroom
