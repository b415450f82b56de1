// SPDX-License-Identifier: Apache-2.0
// The pipeline of one priced step, stage by stage: its costs as the simulation takes them, and the trace that draws it.
#pragma once

#include <headroom/model/train/schedules/schedule.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <string>
#include <vector>

namespace headroom {

/// The shape of a strategy's pipeline for a global batch: micro-batches up to a flush.
[[nodiscard]] PipelineShape pipeline_shape(const Strategy& strategy, double global_batch) noexcept;

/// What one micro-batch takes on each virtual stage, in the order in which it meets them: the stage's layers, the head
/// on the last (a third of it forward), sends where the next virtual stage is on another GPU.
[[nodiscard]] std::vector<StageCosts> stage_costs(const StepModel& model,
                                                  const StepTable& table,
                                                  const Strategy& strategy,
                                                  double global_batch);

/// The passes of the step's pipeline up to a flush, event by event, without sends: for stages that are not alike.
/// Precondition: the schedule can run the strategy's micro-batches (check()).
[[nodiscard]] Seconds simulated_passes(const StepModel& model,
                                       const StepTable& table,
                                       const Strategy& strategy,
                                       double global_batch);

/// Trace-event JSON of the step's passes, for Perfetto or chrome://tracing. Gradients of data parallelism, the
/// optimizer and stragglers are not drawn. ConfigError naming the rule when the schedule cannot run the strategy's
/// micro-batches.
[[nodiscard]] std::string step_trace(const StepModel& model,
                                     const StepTable& table,
                                     const Strategy& strategy,
                                     double global_batch);

}  // namespace headroom
