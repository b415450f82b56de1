// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Measured over modelled that is not exceeded with so much probability.
double most_over_model(const ServingErrors& errors, double probability) {
  return quantile_of(Interval<double>{errors.low, 1.0, errors.high}, probability);
}

}  // namespace

double longest_in_queue(const ServeScenario& s, LatencyMetric metric, double first, double probability) {
  const auto of = [&](ServingQuantity quantity) { return most_over_model(serving_errors(s, quantity), probability); };
  switch (metric) {
    case LatencyMetric::ttft: return of(ServingQuantity::queue_ttft);
    case LatencyMetric::tpot: return of(ServingQuantity::queue_tpot);
    case LatencyMetric::e2e: break;
  }
  return first * of(ServingQuantity::queue_ttft) + (1.0 - first) * of(ServingQuantity::queue_tpot);
}

double first_share(const RequestMetrics& metrics) noexcept {
  const double share = metrics.ttft.mean.raw() / metrics.e2e.mean.raw();
  return share > 0.0 ? std::min(1.0, share) : 0.0;
}

Seconds beside_speed(Seconds middle, Seconds moved, double factor) noexcept {
  const double speed = moved.raw() / middle.raw();
  if (!(speed > 0.0) || !(middle.raw() > 0.0)) {
    return middle;  // keeps the NaN of answers without such a time
  }
  const double side = factor < 1.0 ? -1.0 : 1.0;
  const double by_speed = std::max(0.0, side * std::log(speed));
  return std::exp(side * std::hypot(std::log(factor), by_speed)) * middle;
}

double slowest_iteration(const ServeScenario& s, double probability) {
  return 1.0 / most_over_model(serving_errors(s, ServingQuantity::rate), 1.0 - probability);
}

double slowest_iteration(const ServeScenario& s) {
  return slowest_iteration(s, s.confidence);
}

void slow_down(ServingFleet& fleet, RequestLoad& load, double slower) {
  const auto shorten = [&](Picoseconds& time) { time = truncated(std::round(real(time.count()) / slower)); };
  for (Request& request : load.requests) {
    shorten(request.arrival);
  }
  for (Picoseconds& pause : load.turns.pause) {
    shorten(pause);
  }
  shorten(fleet.front_end);
  const auto shorten_front = [&](ReplicaPool& pool) {
    shorten(pool.front.text);
    shorten(pool.front.piece);
  };
  shorten_front(fleet.pool);
  fleet.transfer.rate = slower * fleet.transfer.rate;
  fleet.transfer.latency = fleet.transfer.latency / slower;
  for (OffloadTier& tier : fleet.tiers) {
    shorten(tier.per_block);
    shorten(tier.latency);
  }
  shorten(fleet.pool.engine.swap_per_block);
  if (fleet.prefill) {
    shorten(fleet.prefill->engine.swap_per_block);
    shorten_front(*fleet.prefill);
  }
  for (BesideModel& other : fleet.beside) {
    shorten(other.engine.swap_per_block);
  }
}

std::vector<KeptPromise> judge_slow_end(const ServeScenario& s,
                                        const ServingMetrics& middle,
                                        const ServingMetrics& slow,
                                        double probability) {
  const double slower = slowest_iteration(s, probability);
  std::vector<KeptPromise> judged = judge(*s.traffic, middle);
  const std::vector<KeptPromise> of_slow = judge(*s.traffic, slow);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    KeptPromise& one = judged[i];
    const double factor =
        longest_in_queue(s, one.promise.metric, first_share(middle.classes[one.service_class]), probability);
    one.reached = beside_speed(one.reached, slower * of_slow[i].reached, factor);
    const bool none = std::isnan(one.reached.raw());
    // A fleet faster than the model's is judged by itself, a slower one by both.
    one.refused = slower < 1.0 ? of_slow[i].refused : std::max(one.refused, of_slow[i].refused);
    one.unanswered = slower < 1.0 ? of_slow[i].unanswered : std::max(one.unanswered, of_slow[i].unanswered);
    one.kept = (none ? one.kept : one.reached <= one.promise.limit) && !one.refuses() && one.unanswered == 0.0;
  }
  return judged;
}

std::vector<KeptPromise> judge_slow_end(const ServeScenario& s,
                                        const ServingMetrics& middle,
                                        const ServingMetrics& slow) {
  return judge_slow_end(s, middle, slow, s.confidence);
}

}  // namespace headroom
