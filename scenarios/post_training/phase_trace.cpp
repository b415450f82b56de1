// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <algorithm>
#include <string>

namespace headroom {

std::vector<PhaseEvent> phase_events(const PostTrainWay& way, int steps) {
  std::vector<PhaseEvent> events;
  const auto add = [&](Phase phase, bool samples, Seconds from, Seconds time) {
    if (time > Seconds{}) {
      events.push_back({phase, samples, from, from + time});
    }
  };
  const bool together = way.flow.placement == PostTrainPlacement::colocated;
  const bool all_train = way.flow.placement == PostTrainPlacement::hybrid;
  const bool ahead = !together && way.flow.order != PostTrainOrder::synchronous;
  for (int step = 0; step < steps; ++step) {
    const Seconds start = static_cast<double>(step) * way.step.step;
    const Seconds rollout = way.step.rollout_busy;
    add(Phase::rollout, true, start, rollout);
    Seconds now = ahead ? start : start + rollout;
    for (const Phase each :
         {Phase::swap, Phase::reward, Phase::logprob, Phase::reference, Phase::critic, Phase::train}) {
      add(each, together, now, way.phases[each]);
      if (all_train) {
        add(each, true, now, way.phases[each]);
      }
      now += way.phases[each];
    }
    now = std::max(now, start + rollout);
    add(Phase::sync, together, now, way.phases[Phase::sync]);
    add(Phase::other, together, now + way.phases[Phase::sync], way.phases[Phase::other]);
  }
  return events;
}

std::string phase_trace(const PostTrainPlan& plan) {
  if (!plan.taken) {
    throw ConfigError{plan.balance ? "stages that feed each other have no phases; --trace draws a step of [post_train]"
                                   : "no way to lay the step out is possible, so that it has no trace"};
  }
  constexpr double microseconds = 1e6;
  const PostTrainWay& way = plan.ways[*plan.taken];
  const auto named = [](int pid, const std::string& name) {
    return R"({"name": "process_name", "ph": "M", "pid": )" + std::to_string(pid) + R"(, "args": {"name": ")" + name +
           R"("}})";
  };
  const bool together = way.flow.placement == PostTrainPlacement::colocated;
  std::string text = "\n" + named(0, std::to_string(way.rollout_gpus) + (together ? " GPUs" : " GPUs that sample"));
  text += together ? "" : ",\n" + named(1, std::to_string(way.train_gpus) + " GPUs that train");
  for (const PhaseEvent& event : phase_events(way, 3)) {
    text += ",\n";
    text += R"({"name": ")" + std::string{phase_names[static_cast<std::size_t>(event.phase)]} +
            R"(", "ph": "X", "pid": )" + (event.samples ? "0" : "1") + R"(, "tid": 0, "ts": )" +
            shortest_text(microseconds * event.from.raw()) + R"(, "dur": )" +
            shortest_text(microseconds * (event.to - event.from).raw()) + "}";
  }
  return R"({"displayTimeUnit": "ms", "traceEvents": [)" + text + "\n]}\n";
}

}  // namespace headroom
