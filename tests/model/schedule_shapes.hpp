// SPDX-License-Identifier: Apache-2.0
// Pipelines that a schedule's own rules allow, whichever it is.
#pragma once

#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>
#include <cstdint>

namespace headroom::test {

inline std::int32_t next_multiple(std::int32_t number, std::int32_t step) {
  return (number + step - 1) / step * step;
}

/// The shape with the first numbers from its own on that the schedule's order allows.
inline PipelineShape allowed(PipelineShape s) {
  const OrderRules& rules = model_of(s.schedule).rules;
  s.chunks = chunks_of(s.schedule, s.chunks);
  s.stages = next_multiple(s.stages, rules.stages_multiple);
  s.micro_batches =
      next_multiple(std::max(s.micro_batches, rules.micro_batches_a_stage * s.stages), rules.micro_batches_multiple);
  return s;
}

}  // namespace headroom::test
