// SPDX-License-Identifier: Apache-2.0
// Snapshots of PyTorch's allocator and its profiler's timelines: memory over time, who holds it, what a refused request
// found.
#include <headroom/calibrate/diagnosis/memory_reading.hpp>
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/calibrate/snapshots/memory_history.hpp>
#include <headroom/calibrate/snapshots/memory_snapshot.hpp>
#include <headroom/calibrate/snapshots/memory_timeline.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include "pickle_writer.hpp"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using test::pickle_file;
using test::pickled;
using test::pickled_list;
using test::pickled_table;
using test::says;

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr std::int64_t base = 0x7f0000000000;

std::string frames(int line) {
  return pickled_list({pickled_table(
      {{"filename", pickled("/home/me/train.py")}, {"line", pickled(line)}, {"name", pickled("step")}})});
}

std::string block(std::int64_t at, std::int64_t size, bool live, int line = 0) {
  return pickled_table({{"address", pickled(base + at * mib)},
                        {"size", pickled(size * mib)},
                        {"requested_size", pickled(live ? size * mib : 0)},
                        {"state", pickled(live ? "active_allocated" : "inactive")},
                        {"frames", frames(line)}});
}

std::string segment(std::int64_t at, std::int64_t size, const std::vector<std::string>& blocks) {
  return pickled_table({{"device", pickled(0)},
                        {"address", pickled(base + at * mib)},
                        {"total_size", pickled(size * mib)},
                        {"segment_type", pickled("large")},
                        {"is_expandable", pickled(false)},
                        {"blocks", pickled_list(blocks)}});
}

std::string event(const char* action, std::int64_t at, std::int64_t size, int line, std::int64_t time_us) {
  return pickled_table({{"action", pickled(action)},
                        {std::string{action} == "oom" ? "device_free" : "addr",
                         pickled(std::string{action} == "oom" ? at * mib : base + at * mib)},
                        {"size", pickled(size * mib)},
                        {"stream", pickled(0)},
                        {"time_us", pickled(time_us)},
                        {"frames", frames(line)}});
}

MemorySnapshot snapshot_of(const std::vector<std::string>& segments, const std::vector<std::string>& events) {
  const PlainData data =
      read_pickle(pickle_file(pickled_table(
                      {{"segments", pickled_list(segments)}, {"device_traces", pickled_list({pickled_list(events)})}})),
                  "memory.pickle");
  REQUIRE(is_memory_snapshot(data));
  return read_memory_snapshot(data, "memory.pickle");
}

/// Four blocks of 30 MiB in a segment of 120, the second and the last freed again; then 40 MiB are asked for, of which
/// the device has 5.
MemorySnapshot in_pieces() {
  return snapshot_of(
      {segment(0, 120, {block(0, 30, true, 1), block(30, 30, false), block(60, 30, true, 3), block(90, 30, false)})},
      {event("segment_alloc", 0, 120, 1, 1), event("alloc", 0, 30, 1, 10), event("alloc", 30, 30, 2, 20),
       event("alloc", 60, 30, 3, 30), event("alloc", 90, 30, 2, 40), event("free_requested", 30, 30, 0, 50),
       event("free_completed", 30, 30, 0, 50), event("free_requested", 90, 30, 0, 60),
       event("free_completed", 90, 30, 0, 60), event("oom", 5, 40, 9, 70)});
}

double in_mib(Bytes bytes) {
  return bytes.raw() / static_cast<double>(mib);
}

TEST_CASE("memory snapshot: the peak, its holders and what was reserved follow from the events") {
  const std::vector<MemoryHistory> all = memory_histories(in_pieces());
  REQUIRE(all.size() == 1);
  const MemoryHistory& history = all.front();
  CHECK(in_mib(history.allocated) == 60.0);
  CHECK(in_mib(history.reserved) == 120.0);
  CHECK(in_mib(history.held_free) == 60.0);
  CHECK(in_mib(history.largest) == 30.0);
  CHECK(in_mib(history.peak.allocated) == 120.0);
  CHECK(in_mib(history.peak.reserved) == 120.0);
  REQUIRE(history.holders.size() == 3);
  CHECK(history.holders[0].site == "train.py:2 step");  // of two blocks
  CHECK(in_mib(history.holders[0].held) == 60.0);
  CHECK(history.holders[0].blocks == 2);
  REQUIRE(!history.moments.empty());
  CHECK(history.moments.front().allocated.raw() == 0.0);
  CHECK(history.moments.front().reserved.raw() == 0.0);
}

TEST_CASE("memory snapshot: a request that fits in no piece is fragmentation, with the largest piece and the cure") {
  const MemorySnapshot snapshot = in_pieces();
  const MemoryHistory history = memory_histories(snapshot).front();
  REQUIRE(history.refused);
  CHECK(in_mib(history.refused->asked) == 40.0);
  CHECK(in_mib(history.refused->device_free) == 5.0);
  CHECK(in_mib(history.refused->held_free) == 60.0);
  CHECK(in_mib(history.refused->largest) == 30.0);
  CHECK(history.refused->fragmented());
  RunReading reading;
  add_memory_reading({&snapshot, 1}, {}, reading);
  REQUIRE(reading.causes.size() == 1);
  CHECK(reading.causes.front().kind == CauseKind::fragmentation);
  CHECK(says(reading.causes.front().says, "40.0 MiB found no memory although 65.0 MiB are free"));
  // With pages of 20 MiB one page of each freed block lies free by itself: 40 MiB go back to a device with 5 left.
  CHECK(history.refused->expandable_grants == true);
  CHECK(says(reading.causes.front().cure, "expandable_segments:True"));
}

TEST_CASE("memory snapshot: a request above all that is free is no fragmentation, and says how much is missing") {
  const MemorySnapshot snapshot =
      snapshot_of({segment(0, 100, {block(0, 90, true, 4), block(90, 10, false)})},
                  {event("segment_alloc", 0, 100, 4, 1), event("alloc", 0, 90, 4, 2), event("oom", 5, 40, 9, 3)});
  RunReading reading;
  add_memory_reading({&snapshot, 1}, {}, reading);
  REQUIRE(reading.causes.size() == 1);
  CHECK(reading.causes.front().kind == CauseKind::out_of_memory);
  CHECK(says(reading.causes.front().says, "40.0 MiB found 15.0 MiB free: 25.0 MiB too little"));
  CHECK(says(reading.causes.front().says, "90.0 MiB, is held by train.py:4 step"));
}

TEST_CASE("memory snapshot: what was there before the record is undone to, and who holds it stays unknown") {
  // 10 MiB were allocated before, and freed within the record; 20 MiB more stay.
  const MemorySnapshot snapshot =
      snapshot_of({segment(0, 40, {block(0, 10, false), block(10, 20, true, 6), block(30, 10, false)})},
                  {event("alloc", 10, 20, 6, 1), event("free_completed", 0, 10, 0, 2)});
  const MemoryHistory history = memory_histories(snapshot).front();
  CHECK(in_mib(history.peak.allocated) == 30.0);
  CHECK(in_mib(history.moments.front().allocated) == 10.0);
  REQUIRE(history.holders.size() == 2);
  CHECK(history.holders[0].site == "train.py:6 step");
  CHECK(history.holders[1].site.empty());
  CHECK(in_mib(history.holders[1].held) == 10.0);
}

TEST_CASE("memory snapshot: a snapshot without a refused request names no cause") {
  const MemorySnapshot snapshot = snapshot_of({segment(0, 40, {block(0, 40, true, 1)})}, {});
  RunReading reading;
  add_memory_reading({&snapshot, 1}, {}, reading);
  CHECK(reading.causes.empty());
  CHECK(reading.notes.size() == 1);  // that no history was recorded
}

TEST_CASE("memory snapshot: segments without size, blocks that overlap and events without an address are all told") {
  try {
    static_cast<void>(snapshot_of({segment(0, 0, {}), segment(0, 40, {block(0, 30, true), block(20, 10, true)}),
                                   segment(0, 40, {block(30, 20, true)})},
                                  {pickled_table({{"action", pickled("alloc")}, {"size", pickled(8)}})}));
    FAIL("read");
  } catch (const ConfigError& error) {
    CHECK(says(error.what(), "segment 0: it needs an address and a total_size above 0"));
    CHECK(says(error.what(), "segment 1: the block"));
    CHECK(says(error.what(), "segment 2: the block"));
    CHECK(says(error.what(), "event 0 of device 0, 'alloc', needs a size and an address"));
  }
}

TEST_CASE("memory timeline: purposes sum to the peak, and each has a peak of its own") {
  const test::ScratchFolder scratch;
  // Parameters 100, activations up to 300 while gradients are 50, then gradients 200 alone.
  const std::string file = scratch.write("m.raw.json",
                                         "[[-1, 1, 100, 0], [1000, 2, 50, 5], [2000, 2, 300, 4], [3000, 4, -300, 4], "
                                         "[4000, 2, 150, 5]]");
  const MemoryTimeline timeline = read_memory_timeline(file);
  CHECK(timeline.peak.raw() == 450.0);
  CHECK(timeline.at_peak[0].raw() == 100.0);
  CHECK(timeline.at_peak[4].raw() == 300.0);
  CHECK(timeline.at_peak[5].raw() == 50.0);
  CHECK(timeline.own_peak[5].raw() == 200.0);
  CHECK(timeline.peak_ns == 1000);
  CHECK(timeline.span_ns == 3000);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_memory_timeline(scratch.write("n.json", "[[1, 2, 3, 8]]"))),
                       doctest::Contains("event 0 is none of"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_memory_timeline(scratch.write("o.json", "[]"))),
                       doctest::Contains("holds no event"), ConfigError);
}

}  // namespace
}  // namespace headroom
