// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/serving/fleet_sizing.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

/// One fleet of a question, asked at several sizes.
class Sizing {
 public:
  Sizing(const ServeScenario& scenario, const ServedReplica& served) : scenario_{scenario}, served_{served} {
    if (!scenario.fleet->prefill && !scenario.traffic->shares_prefixes()) {
      one_ = fleet_saturation(*scenario.traffic, serving_fleet(scenario, served, 1));
    }
  }

  SizedFleet run(std::int64_t start) {
    const FleetQuestion& fleet = *scenario_.fleet;
    SizedFleet sized;
    if (fleet.prefill) {
      // With decodes that never wait the promises of first tokens are the prefill pool's alone.
      prefill_ = fleet.prefill->replicas.value_or(1);
      replicas_ = fleet.replicas.value_or(std::max<std::int64_t>(4, 4 * start));
      if (!fleet.prefill->replicas) {
        least(prefill_, start);
      }
    }
    replicas_ = fleet.replicas.value_or(start);
    if (!fleet.replicas) {
      least(replicas_, start);
    }
    sized.replicas = replicas_;
    sized.spare = fleet.spare_of(replicas_, served_.simulated.gpus);
    sized.prefill_replicas = prefill_;
    sized.gpus = (sized.replicas + sized.spare) * served_.simulated.gpus +
                 (served_.prefill ? prefill_ * served_.prefill->gpus : 0);
    sized.metrics = at(1.0);
    sized.promises = judge(*scenario_.traffic, sized.metrics);
    sized.rate = scenario_.traffic->rate();
    sized.saturation = saturation();
    sized.knee = knee(sized.saturation);
    sized.saturation = std::max(sized.saturation, sized.knee);
    return sized;
  }

 private:
  [[nodiscard]] ServingMetrics at(double factor) const {
    return simulate_fleet(scenario_, served_, replicas_, prefill_, factor);
  }
  /// Equal replicas whose queues never empty do not meet.
  [[nodiscard]] Hertz saturation() const {
    return one_ ? real(replicas_) * *one_
                : fleet_saturation(*scenario_.traffic, serving_fleet(scenario_, served_, replicas_, prefill_));
  }
  /// A run is finite: of a fleet that falls behind, early requests may still keep what is promised. So a fleet no
  /// faster than its load keeps nothing.
  [[nodiscard]] bool keeps(double factor = 1.0) const {
    const double load = factor * scenario_.traffic->rate() / saturation();
    constexpr double surely_too_much = 2.0;
    if (load > surely_too_much) {
      return false;
    }
    const ServingMetrics metrics = at(factor);
    const std::vector<KeptPromise> judged = judge(*scenario_.traffic, metrics);
    return metrics.unanswered == 0 && !(load >= 1.0 && metrics.overloaded) &&
           std::all_of(judged.begin(), judged.end(), [](const KeptPromise& one) { return one.kept; });
  }

  /// The least `size`, one of the two members, that keeps the promises: strides that double from `start` on, then
  /// bisection.
  void least(std::int64_t& size, std::int64_t start) {
    const std::int64_t first = std::max<std::int64_t>(1, start);
    const std::int64_t most = 16 * first + 64;
    size = first;
    std::int64_t enough = 0, few = 0;
    std::int64_t stride = std::max<std::int64_t>(1, size / 8);
    while (few < most && (enough == 0 || (few == 0 && enough > 1))) {
      if (keeps()) {
        enough = size;
        size = std::max<std::int64_t>(1, size - stride);
      } else {
        few = size;
        size = std::min(most, size + stride);
      }
      if (enough > 0 && few > 0) {
        break;
      }
      stride *= 2;
    }
    while (enough > 0 && enough - few > 1) {
      size = few + (enough - few) / 2;
      (keeps() ? enough : few) = size;
    }
    size = enough > 0 ? enough : first;
  }

  /// The highest share of the saturation at which promises are kept, to a hundredth of it.
  [[nodiscard]] Hertz knee(Hertz saturation) const {
    const double most = saturation / scenario_.traffic->rate();
    double good = 0.0, bad = 1.25 * most;
    for (int i = 0; i < 7 && most > 0.0; ++i) {
      const double factor = i == 0 && most > 1.0 ? 1.0 : 0.5 * (good + bad);
      (keeps(factor) ? good : bad) = factor;
    }
    return good * scenario_.traffic->rate();
  }

  const ServeScenario& scenario_;
  const ServedReplica& served_;
  std::optional<Hertz> one_;  ///< saturation of one replica that does both phases, and keeps nothing for others
  std::int64_t replicas_ = 1, prefill_ = 0;
};

ServingMetrics run(const ServeScenario& scenario,
                   const ServedReplica& served,
                   std::int64_t replicas,
                   std::int64_t prefill_replicas,
                   const RequestLoad& load) {
  const ServingFleet fleet = serving_fleet(scenario, served, replicas, prefill_replicas);
  if (const std::vector<std::string> wrong = problems(fleet, load); !wrong.empty()) {
    throw ConfigError{wrong.front()};
  }
  const std::int64_t warm_up = warm_up_of(static_cast<std::int64_t>(load.requests.size()));
  return serving_metrics(load, simulate(fleet, load), request_objectives(*scenario.traffic), warm_up);
}

/// The load's first requests, each when the one before it was answered.
RequestLoad one_by_one(RequestLoad load) {
  constexpr std::size_t enough = 2000;
  load.requests.resize(std::min(load.requests.size(), enough));
  load.prefixes = load.prefixes.repeated(1, load.requests.size());
  load.concurrency = 1;
  return load;
}

}  // namespace

bool SizedFleet::keeps() const noexcept {
  return !overloaded() && std::all_of(promises.begin(), promises.end(), [](const KeptPromise& p) { return p.kept; });
}

ServingMetrics simulate_fleet(const ServeScenario& scenario,
                              const ServedReplica& served,
                              std::int64_t replicas,
                              std::int64_t prefill_replicas,
                              double factor) {
  return run(scenario, served, replicas, prefill_replicas, scenario.traffic->load(factor));
}

std::string out_of_reach(const ServeScenario& scenario, const ServedReplica& served) {
  const ServingTraffic& traffic = *scenario.traffic;
  for (const RequestClass& c : traffic.classes) {
    const ServedReplica& asked = served.of(c.model);
    for (const TailObjective& o : c.objectives) {
      // The floor is of the mean prompt: of several classes it is none's, and half of the prompts are shorter.
      const bool first = o.metric == LatencyMetric::ttft && o.quantile != 0.5 && traffic.classes.size() == 1;
      const Seconds floor = first                             ? asked.least_first_token
                            : o.metric == LatencyMetric::tpot ? asked.least_token
                                                              : Seconds{};
      if (o.limit < floor) {
        return key_of(o) + " of " + format(o.limit) + " lies below the floor of " + format(floor) +
               (first ? ": the mean prompt at the datasheet's peak and bandwidth"
                      : ": one token of a lone sequence, its weights and cache read at the datasheet's bandwidth");
      }
    }
  }
  const std::int64_t prefill = scenario.fleet->prefill ? 1 : 0;
  const ServingMetrics idle = run(scenario, served, 1, prefill, one_by_one(traffic.load()));
  for (const KeptPromise& p : judge(traffic, idle)) {
    if (!p.kept) {
      return "not even an idle replica keeps " + key_of(p.promise) + " of " + format(p.promise.limit) +
             (p.unanswered > 0.0 ? ": an answer takes longer than the 106 days that are simulated at most"
              : p.refuses()
                  ? ": its KV cache refuses " + format_number(100.0 * p.refused) + " % of the requests as too long"
                  : ": it takes " + format(p.reached));
    }
  }
  return {};
}

SizedFleet size_fleet(const ServeScenario& scenario, const ServedReplica& served, std::int64_t start) {
  return Sizing{scenario, served}.run(start);
}

}  // namespace headroom
