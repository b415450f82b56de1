// SPDX-License-Identifier: Apache-2.0
// The trace's schema as Perfetto reads it, and that it tells the simulated times.
#include <headroom/core/json_reader.hpp>
#include <headroom/model/train/schedules/schedule_trace.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "schedule_shapes.hpp"
#include <algorithm>
#include <array>
#include <map>

using namespace headroom;

namespace {

double number_of(const ConfigValue& event, std::string_view key) {
  const ConfigValue* value = event.find(key);
  REQUIRE(value != nullptr);
  REQUIRE((value->kind == ConfigValue::Kind::number || value->kind == ConfigValue::Kind::integer));
  return value->kind == ConfigValue::Kind::number ? value->number : static_cast<double>(value->integer);
}

std::string text_of(const ConfigValue& event, std::string_view key) {
  const ConfigValue* value = event.find(key);
  REQUIRE(value != nullptr);
  REQUIRE(value->kind == ConfigValue::Kind::text);
  return value->text;
}

struct Slice {
  double start = 0.0, length = 0.0;
};
using Tracks = std::map<std::pair<int, int>, std::vector<Slice>>;

/// Every event checked against the format; complete events by process and thread.
Tracks read_trace(const std::string& text, std::map<std::pair<int, int>, std::string>& thread_names) {
  const ConfigValue trace = parse_json(text, "trace.json");
  const ConfigValue* events = trace.find("traceEvents");
  REQUIRE(events != nullptr);
  REQUIRE(events->kind == ConfigValue::Kind::array);
  Tracks tracks;
  for (const ConfigValue& event : events->items) {
    const auto pid = static_cast<int>(number_of(event, "pid"));
    const auto tid = static_cast<int>(number_of(event, "tid"));
    const std::string name = text_of(event, "name");
    const ConfigValue* args = event.find("args");
    REQUIRE(args != nullptr);
    if (text_of(event, "ph") == "M") {
      CHECK((name == "process_name" || name == "thread_name"));
      if (name == "thread_name") {
        thread_names[{pid, tid}] = text_of(*args, "name");
      }
      continue;
    }
    CHECK(text_of(event, "ph") == "X");
    CHECK(!name.empty());
    CHECK(number_of(*args, "micro_batch") >= 0.0);
    const Slice slice{number_of(event, "ts"), number_of(event, "dur")};
    CHECK(slice.start >= 0.0);
    CHECK(slice.length >= 0.0);
    tracks[{pid, tid}].push_back(slice);
  }
  return tracks;
}

void check_trace(const PipelineShape& shape) {
  const StageCosts stage{Seconds{1e-3}, Seconds{1.2e-3}, Seconds{0.8e-3},
                         Seconds{5e-5}, Seconds{4e-5},   Seconds{2.6e-3}};
  const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
  std::map<std::pair<int, int>, std::string> names;
  Tracks tracks = read_trace(schedule_trace(shape, step), names);
  CHECK(names.size() == 3 * static_cast<std::size_t>(shape.stages));
  double last = 0.0;
  for (auto& [track, slices] : tracks) {
    CHECK(names.count(track) == 1);
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) { return a.start < b.start; });
    double sum = 0.0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      sum += slices[i].length;
      last = std::max(last, slices[i].start + slices[i].length);
      if (i > 0) {
        CHECK(slices[i].start >= slices[i - 1].start + slices[i - 1].length - 1e-6);
      }
    }
    if (names[track] == "compute") {
      CHECK(sum == test::near(1e6 * step.stages[static_cast<std::size_t>(track.first)].busy.raw()));
    }
  }
  CHECK(last == test::near(1e6 * step.total.raw()));
}

}  // namespace

TEST_CASE("A trace of every schedule: complete events on named tracks, none over another, sums of the simulation") {
  for (const ScheduleRow& row : schedule_rows) {
    check_trace(test::allowed({row.schedule, 4, 1, 8}));
  }
  check_trace({Schedule::one_f_one_b, 4, 3, 8});
}

TEST_CASE("Passes are named by kind, micro-batch and chunk") {
  const StageCosts stage{Seconds{1e-3}, Seconds{1e-3}, Seconds{1e-3}, Seconds{1e-4}, Seconds{1e-4}, Seconds{2.5e-3}};
  const auto trace = [&](const PipelineShape& shape) {
    return schedule_trace(shape, simulate_schedule(shape, {&stage, 1}));
  };
  const std::string interleaved = trace({Schedule::one_f_one_b, 2, 2, 2});
  CHECK(interleaved.find("\"F 1.1\"") != std::string::npos);
  CHECK(interleaved.find("\"B 0.0\"") != std::string::npos);
  CHECK(interleaved.find("\"F 0 to stage 1\"") != std::string::npos);
  CHECK(trace({Schedule::zb_h1, 2, 1, 2}).find("\"W 1\"") != std::string::npos);
  CHECK(trace({Schedule::dualpipe, 2, 1, 4}).find("\"FB ") != std::string::npos);
}
