// SPDX-License-Identifier: Apache-2.0
// What one process did as a graph: calls of its host in order, work of its GPU in streams, and what each waits for.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

enum class CallKind : std::uint8_t {
  launch,
  sync,    ///< waits for the GPU
  memory,  ///< asks the driver for memory or gives it back
  copy     ///< waits until its own copy of many bytes is done
};

/// A call of the runtime that sends work or waits.
struct GraphCall {
  TraceTime begin = 0, end = 0;
  TraceTime gap = 0;   ///< before it, in which the host did not fetch samples
  TraceTime data = 0;  ///< before it, in which it did
  CallKind kind = CallKind::launch;
  bool sent_back = false;   ///< of a copy: to the host
  std::int32_t waits = -1;  ///< work that has to end before it returns; -1: none
  std::int32_t step = 0;    ///< index of a window
};

enum class WorkUse : std::uint8_t { other, product, attention, pass };

/// A trace holds millions of these: what needs no more has 32 bit.
struct GraphWork {
  TraceTime begin = 0, end = 0;
  TraceTime lag = 0;         ///< after what it stands behind, where nothing in the trace says why
  std::int32_t reach = 0;    ///< from its call's begin to its own, where nothing else held it up; nanoseconds
  std::int32_t call = -1;    ///< that sent it; -1: not in the trace
  std::int32_t behind = -1;  ///< before it in its stream
  std::int32_t after = -1;   ///< of another stream, that it waits for
  std::int32_t name = 0;     ///< of RankGraph::names
  std::int32_t step = 0;     ///< index of a window
  DeviceWork work = DeviceWork::compute;
  WorkUse use = WorkUse::other;
  bool backward = false;  ///< sent by the thread of backward passes
  bool wide = false;      ///< a product of operands of 32 bit
  bool to_host = false;   ///< a copy to the host
  std::int32_t stream = 0;
  std::int32_t blocks = 0;  ///< of its grid, at most 2^31 - 1
  float bytes = 0.0F, flop = 0.0F;
  [[nodiscard]] TraceTime lasts() const noexcept { return end - begin; }
};

/// From the end of the step before to the end of this one, on the GPU.
struct GraphWindow {
  TraceTime begin = 0, end = 0;
  std::int64_t number = -1;  ///< of "ProfilerStep#N"; -1: not stated
};

struct RankGraph {
  std::vector<GraphWindow> steps;  ///< in order, each where the one before ends; one of all where none is named
  std::vector<GraphCall> calls;    ///< by begin
  std::vector<GraphWork> work;     ///< by begin
  std::vector<std::string> names;
  TraceTime host_begin = 0;  ///< when its host is free for the first call's gap
  /// A message that never ended before the trace did: how long it had gone on. 0: none.
  TraceTime hangs = 0;
  std::string hangs_in;      ///< its kernel
  double hangs_bytes = 0.0;  ///< of its message; 0: not stated
  TraceTime last = 0;        ///< end of the last work in the trace
};

/// The graph of a GPU over the windows. Threads that send work are one program in the order of their calls.
[[nodiscard]] RankGraph rank_graph(const Timeline& timeline, std::int32_t device, std::vector<GraphWindow> steps);
/// The same, which gives the timeline's work up as soon as the graph has its own: of a large trace there is not room
/// for both.
[[nodiscard]] RankGraph rank_graph(Timeline&& timeline, std::int32_t device, std::vector<GraphWindow> steps);

}  // namespace headroom
