// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/rank_conduct.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

Seconds synced_wait(Seconds dispatch, Seconds exposed, double every) noexcept {
  return every > 0.0 ? std::max(Seconds{}, dispatch - exposed) / every : Seconds{};
}

double slowest_share(const RankConduct& conduct, double fitted, double n) noexcept {
  const double spread = conduct.spread ? *conduct.spread * largest_of(n) : fitted;
  return std::max(spread, conduct.slow_rank);
}

ConductCost conduct_cost(const RankConduct& conduct, const Breakdown& time) noexcept {
  ConductCost cost;
  const Seconds total = time.total();
  const Seconds rest = total - time[Term::straggler] - time[Term::data] - time[Term::measured_level];
  if (rest.raw() <= 0.0) {
    return cost;
  }
  cost.slowest = time[Term::straggler] / rest;
  if (conduct.sync_every > 0.0) {
    cost.sync = time[Term::host_sync];
    cost.sync_throughput = -(1.0 + cost.slowest) * (cost.sync / total);
  }
  return cost;
}

Seconds StepModel::dispatch(const Strategy& s, const StepTime& t) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  if (r.conduct.dispatch) {
    return *r.conduct.dispatch;
  }
  const bool graphs = s.cuda_graphs || r.experts.launch == ExpertLaunch::full_graphs;
  const double passes = s.recompute == Recompute::full ? 4.0 : 3.0;  // the backward pass launches twice as much
  const double tensor = 1.0 + r.physics.tp_host * std::log2(static_cast<double>(s.tp));
  const Seconds layer = graphs ? r.physics.graph_nodes * r.physics.graph_node : tensor * r.stack.host;
  return t.micro_batches * t.layers * passes * layer;
}

/// What a host adds that reads the GPU back between steps.
void StepModel::add_reads(const Strategy& s, StepTime& t) const noexcept {
  const RankConduct& conduct = pricer_.recipe().conduct;
  if (conduct.sync_every > 0.0 && on(Term::host_sync)) {
    t.dispatch = dispatch(s, t);
    t.synced = synced_wait(t.dispatch, t.time[Term::host], conduct.sync_every);
    t.time[Term::host_sync] += t.synced;
  }
}

void StepModel::add_stragglers(StepTime& t) const noexcept {
  t.sharers = real(groups_->ranks());
  if (on(Term::straggler)) {
    const RankConduct& conduct = pricer_.recipe().conduct;
    const Seconds rest = t.time.total();
    t.time[Term::straggler] = conduct.states_ranks() ? slowest_share(conduct, fitted_stragglers(), t.sharers) * rest
                                                     : fitted_stragglers() * rest + board_wait_ * compute_of(t.time);
  }
}

}  // namespace headroom
