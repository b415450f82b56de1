// SPDX-License-Identifier: Apache-2.0
// What closed forms are written in. Each is the longest of a few chains of passes and sends that wait for one another;
// which chain is longest depends on the costs. A chain is counted in passes of each kind, found by counting those of
// simulated critical paths.
#pragma once

#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace headroom {

/// Raw seconds of one virtual stage.
struct PassLengths {
  explicit PassLengths(const StageCosts& c) noexcept
      : f{c.forward.raw()},
        b{c.backward_input.raw()},
        w{c.backward_weight.raw()},
        there{c.send_forward.raw()},
        back{c.send_backward.raw()},
        pair{c.forward_with_backward.raw()} {}
  double f, b, w, there, back, pair;

  /// A send that keeps the sender busy lengthens its pass.
  void keep_sends_inside() noexcept {
    pair += there + back;
    f += there;
    b += back;
    there = back = 0.0;
  }
  [[nodiscard]] double both() const noexcept { return f + b + w; }
  [[nodiscard]] double sends() const noexcept { return there + back; }
};

/// Passes of a chain; `trips` are sends there and back.
struct PassChain {
  double f = 0.0, b = 0.0, w = 0.0, trips = 0.0;
  [[nodiscard]] double length(const PassLengths& x) const noexcept {
    return f * x.f + b * x.b + w * x.w + trips * x.sends();
  }
};

/// How far `steps` micro-batches outrun the round trips between the last stage and others: every return over d stages
/// moves on by d micro-batches and adds d - 1 trips, and the longest has p stages.
[[nodiscard]] inline double round_trips(std::int32_t steps, std::int32_t stages) noexcept {
  return real(steps - (steps + stages - 1) / stages);
}

/// Every stage waits for the first forward pass and the last backward pass: (m + p - 1)(F + B) + 2 (p - 1) c (Huang et
/// al. 2019, section 2.3).
[[nodiscard]] inline double fill_and_drain(const PipelineShape& s, const PassLengths& x) noexcept {
  return real(s.micro_batches + s.stages - 1) * x.both() + real(s.stages - 1) * x.sends();
}

/// One micro-batch's way through, there and back.
[[nodiscard]] inline double way_through(std::span<const StageCosts> costs) noexcept {
  double way = 0.0;
  for (const StageCosts& c : costs) {
    way += (c.compute() + c.send_forward + c.send_backward).raw();
  }
  return way;
}

}  // namespace headroom
