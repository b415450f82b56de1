// SPDX-License-Identifier: Apache-2.0
// What was read of a run before anything is concluded: one member for each kind of thing that files hold.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/calibrate/messages/run_messages.hpp>
#include <headroom/calibrate/ranks/rank_record.hpp>
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/snapshots/memory_snapshot.hpp>
#include <headroom/calibrate/snapshots/memory_timeline.hpp>
#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <vector>

namespace headroom {

struct Evidence {
  std::vector<std::string> files;         ///< in the order in which they were named
  std::vector<TracedRank> ranks;          ///< of profilers' traces, one a process
  Signals signals;                        ///< of telemetry, logs and tables over time
  std::vector<RankRecord> records;        ///< of flight recorders, one a rank
  std::vector<MemorySnapshot> snapshots;  ///< of PyTorch's allocator, one a process
  std::vector<MemoryTimeline> timelines;  ///< of PyTorch's memory profiler, one a process
  std::vector<RunMessages> messages;      ///< of logs, one a file
  std::vector<BenchmarkResult> results;   ///< of benchmarks, one a file
};

/// What all files together say: parts, causes with the most lost time first, tables, notes. Precondition: a file was
/// read.
[[nodiscard]] RunReading reading_of(const Evidence& evidence);

}  // namespace headroom
