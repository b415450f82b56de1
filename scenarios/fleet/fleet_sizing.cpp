// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/fleet/fleet_sizing.hpp>
#include <headroom/scenarios/serving/session_pace.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace headroom {
namespace {

bool all_kept(const std::vector<KeptPromise>& judged) noexcept {
  return std::all_of(judged.begin(), judged.end(), [](const KeptPromise& one) { return one.kept; });
}

/// One fleet of a question, asked at several sizes.
class Sizing {
 public:
  Sizing(const ServeScenario& scenario, const ServedReplica& served, FleetRuns known = {})
      : scenario_{scenario},
        served_{served},
        slowest_{slowest_iteration(scenario)},
        promised_{std::any_of(scenario.traffic->classes.begin(),
                              scenario.traffic->classes.end(),
                              [](const RequestClass& c) { return !c.objectives.empty(); })},
        runs_{std::move(known)} {
    if (!runs_.of_one && !scenario.fleet->prefill) {
      const ServingFleet one = serving_fleet(scenario, served, 1);
      runs_.of_one = replicas_alike(*scenario.traffic, one) ? std::optional{fleet_saturation(*scenario.traffic, one)}
                                                            : std::nullopt;
    }
  }

  /// The last that is asked of it.
  SizedFleet run(std::int64_t start, SizedFor sized_for) {
    const FleetQuestion& fleet = *scenario_.fleet;
    start = std::max<std::int64_t>(1, start);
    const bool open = !fleet.replicas || (fleet.prefill && !fleet.prefill->replicas);
    std::optional<FleetSize> middle;
    if (find_for_middle(start)) {
      middle = size();
    }
    if (open && middle && sized_for == SizedFor::slow_end && !find_for_slow_end(start)) {
      replicas_ = middle->replicas;
      prefill_ = middle->prefill_replicas;
    }
    SizedFleet sized;
    static_cast<FleetSize&>(sized) = size();
    sized.middle = middle;
    sized.metrics = at_middle();
    sized.promises = judge(*scenario_.traffic, sized.metrics);
    sized.slow_end = promised_ ? judge_slow_end(scenario_, sized.metrics, at_slow_end()) : std::vector<KeptPromise>{};
    sized.rate = scenario_.traffic->rate();
    sized.saturation = saturation();
    sized.knee = knee();
    sized.slowest = slowest_;
    sized.runs = std::make_shared<const FleetRuns>(std::move(runs_));
    return sized;
  }

  std::optional<std::int64_t> fewest(std::int64_t start) {
    start = std::max<std::int64_t>(1, start);
    return find_for_middle(start) && find_for_slow_end(start) ? std::optional{replicas_} : std::nullopt;
  }

  double chance(const FleetSize& size) {
    replicas_ = size.replicas;
    prefill_ = size.prefill_replicas;
    double low = normal_quantile(least_chance);
    double high = normal_quantile(1.0 - least_chance);
    if (!keeps_with(1.0 - least_chance)) {
      for (int i = 0; i < 8; ++i) {
        const double middle = 0.5 * (low + high);
        (keeps_with(normal_share(middle)) ? low : high) = middle;
      }
      return normal_share(low);
    }
    return 1.0 - least_chance;
  }

 private:
  static constexpr double least_chance = 0.001;

  bool keeps_with(double probability) {
    const double slower = slowest_iteration(scenario_, probability);
    if (!(slower * scenario_.traffic->rate() < saturation())) {
      return false;
    }
    const auto kept = [&](const ServingMetrics& slow) {
      return slow.unanswered == 0 && all_kept(judge_slow_end(scenario_, at_middle(), slow, probability));
    };
    return !promised_ ||
           kept(slower == 1.0 ? at_middle()
                              : simulate_slow_fleet(scenario_, served_, replicas_, prefill_, probability));
  }

  [[nodiscard]] FleetSize size() const { return fleet_size(*scenario_.fleet, served_, replicas_, prefill_); }

  /// What is stated, and of the rest the fewest that keep the promises at the middle; false, and `start`, where none
  /// does. With decodes that never wait the promises of first tokens are the prefill pool's alone.
  bool find_for_middle(std::int64_t start) {
    const FleetQuestion& fleet = *scenario_.fleet;
    const Bounds bounds{0, start, 16 * start + 64};
    const auto enough = [&] { return keeps(); };
    bool found = true;
    if (fleet.prefill) {
      prefill_ = fleet.prefill->replicas.value_or(1);
      replicas_ = fleet.replicas.value_or(std::max<std::int64_t>(4, 4 * start));
      found = fleet.prefill->replicas || least(prefill_, bounds, enough);
    }
    replicas_ = fleet.replicas.value_or(start);
    return fleet.replicas ? found && keeps() : least(replicas_, bounds, enough) && found;
  }

  /// The same at the slow end: no fewer than at the middle, from which it begins. False where none does.
  bool find_for_slow_end(std::int64_t start) {
    const FleetQuestion& fleet = *scenario_.fleet;
    const std::int64_t replicas = replicas_;
    const auto enough = [&] { return keeps_at_slow_end(); };
    if (fleet.prefill && !fleet.prefill->replicas) {
      replicas_ = fleet.replicas.value_or(4 * std::max(start, replicas));
      if (!least(prefill_, slow_bounds(prefill_, start), enough)) {
        return false;
      }
    }
    replicas_ = replicas;
    return fleet.replicas ? keeps_at_slow_end() : least(replicas_, slow_bounds(replicas, start), enough);
  }

  [[nodiscard]] ServingMetrics at(double factor) const {
    return simulate_fleet(scenario_, served_, replicas_, prefill_, factor);
  }
  const ServingMetrics& at_middle() {
    return once(runs_.middle, [&] { return at(1.0); });
  }
  const ServingMetrics& at_slow_end() {
    return once(runs_.slow_end,
                [&] { return simulate_slow_fleet(scenario_, served_, replicas_, prefill_, scenario_.confidence); });
  }
  /// Equal replicas whose queues never empty do not meet.
  Hertz saturation() {
    return runs_.of_one ? real(replicas_) * *runs_.of_one : once(runs_.saturation, [&] {
      return fleet_saturation(*scenario_.traffic, serving_fleet(scenario_, served_, replicas_, prefill_));
    });
  }
  /// Of the fleet at hand, computed the first time that it is asked for.
  template <class Value, class Compute>
  const Value& once(std::map<FleetRuns::Size, Value>& known, Compute compute) {
    const FleetRuns::Size fleet{replicas_, prefill_};
    const auto found = known.find(fleet);
    return found != known.end() ? found->second : known.emplace(fleet, compute()).first->second;
  }

  /// A run is finite: of a fleet that falls behind, early requests may still keep what is promised. So a fleet no
  /// faster than its load keeps nothing.
  bool keeps(double factor = 1.0) {
    return factor * scenario_.traffic->rate() < saturation() &&
           (!promised_ || answers_and_keeps(factor == 1.0 ? at_middle() : at(factor)));
  }
  bool keeps_at_slow_end() {
    return slowest_ * scenario_.traffic->rate() < most_load * saturation() &&
           (!promised_ ||
            (at_slow_end().unanswered == 0 && all_kept(judge_slow_end(scenario_, at_middle(), at_slow_end()))));
  }
  [[nodiscard]] bool answers_and_keeps(const ServingMetrics& metrics) const {
    return metrics.unanswered == 0 && all_kept(judge(*scenario_.traffic, metrics));
  }

  /// Where the least number is looked for: above `few`, first at `first`, up to `most`.
  struct Bounds {
    std::int64_t few, first, most;
  };
  /// From a number that keeps the promises at the middle, and first at what the load alone takes at the slow end.
  Bounds slow_bounds(std::int64_t middle, std::int64_t start) {
    const double load = slowest_ * scenario_.traffic->rate() / (most_load * saturation());
    const auto busy = static_cast<std::int64_t>(real(middle) * load) + 1;
    const std::int64_t first = std::max(middle, busy);
    return {middle - 1, first, 16 * std::max(start, first) + 64};
  }

  /// The least `size`, one of the two members, that is enough: strides that double from `first` on, up or down, then
  /// bisection. False, and `first`, where none is.
  template <class Enough>
  static bool least(std::int64_t& size, const Bounds& bounds, Enough enough) {
    std::int64_t few = bounds.few, many = 0;
    std::int64_t stride = std::max<std::int64_t>(1, bounds.first / 8);
    for (size = bounds.first; many == 0 || (few == bounds.few && many - few > 1); stride *= 2) {
      if (enough()) {
        many = size;
        size = std::max(few + 1, size - stride);
      } else if (size >= bounds.most) {
        size = bounds.first;
        return false;
      } else {
        few = size;
        size = many > 0 ? size : std::min(bounds.most, size + stride);
      }
    }
    while (many - few > 1) {
      size = few + (many - few) / 2;
      (enough() ? many : few) = size;
    }
    size = many;
    return true;
  }

  /// The highest share of the saturation at which promises are kept at the middle, to a hundredth of it.
  Hertz knee() {
    const double most = saturation() / scenario_.traffic->rate();
    double good = promised_ ? 0.0 : most, bad = most;
    for (int i = 0; i < 7 && promised_; ++i) {
      const double factor = i == 0 && most > 1.0 ? 1.0 : 0.5 * (good + bad);
      (keeps(factor) ? good : bad) = factor;
    }
    return good * scenario_.traffic->rate();
  }

  const ServeScenario& scenario_;
  const ServedReplica& served_;
  double slowest_;
  bool promised_;
  std::int64_t replicas_ = 1, prefill_ = 0;
  FleetRuns runs_;
};

ServingMetrics run(const ServeScenario& scenario,
                   const ServedReplica& served,
                   std::int64_t replicas,
                   std::int64_t prefill_replicas,
                   RequestLoad load,
                   double slower = 1.0) {
  ServingFleet fleet = serving_fleet(scenario, served, replicas, prefill_replicas);
  if (const std::vector<std::string> wrong = problems(fleet, load); !wrong.empty()) {
    throw ConfigError{wrong.front()};
  }
  if (slower > 1.0) {
    slow_down(fleet, load, slower);
  } else if (slower < 1.0) {
    // In the time of a faster fleet links and gaps are longer; where the simulator's clock does not hold them the
    // fleet is no faster than the model's.
    ServingFleet faster = fleet;
    RequestLoad asked = load;
    slow_down(faster, asked, slower);
    if (problems(faster, asked).empty()) {
      fleet = std::move(faster);
      load = std::move(asked);
    }
  }
  const std::int64_t warm_up = warm_up_of(load);
  return serving_metrics(load, simulate(fleet, load), request_objectives(*scenario.traffic), warm_up);
}

/// What a replica with nobody else on it misses. `probability`: with which it was judged, 0 at the middle.
std::optional<NoHelp> missed_by_idle(const std::vector<KeptPromise>& judged, double probability) {
  for (const KeptPromise& p : judged) {
    if (!p.kept) {
      NoHelp why;
      why.cause = p.unanswered > 0.0 ? NoHelpCause::unanswered : p.refuses() ? NoHelpCause::refused : NoHelpCause::idle;
      why.promise = p.promise;
      why.probability = probability;
      why.reached = p.reached;
      why.refused = p.refused;
      return why;
    }
  }
  return std::nullopt;
}

/// The load's first requests, each when the one before it was answered.
RequestLoad one_by_one(RequestLoad load) {
  constexpr std::size_t enough = 2000;
  load.keep(enough);
  load.concurrency = 1;
  return load;
}

}  // namespace

FleetSize fleet_size(const FleetQuestion& fleet,
                     const ServedReplica& served,
                     std::int64_t replicas,
                     std::int64_t prefill_replicas) {
  const std::int64_t each = served.simulated.gpus;
  const std::int64_t spare = fleet.spare_of(replicas, each);
  const std::int64_t for_prompts = served.prefill ? prefill_replicas * served.prefill->gpus : 0;
  return {replicas, spare, prefill_replicas, (replicas + spare) * each + for_prompts};
}

bool SizedFleet::keeps_at_middle() const noexcept {
  return !overloaded() && all_kept(promises);
}

bool SizedFleet::keeps() const noexcept {
  return load_at_slow_end() < most_load && all_kept(slow_end);
}

ServingMetrics simulate_fleet(const ServeScenario& scenario,
                              const ServedReplica& served,
                              std::int64_t replicas,
                              std::int64_t prefill_replicas,
                              double factor) {
  return run(scenario, served, replicas, prefill_replicas,
             scenario.traffic->load(factor, session_pace(scenario, served, replicas, factor)));
}

ServingMetrics simulate_slow_fleet(const ServeScenario& scenario,
                                   const ServedReplica& served,
                                   std::int64_t replicas,
                                   std::int64_t prefill_replicas,
                                   double probability) {
  return run(scenario, served, replicas, prefill_replicas,
             scenario.traffic->load(1.0, session_pace(scenario, served, replicas)),
             slowest_iteration(scenario, probability));
}

double chance_to_keep(const ServeScenario& scenario,
                      const ServedReplica& served,
                      const FleetSize& size,
                      const FleetRuns& known) {
  return Sizing{scenario, served, known}.chance(size);
}

OutOfReach out_of_reach(const ServeScenario& scenario, const ServedReplica& served) {
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
        NoHelp why;
        why.cause = NoHelpCause::datasheet;
        why.promise = o;
        why.reached = floor;
        return {why, std::nullopt};
      }
    }
  }
  const std::int64_t prefill = scenario.fleet->prefill ? 1 : 0;
  const RequestLoad load = one_by_one(traffic.has_turns() ? traffic.closed(2000) : traffic.load());
  const ServingMetrics idle = run(scenario, served, 1, prefill, load);
  OutOfReach why;
  why.at_middle = missed_by_idle(judge(traffic, idle), 0.0);
  if (!why.at_middle) {
    const ServingMetrics slow = run(scenario, served, 1, prefill, load, slowest_iteration(scenario));
    why.at_slow_end = missed_by_idle(judge_slow_end(scenario, idle, slow), scenario.confidence);
  }
  return why;
}

SizedFleet size_fleet(const ServeScenario& scenario,
                      const ServedReplica& served,
                      std::int64_t start,
                      SizedFor sized_for) {
  return Sizing{scenario, served}.run(start, sized_for);
}

std::optional<std::int64_t> fewest_replicas(const ServeScenario& scenario,
                                            const ServedReplica& served,
                                            std::int64_t start) {
  return Sizing{scenario, served}.fewest(start);
}

}  // namespace headroom
