// SPDX-License-Identifier: Apache-2.0
// The pipeline schedules that are known. Each is a file of its name beside this one, which defines its ScheduleModel
// (schedule_model.hpp); a new one is such a file and its name in the three lists here, at their end.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// The order of micro-batches over the pipeline. With chunks `one_f_one_b` is the interleaved schedule.
enum class Schedule : std::uint8_t { one_f_one_b, gpipe, zb_h1, zb_h2, zb_v, dualpipe, count };
inline constexpr std::size_t schedule_count = static_cast<std::size_t>(Schedule::count);

/// What runs where nobody names one. It asks nothing of its stages and micro-batches.
inline constexpr Schedule usual_schedule = Schedule::one_f_one_b;

struct ScheduleModel;
namespace schedules {
extern const ScheduleModel one_f_one_b, gpipe, zb_h1, zb_h2, zb_v, dualpipe;
}

struct ScheduleRow {
  Schedule schedule = Schedule::count;
  std::string_view name;  ///< in scenarios, software files, searches and answers
  const ScheduleModel* model = nullptr;
};
inline constexpr std::array<ScheduleRow, schedule_count> schedule_rows{{
    {Schedule::one_f_one_b, "1f1b", &schedules::one_f_one_b},
    {Schedule::gpipe, "gpipe", &schedules::gpipe},
    {Schedule::zb_h1, "zb-h1", &schedules::zb_h1},
    {Schedule::zb_h2, "zb-h2", &schedules::zb_h2},
    {Schedule::zb_v, "zb-v", &schedules::zb_v},
    {Schedule::dualpipe, "dualpipe", &schedules::dualpipe},
}};

inline constexpr std::array<std::string_view, schedule_count> schedule_names = [] {
  std::array<std::string_view, schedule_count> names;
  for (std::size_t i = 0; i < schedule_count; ++i) {
    names[i] = schedule_rows[i].name;
  }
  return names;
}();
[[nodiscard]] constexpr std::string_view name_of(Schedule schedule) noexcept {
  return schedule_names[static_cast<std::size_t>(schedule)];
}

[[nodiscard]] constexpr const ScheduleModel& model_of(Schedule schedule) noexcept {
  return *schedule_rows[static_cast<std::size_t>(schedule)].model;
}

static_assert([] {
  for (std::size_t i = 0; i < schedule_count; ++i) {
    if (schedule_rows[i].schedule != static_cast<Schedule>(i) || schedule_rows[i].name.empty()) {
      return false;
    }
  }
  return true;
}());

}  // namespace headroom
