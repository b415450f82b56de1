// SPDX-License-Identifier: Apache-2.0
// Terms of the closed forms of a step's time. A closed form is the longest of a few chains, each a sequence of passes
// and sends that wait for one another; which is longest depends on the costs. The numbers of passes in a chain were
// counted on the critical paths of simulated steps.
#pragma once

#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace headroom {

/// Seconds of the passes and sends of one micro-batch on one virtual stage; each >= 0.
struct PassLengths {
  explicit PassLengths(const StageCosts& c) noexcept
      : f{c.forward.raw()},
        b{c.backward_input.raw()},
        w{c.backward_weight.raw()},
        there{c.send_forward.raw()},
        back{c.send_backward.raw()},
        pair{c.forward_with_backward.raw()} {}
  double f;            ///< forward
  double b;            ///< backward for the gradient of the input
  double w;            ///< backward for the gradient of the weights
  double there, back;  ///< sends of the output and of the input's gradient
  double pair;         ///< a forward and a whole backward, overlapped

  /// Counts sends that keep the sender busy as parts of the passes before them.
  void keep_sends_inside() noexcept {
    pair += there + back;
    f += there;
    b += back;
    there = back = 0.0;
  }
  [[nodiscard]] double both() const noexcept { return f + b + w; }
  [[nodiscard]] double sends() const noexcept { return there + back; }
};

/// A chain: how many passes of each kind, and how many round trips (`trips`, a send there and one back), are in it.
struct PassChain {
  double f = 0.0, b = 0.0, w = 0.0, trips = 0.0;
  [[nodiscard]] double length(const PassLengths& x) const noexcept {
    return f * x.f + b * x.b + w * x.w + trips * x.sends();
  }
};

/// Round trips of a chain that runs through `steps` micro-batches by going back and forth over a pipeline of `stages`
/// stages (p >= 1): a return over d <= p stages advances d micro-batches and costs d - 1 round trips, so that the
/// fewest returns, ceil(steps / p), cost steps - ceil(steps / p).
[[nodiscard]] inline double round_trips(std::int32_t steps, std::int32_t stages) noexcept {
  return real(steps - (steps + stages - 1) / stages);
}

/// Seconds of a step of m micro-batches on p stages in which every stage waits for the first forward and the last
/// backward pass: (m + p - 1)(F + B) + 2 (p - 1) c with a send of c seconds (Huang et al. 2019, section 2.3).
[[nodiscard]] inline double fill_and_drain(const PipelineShape& s, const PassLengths& x) noexcept {
  return real(s.micro_batches + s.stages - 1) * x.both() + real(s.stages - 1) * x.sends();
}

/// Seconds of one micro-batch through all virtual stages, forward and back, when nothing else runs: no step is shorter.
[[nodiscard]] inline double way_through(std::span<const StageCosts> costs) noexcept {
  double way = 0.0;
  for (const StageCosts& c : costs) {
    way += (c.compute() + c.send_forward + c.send_backward).raw();
  }
  return way;
}

}  // namespace headroom
