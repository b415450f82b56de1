// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_trace.hpp>
#include <headroom/model/train/step/step_trace.hpp>

namespace headroom {
namespace {

/// "an even number of stages", "a number of stages that divides by 3".
std::string multiple_of(std::int32_t number, const std::string& of_what) {
  return number == 2 ? "an even number of " + of_what
                     : "a number of " + of_what + " that divides by " + std::to_string(number);
}

std::string why_broken(ScheduleRule rule, const PipelineShape& shape) {
  const ScheduleModel& model = model_of(shape.schedule);
  const std::string needs = std::string{model.title} + " needs ";
  switch (rule) {
    case ScheduleRule::counts_positive: return "a pipeline needs at least one stage, chunk and micro-batch";
    case ScheduleRule::chunks_fixed: return std::string{model.title} + " chooses its own chunks";
    case ScheduleRule::stages_multiple: return needs + multiple_of(model.rules.stages_multiple, "stages");
    case ScheduleRule::micro_batches_multiple:
      return needs + multiple_of(model.rules.micro_batches_multiple, "micro-batches");
    case ScheduleRule::micro_batches_a_stage:
      return needs + "at least " + std::to_string(model.rules.micro_batches_a_stage * shape.stages) +
             " micro-batches for " + std::to_string(shape.stages) + " stages; it has " +
             std::to_string(shape.micro_batches);
    case ScheduleRule::none: break;
  }
  return {};
}

/// Layers of each stage; the sum is the network's.
std::vector<double> layers_of_stages(const StepModel& model, const Strategy& s) {
  const double layers = model.layers();
  const StageLayers split = model.stages(s);
  std::vector<double> each(s.pp, split.middle);
  each.front() = split.first;
  each.back() = split.last;
  if (states_stages(s)) {
    return each;
  }
  double over = -layers;
  for (const double n : each) {
    over += n;
  }
  // The embedding counts as a layer of the first stage, or fewer stages than all but the last are full.
  for (std::size_t stage = each.size() > 2 && over > 1.0 ? each.size() - 1 : 0; over > 0.5 && stage < each.size();) {
    each[stage] -= 1.0;
    over -= 1.0;
    stage = stage > 0 ? stage - 1 : each.size();
  }
  return each;
}

}  // namespace

PipelineShape pipeline_shape(const Strategy& s, double global_batch) noexcept {
  const double micro_batches = micro_batches_a_flush(s, global_batch / (static_cast<double>(s.dp) * s.micro_batch));
  return {s.schedule, s.pp, chunks_of(s.schedule, s.vpp), static_cast<std::int32_t>(micro_batches), false};
}

std::vector<StageCosts> stage_costs(const StepModel& model,
                                    const StepTable& table,
                                    const Strategy& s,
                                    double global_batch) {
  const PipelineShape shape = pipeline_shape(s, global_batch);
  const StepTime t = model.time(table, s, global_batch);
  const std::vector<double> layers = layers_of_stages(model, s);
  const LayerTimes& l = table.layer;
  const Seconds forward = l.forward.total() + l.host_forward + l.sync;
  const Seconds fixed = model.stage_overhead(s) / shape.chunks;
  const Seconds head = table.head.total() / 3.0;
  std::vector<StageCosts> costs(static_cast<std::size_t>(shape.positions()));
  for (std::int32_t position = 0; position < shape.positions(); ++position) {
    const std::int32_t stage = stage_of(shape, position, 0);
    const double count = layers[static_cast<std::size_t>(stage)] / shape.chunks;
    const bool last = position + 1 == shape.positions();
    const Seconds end = last ? head : Seconds{};
    StageCosts& c = costs[static_cast<std::size_t>(position)];
    c.forward = count * forward + end + fixed;
    c.backward_weight = count * l.weight_gradients + end;
    c.backward_input = count * (t.layer - forward - l.weight_gradients) + end;
    c.send_forward = !last && stage_of(shape, position + 1, 0) != stage ? t.send : Seconds{};
    c.send_backward = position > 0 && stage_of(shape, position - 1, 0) != stage ? t.send : Seconds{};
    c.forward_with_backward = c.compute() - count * l.pair_gain(model_of(s.schedule).overlaps_passes);
  }
  return costs;
}

Seconds simulated_passes(const StepModel& model, const StepTable& table, const Strategy& s, double global_batch) {
  const PipelineShape shape = pipeline_shape(s, global_batch);
  std::vector<StageCosts> costs = stage_costs(model, table, s, global_batch);
  for (StageCosts& c : costs) {
    c.send_forward = c.send_backward = Seconds{};  // priced apart
  }
  return simulate_schedule(shape, costs).total;
}

std::string step_trace(const StepModel& model, const StepTable& table, const Strategy& s, double global_batch) {
  const PipelineShape shape = pipeline_shape(s, global_batch);
  if (const ScheduleRule rule = broken_rule(shape); rule != ScheduleRule::none) {
    throw ConfigError{"no trace: " + why_broken(rule, shape)};
  }
  const double flushes = global_batch / (static_cast<double>(s.dp) * s.micro_batch * shape.micro_batches);
  return schedule_trace(shape, simulate_schedule(shape, stage_costs(model, table, s, global_batch)),
                        static_cast<std::int32_t>(flushes));
}

}  // namespace headroom
