// SPDX-License-Identifier: Apache-2.0
// Time of one kernel: a CUDA graph of many is replayed between events, so that the host's launches do not count.
#pragma once

#include <headroom/calibrate/probes/cuda_handles.hpp>
#include <headroom/calibrate/probes/spans.hpp>

#include <functional>
#include <vector>

namespace headroom::probes {

/// Enqueues the i-th kernel; throws when the launch is refused.
using Enqueue = std::function<void(std::int64_t i, cudaStream_t stream)>;

/// `launches` kernels as one executable graph.
class Replay {
 public:
  Replay(const Stream& stream, std::int64_t launches, const Enqueue& enqueue);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  Replay(Replay&&) = delete;
  Replay& operator=(Replay&&) = delete;
  ~Replay();

  void start(const Stream& stream) const;
  [[nodiscard]] std::int64_t launches() const noexcept { return launches_; }

 private:
  cudaGraphExec_t exec_ = nullptr;
  std::int64_t launches_;
};

/// Approximate seconds per kernel when a few are launched into a stream, launch overhead included. Also loads the
/// kernel's code, which a capture forbids.
[[nodiscard]] double rough_seconds(const Stream& stream, const Enqueue& enqueue);

/// Seconds per kernel in each of `repeats` replays, after an untimed one.
[[nodiscard]] std::vector<double> time_spans(const Stream& stream, const Replay& replay, std::int64_t repeats);

/// The summary of a request's spans of such a kernel, as many a span as fill it.
[[nodiscard]] Result replayed_spans(const Stream& stream, const Request& request, const Enqueue& enqueue);

/// The same of launches that a graph cannot hold: these are enqueued one by one, and short spans include host time.
[[nodiscard]] Result replayed_or_streamed_spans(const Stream& stream, const Request& request, const Enqueue& enqueue);

/// Seconds per kernel in back-to-back replays of at least `least` seconds, without an untimed one, so that the first
/// span shows a rested device.
[[nodiscard]] std::vector<double> time_sustained(const Stream& stream, const Replay& replay, double least);

}  // namespace headroom::probes
