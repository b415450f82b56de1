// SPDX-License-Identifier: Apache-2.0
// One simulated step as a trace that Perfetto and chrome://tracing open.
#pragma once

#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <string>

namespace headroom {

/// Trace-event JSON (Google, "Trace Event Format": complete events "X" and metadata "M"). A process for each stage,
/// with a thread for its compute and one for each stream of sends; times in microseconds from the start of the step.
/// Names are F, B (whole backward), I (input gradient), W (weight gradient), FB (overlapped pair) with micro-batch and
/// chunk. `step` is run `flushes` times (>= 1), one after another.
[[nodiscard]] std::string schedule_trace(const PipelineShape& shape,
                                         const SimulatedStep& step,
                                         std::int32_t flushes = 1);

}  // namespace headroom
