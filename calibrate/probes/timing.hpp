// SPDX-License-Identifier: Apache-2.0
// Time of one kernel: many of them in one CUDA graph, replayed between events, so that the host's launches do not
// count.
#pragma once

#include <headroom/calibrate/probes/cuda_handles.hpp>
#include <headroom/calibrate/probes/spans.hpp>

#include <functional>
#include <vector>

namespace headroom::probes {

/// Enqueues the i-th kernel; it throws when the launch is refused.
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

/// Seconds of one kernel when few are launched into a stream: warms the kernel up (its code is loaded at first use,
/// which a capture forbids) and is at least right in order of magnitude, launch overhead included.
[[nodiscard]] double rough_seconds(const Stream& stream, const Enqueue& enqueue);

/// Seconds of one kernel in each of `repeats` replays, after one untimed.
[[nodiscard]] std::vector<double> time_spans(const Stream& stream, const Replay& replay, std::int64_t repeats);

/// The same for at least `least` seconds, back to back, without an untimed replay: the first span is what a rested
/// device does.
[[nodiscard]] std::vector<double> time_sustained(const Stream& stream, const Replay& replay, double least);

}  // namespace headroom::probes
