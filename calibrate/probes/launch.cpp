// SPDX-License-Identifier: Apache-2.0
// Cost of launching an empty kernel: into a stream, on the host, as a node of a graph.
#include <headroom/calibrate/probes/kernels.hpp>
#include <headroom/calibrate/probes/pass_kernels.hpp>
#include <headroom/calibrate/probes/session.hpp>
#include <headroom/calibrate/probes/timing.hpp>

#include <chrono>

namespace headroom::probes {
namespace {

enum class Op : std::int32_t {  // NOLINT(performance-enum-size): Request::variant
  stream,
  stream_host,
  graph,
  sync,
  replay,
  rate
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void launch_empty(std::int64_t /*i*/, cudaStream_t stream) {
  check(empty(stream), "empty kernel");
}

/// Seconds per kernel of one span that starts on an idle device: by events, or the host's time in the calls.
double one_stream_span(const Session& session, std::int64_t count, bool host) {
  const Event begin;
  const Event end;
  session.stream.wait();
  begin.record(session.stream);
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    launch_empty(i, session.stream.get());
  }
  const double spent = seconds_since(start);
  end.record(session.stream);
  end.wait();
  return (host ? spent : end.since(begin)) / static_cast<double>(count);
}

double one_graph_span(const Session& session, const Replay& replay) {
  const Event begin;
  const Event end;
  session.stream.wait();
  begin.record(session.stream);
  replay.start(session.stream);
  end.record(session.stream);
  end.wait();
  return end.since(begin) / static_cast<double>(replay.launches());
}

/// Seconds by the host's clock from the launch of a kernel until it has ended, mean over `count` launches.
double one_sync_span(const Session& session, std::int64_t count) {
  session.stream.wait();
  const Clock::time_point start = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) {
    launch_empty(i, session.stream.get());
    session.stream.wait();
  }
  return seconds_since(start) / static_cast<double>(count);
}

/// Seconds by the host's clock from the launch of a graph until it has ended, per kernel in it.
double one_replay_span(const Session& session, const Replay& replay) {
  session.stream.wait();
  const Clock::time_point start = Clock::now();
  replay.start(session.stream);
  session.stream.wait();
  return seconds_since(start) / static_cast<double>(replay.launches());
}

/// Seconds per kernel when all are queued before the first may start: another kernel holds the stream for longer than
/// the host should need to launch them, which is verified.
double one_rate_span(const Session& session, std::int64_t count) {
  constexpr std::int64_t microseconds_each = 20;
  const Event begin;
  const Event end;
  session.stream.wait();
  check(spin(microseconds_each * count, session.stream.get()), "spin kernel");
  begin.record(session.stream);
  for (std::int64_t i = 0; i < count; ++i) {
    launch_empty(i, session.stream.get());
  }
  end.record(session.stream);
  const cudaError_t state = cudaEventQuery(begin.get());
  if (state == cudaSuccess) {
    session.stream.wait();
    throw Refused{"the host was too slow to queue the kernels before the first began"};
  }
  if (state != cudaErrorNotReady) {
    check(state, "cudaEventQuery");
  }
  cudaGetLastError();  // clears "not ready", the expected status
  end.wait();
  return end.since(begin) / static_cast<double>(count);
}

/// Calls that pay for loading code and growing queues.
constexpr std::int64_t warm_up = 3;

template <class Span>
Result repeated(std::int64_t repeats, std::int64_t launches, Span span) {
  std::vector<double> seconds;
  for (std::int64_t i = 0; i < repeats + warm_up; ++i) {
    const double one = span();
    if (i >= warm_up) {
      seconds.push_back(one);
    }
  }
  return summary(seconds, launches);
}

}  // namespace

Result measure_launch(const Session& session, const Request& request) {
  if (request.count <= 0) {
    throw Refused{"launches must be counted from 1"};
  }
  const Op op{request.variant};
  if (request.variant < 0 || op > Op::rate) {
    throw Refused{"unknown kind of launch"};
  }
  if (op == Op::graph || op == Op::replay) {
    launch_empty(0, session.stream.get());
    const Replay replay{session.stream, request.count, launch_empty};
    return repeated(request.repeats, request.count, [&] {
      return op == Op::graph ? one_graph_span(session, replay) : one_replay_span(session, replay);
    });
  }
  if (op == Op::sync) {
    return repeated(request.repeats, request.count, [&] { return one_sync_span(session, request.count); });
  }
  if (op == Op::rate) {
    return repeated(request.repeats, request.count, [&] { return one_rate_span(session, request.count); });
  }
  return repeated(request.repeats, request.count,
                  [&] { return one_stream_span(session, request.count, op == Op::stream_host); });
}

}  // namespace headroom::probes
