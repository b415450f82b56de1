// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// High end of measured over modelled time; 1 for whole answers, whose extra time is queueing.
double longest_over_model(const ServeScenario& s, LatencyMetric metric) {
  switch (metric) {
    case LatencyMetric::ttft: return serving_errors(s, ServingQuantity::ttft).high;
    case LatencyMetric::tpot: return serving_errors(s, ServingQuantity::tpot).high;
    case LatencyMetric::e2e: break;
  }
  return 1.0;
}

}  // namespace

double slowest_iteration(const ServeScenario& s) {
  return 1.0 / serving_errors(s, ServingQuantity::rate).low;
}

void slow_down(ServingFleet& fleet, RequestLoad& load, double slower) {
  const auto shorten = [&](Picoseconds& time) { time = truncated(std::round(real(time.count()) / slower)); };
  for (Request& request : load.requests) {
    shorten(request.arrival);
  }
  shorten(fleet.front_end);
  fleet.transfer.rate = slower * fleet.transfer.rate;
  fleet.transfer.latency = fleet.transfer.latency / slower;
  for (OffloadTier& tier : fleet.tiers) {
    shorten(tier.per_block);
    shorten(tier.latency);
  }
  shorten(fleet.pool.engine.swap_per_block);
  if (fleet.prefill) {
    shorten(fleet.prefill->engine.swap_per_block);
  }
  for (BesideModel& other : fleet.beside) {
    shorten(other.engine.swap_per_block);
  }
}

std::vector<KeptPromise> judge_slow_end(const ServeScenario& s,
                                        const ServingMetrics& middle,
                                        const ServingMetrics& slow) {
  const double slower = slowest_iteration(s);
  std::vector<KeptPromise> judged = judge(*s.traffic, middle);
  const std::vector<KeptPromise> of_slow = judge(*s.traffic, slow);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    KeptPromise& one = judged[i];
    const Seconds queued = slower * of_slow[i].reached;
    one.reached = longest_over_model(s, one.promise.metric) * one.reached;
    one.reached = queued > one.reached ? queued : one.reached;  // keeps the NaN of answers without such a time
    one.refused = std::max(one.refused, of_slow[i].refused);
    one.unanswered = std::max(one.unanswered, of_slow[i].unanswered);
    one.kept = one.kept && !(one.reached > one.promise.limit) && !one.refuses() && one.unanswered == 0.0;
  }
  return judged;
}

}  // namespace headroom
