// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/advice/sweep.hpp>

namespace headroom {
namespace {

template <class Q>
Interval<Q> scaled(const Interval<Q>& one, double factor) noexcept {
  return {factor * one.low, factor * one.mid, factor * one.high};
}

/// Rungs beyond the first, in whole numbers: a logarithm misses exact powers.
std::int64_t last_rung(const SweepQuestion& q) noexcept {
  std::int64_t rungs = 0;
  for (std::int64_t power = q.eta; power <= q.configurations && power * q.least <= q.most; power *= q.eta) {
    ++rungs;
  }
  return rungs;
}

}  // namespace

SweepPlan plan_sweep(const SweepQuestion& q, const RunPrice& run) {
  SweepPlan plan;
  plan.question = q;
  const Seconds unit = run.duration.mid / real(q.most);
  const std::int64_t last = last_rung(q);
  std::int64_t parts = 1;  // of a whole run that the first rung trains
  for (std::int64_t i = 0; i < last; ++i) {
    parts *= q.eta;
  }
  double before = 0.0, in_turn = 0.0;
  for (std::int64_t kept = 1;; kept *= q.eta, parts /= q.eta) {
    Rung rung;
    rung.configurations = q.configurations / kept;
    rung.resource = real(q.most) / real(parts);
    const double fresh = rung.resource - before;
    const double each = q.resume ? fresh : rung.resource;
    rung.units = real(rung.configurations) * each;
    const std::int64_t turns = (rung.configurations + q.parallel - 1) / q.parallel;
    rung.duration = real(turns) * each * unit;
    in_turn += real(turns) * each;
    plan.anew_units += real(rung.configurations) * rung.resource;
    plan.resumed_units += real(rung.configurations) * fresh;
    before = rung.resource;
    plan.rungs.push_back(rung);
    if (parts == 1) {
      break;
    }
  }
  plan.units = q.resume ? plan.resumed_units : plan.anew_units;
  plan.full_units = real(q.configurations) * real(q.most);
  plan.duration = scaled(run.duration, in_turn / real(q.most));
  plan.gpu_hours = scaled(run.gpu_hours, plan.units / real(q.most));
  if (run.cost) {
    plan.cost = scaled(*run.cost, plan.units / real(q.most));
  }
  return plan;
}

}  // namespace headroom
