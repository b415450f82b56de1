// SPDX-License-Identifier: Apache-2.0
// Random pipelines, for property tests.
#pragma once

#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <rapidcheck.h>

#include "schedule_shapes.hpp"
#include <algorithm>
#include <vector>

namespace headroom::test {

/// Of the whole range from the first case on: rapidcheck's own ranges start small.
inline int any_from(int low, int below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, below));
}

inline double any_between(double low, double high) {
  return low + (high - low) * any_from(0, 10001) / 10000.0;
}

/// A shape that the schedule's order allows. Chunks that the strategy chooses: whole groups of p micro-batches, as
/// strategies must have them.
inline PipelineShape any_shape(Schedule schedule) {
  PipelineShape s = allowed({schedule, any_from(1, 17), 1, any_from(1, 97)});
  if (model_of(schedule).takes_chunks()) {
    s.chunks = any_from(1, 7);
    s.micro_batches = s.chunks > 1 ? s.stages * any_from(1, 9) : s.micro_batches;
  }
  return s;
}

inline PipelineShape any_shape() {
  return any_shape(static_cast<Schedule>(any_from(0, static_cast<int>(schedule_count))));
}

/// Passes in the ratios of transformer layers, recomputation included; sends up to a tenth of a forward pass.
inline StageCosts any_costs() {
  const double forward = any_between(1e-3, 0.1);
  const double input = forward * any_between(0.6, 2.0);
  const double weight = forward * any_between(0.5, 1.2);
  const double least = std::max(forward, input + weight);
  const double pair = any_between(least, forward + input + weight);
  return {Seconds{forward},
          Seconds{input},
          Seconds{weight},
          Seconds{forward * any_between(0.0, 0.1)},
          Seconds{forward * any_between(0.0, 0.1)},
          Seconds{pair}};
}

/// Stages that differ, with sends from none to several passes long.
inline std::vector<StageCosts> any_uneven(const PipelineShape& shape) {
  std::vector<StageCosts> all;
  const double spread = *rc::gen::element(0.0, 0.1, 1.0);
  const double sends = *rc::gen::element(0.01, 0.1, 1.0, 20.0);
  const StageCosts even = any_costs();
  for (std::int32_t i = 0; i < shape.positions(); ++i) {
    StageCosts c = even;
    c.forward *= 1.0 + any_between(0.0, spread);
    c.backward_input *= 1.0 + any_between(-0.9 * spread, spread);
    c.backward_weight *= 1.0 + any_between(-0.9 * spread, spread);
    c.send_forward *= sends;
    c.send_backward *= sends;
    all.push_back(c);
  }
  return all;
}

}  // namespace headroom::test
