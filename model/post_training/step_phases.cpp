// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/step_phases.hpp>

#include <algorithm>

namespace headroom {

StepPhases step_of_phases(const PhaseTimes& p, const PostTrainFlow& flow) noexcept {
  StepPhases all;
  const Seconds train = p[Phase::reward] + p[Phase::logprob] + p[Phase::reference] + p[Phase::critic] + p[Phase::train];
  if (flow.placement == PostTrainPlacement::colocated) {
    all.step = p.total();
    all.rollout_busy = p[Phase::rollout];
    all.train_busy = all.step - p[Phase::rollout];
    return all;
  }
  Seconds rollout = p[Phase::rollout];
  Seconds sync = p[Phase::sync] + p[Phase::swap];
  const bool waits_for_all = flow.order == PostTrainOrder::synchronous ||
                             (flow.order == PostTrainOrder::asynchronous && flow.staleness <= 0.0 && !flow.partial);
  if (flow.order == PostTrainOrder::asynchronous) {
    const double hidden = flow.partial ? 1.0 : std::clamp(flow.staleness, 0.0, 1.0);
    const Seconds steady = std::min(rollout, flow.rollout_steady);
    rollout = rollout - hidden * (rollout - steady);
    sync = sync / std::max(1.0, flow.sync_every);
  }
  all.rollout_busy = rollout;
  all.train_busy = train + p[Phase::other];
  all.rollout_binds = rollout > train;
  all.step =
      waits_for_all ? rollout + train + sync + p[Phase::other] : std::max(rollout, train) + sync + p[Phase::other];
  all.waits = waits_for_all ? rollout : std::max(Seconds{}, rollout - train);
  if (all.step > Seconds{}) {
    all.rollout_idle = std::max(0.0, 1.0 - (rollout + sync) / all.step);
    all.train_idle = all.waits / all.step;
  }
  return all;
}

}  // namespace headroom
