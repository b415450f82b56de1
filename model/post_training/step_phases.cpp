// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/step_phases.hpp>

#include <algorithm>

namespace headroom {

StepPhases step_of_phases(const PhaseTimes& p, const PostTrainFlow& flow) noexcept {
  StepPhases all;
  const Seconds train = p[Phase::reward] + p[Phase::logprob] + p[Phase::reference] + p[Phase::critic] + p[Phase::train];
  if (flow.placement != PostTrainPlacement::split) {
    all.step = p.total();
    all.rollout_busy = p[Phase::rollout];
    all.train_busy = all.step - p[Phase::rollout];
    if (flow.placement == PostTrainPlacement::hybrid) {  // those that do not sample stand still meanwhile
      all.waits = all.rollout_busy;
      all.train_idle = all.step > Seconds{} ? all.waits / all.step : 0.0;
      all.rollout_binds = all.rollout_busy > train;
    }
    return all;
  }
  Seconds rollout = p[Phase::rollout];
  const Seconds sync = p[Phase::sync] + p[Phase::swap];
  double beside = flow.order == PostTrainOrder::one_step_off ? 1.0 : 0.0;
  if (flow.order == PostTrainOrder::asynchronous) {
    const double hidden = flow.partial ? 1.0 : std::clamp(flow.staleness - 1.0, 0.0, 1.0);
    rollout = rollout - hidden * (rollout - std::min(rollout, flow.rollout_steady));
    beside = std::clamp(flow.staleness + 1.0 - 1.0 / std::max(1.0, flow.parts), 0.0, 1.0);
  }
  all.rollout_busy = rollout;
  all.train_busy = train + p[Phase::other];
  all.rollout_binds = rollout > train;
  Seconds both = std::max(rollout, train) + (1.0 - beside) * std::min(rollout, train);
  if (flow.order == PostTrainOrder::asynchronous) {
    const Seconds bound = (flow.group + train / std::max(1.0, flow.parts)) / (1.0 + std::max(0.0, flow.staleness));
    all.age_binds = flow.group > Seconds{} && bound > both;
    both = all.age_binds ? bound : both;
  }
  all.step = both + sync + p[Phase::other];
  all.waits = both - train;
  if (all.step > Seconds{}) {
    all.rollout_idle = std::max(0.0, 1.0 - (rollout + sync) / all.step);
    all.train_idle = all.waits / all.step;
  }
  return all;
}

}  // namespace headroom
