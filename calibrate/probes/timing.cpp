// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/timing.hpp>

namespace headroom::probes {
namespace {

/// Stream capture that always ends, also when a launch throws.
class Capture {
 public:
  explicit Capture(const Stream& stream) : stream_{stream.get()} {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  Capture(Capture&&) = delete;
  Capture& operator=(Capture&&) = delete;
  ~Capture() {
    if (!ended_) {
      cudaGraph_t graph = nullptr;
      cudaStreamEndCapture(stream_, &graph);
      if (graph != nullptr) {
        cudaGraphDestroy(graph);
      }
    }
  }
  cudaGraph_t end() {
    ended_ = true;
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    return graph;
  }

 private:
  cudaStream_t stream_;
  bool ended_ = false;
};

/// Spans of kernels launched one by one, for a kernel that a graph cannot hold. Short spans include host time.
std::vector<double> stream_spans(const Stream& stream,
                                 std::int64_t launches,
                                 std::int64_t repeats,
                                 const Enqueue& one) {
  std::vector<double> seconds;
  for (std::int64_t span = 0; span <= repeats; ++span) {
    const Event begin;
    const Event end;
    begin.record(stream);
    for (std::int64_t i = 0; i < launches; ++i) {
      one(i, stream.get());
    }
    end.record(stream);
    end.wait();
    if (span > 0) {
      seconds.push_back(end.since(begin) / static_cast<double>(launches));
    }
  }
  return seconds;
}

}  // namespace

Replay::Replay(const Stream& stream, std::int64_t launches, const Enqueue& enqueue) : launches_{launches} {
  Capture capture{stream};
  for (std::int64_t i = 0; i < launches; ++i) {
    enqueue(i, stream.get());
  }
  cudaGraph_t graph = capture.end();
  const cudaError_t made = cudaGraphInstantiate(&exec_, graph, 0);
  cudaGraphDestroy(graph);
  check(made, "cudaGraphInstantiate");
  const cudaError_t uploaded = cudaGraphUpload(exec_, stream.get());
  if (uploaded != cudaSuccess) {
    cudaGraphExecDestroy(exec_);
    check(uploaded, "cudaGraphUpload");
  }
}

Replay::~Replay() {
  cudaGraphExecDestroy(exec_);
}

void Replay::start(const Stream& stream) const {
  check(cudaGraphLaunch(exec_, stream.get()), "cudaGraphLaunch");
}

double rough_seconds(const Stream& stream, const Enqueue& enqueue) {
  constexpr int kernels = 4;
  const Event begin;
  const Event end;
  enqueue(0, stream.get());
  stream.wait();
  begin.record(stream);
  for (int i = 0; i < kernels; ++i) {
    enqueue(i, stream.get());
  }
  end.record(stream);
  end.wait();
  return end.since(begin) / kernels;
}

std::vector<double> time_spans(const Stream& stream, const Replay& replay, std::int64_t repeats) {
  // All replays are queued at once, so that only device time lies between two events.
  const std::vector<Event> events(static_cast<std::size_t>(repeats) + 1);
  replay.start(stream);
  events.front().record(stream);
  for (std::size_t i = 1; i < events.size(); ++i) {
    replay.start(stream);
    events[i].record(stream);
  }
  events.back().wait();
  std::vector<double> seconds;
  for (std::size_t i = 1; i < events.size(); ++i) {
    seconds.push_back(events[i].since(events[i - 1]) / static_cast<double>(replay.launches()));
  }
  return seconds;
}

std::vector<double> time_sustained(const Stream& stream, const Replay& replay, double least) {
  constexpr std::size_t ahead = 3;  // queued replays: the device never waits, the host is never far ahead
  std::vector<Event> events(1);
  std::vector<double> seconds;
  double lasted = 0.0;
  events.front().record(stream);
  for (std::size_t done = 0; lasted < least;) {
    while (events.size() <= done + ahead) {
      replay.start(stream);
      events.emplace_back().record(stream);
    }
    ++done;
    events[done].wait();
    const double span = events[done].since(events[done - 1]);
    lasted += span;
    seconds.push_back(span / static_cast<double>(replay.launches()));
  }
  stream.wait();
  return seconds;
}

Result replayed_spans(const Stream& stream, const Request& request, const Enqueue& enqueue) {
  const double rough = rough_seconds(stream, enqueue);
  const Replay replay{stream, launches_for(request.span_seconds, rough, request.copies), enqueue};
  return summary(time_spans(stream, replay, request.repeats), replay.launches());
}

Result replayed_or_streamed_spans(const Stream& stream, const Request& request, const Enqueue& enqueue) {
  try {
    return replayed_spans(stream, request, enqueue);
  } catch (const Refused&) {
    cudaGetLastError();
  }
  const std::int64_t launches = launches_for(request.span_seconds, rough_seconds(stream, enqueue), request.copies);
  return summary(stream_spans(stream, launches, request.repeats, enqueue), launches);
}

}  // namespace headroom::probes
