// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/mixed/mixed_fleet.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/promises.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {
namespace {

const ServeScenario& served_by(const MixedPool& pool) {
  return std::get<ServeScenario>(pool.alone.question);
}

/// Requests of all pools, as many of each as its share says, beside one another. Turns and prefixes have done their
/// part in the simulations.
ServingMetrics together(const std::vector<ServingSimulation>& pools,
                        const std::vector<double>& shares,
                        const ServingTraffic& traffic) {
  double all = 0.0;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const double counted_here = real(static_cast<std::int64_t>(pools[i].result.requests.size()) - pools[i].warm_up);
    const double fits = counted_here / shares[i];
    all = i == 0 ? fits : std::min(all, fits);
  }
  RequestLoad load;
  FleetResult result;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto first = static_cast<std::size_t>(pools[i].warm_up);
    const auto count = static_cast<std::size_t>(all * shares[i]);
    for (std::size_t at = first; at < first + count; ++at) {
      load.requests.push_back(pools[i].load.requests[at]);
      result.requests.push_back(pools[i].result.requests[at]);
    }
    result.end = std::max(result.end, pools[i].result.end);
  }
  return serving_metrics(load, result, request_objectives(traffic));
}

class MixedFleetPlanner {
 public:
  explicit MixedFleetPlanner(MixedQuestion question) {
    out_.question = std::move(question);
    for (const RequestClass& one : traffic().classes) {
      out_.classes.push_back(one.name);
    }
    out_.offered = traffic().rate();
  }

  MixedFleet run() {
    measure_pools();
    std::vector<double> by_rate;
    std::vector<double> equal;
    std::int64_t replicas = 0;
    for (const ServedPool& pool : out_.pools) {
      replicas += pool.replicas;
    }
    for (const ServedPool& pool : out_.pools) {
      by_rate.push_back(pool.saturation.mid / out_.together);
      equal.push_back(real(pool.replicas) / real(replicas));
    }
    out_.routings.push_back(routed(MixedRouting::by_rate, by_rate));
    out_.routings.push_back(routed(MixedRouting::equal, equal));
    add_notes();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const ServingTraffic& traffic() const { return *served_by(out_.question.pools.front()).traffic; }

  void measure_pools() {
    Diagnostics diagnostics;
    double fastest = 0.0;
    for (const MixedPool& pool : out_.question.pools) {
      const ServeScenario& serve = served_by(pool);
      ServedPool served;
      served.gpus_per_replica = serve.work.layout.gpus();
      served.replicas = pool.gpus / served.gpus_per_replica;
      try {
        const ServedReplica replica = served_replica(serve);
        const Hertz most = fleet_saturation(*serve.traffic, serving_fleet(serve, replica, served.replicas));
        const ServingErrors errors = serving_errors(serve, ServingQuantity::rate);
        served.saturation = {errors.low * most, most, errors.high * most};
      } catch (const ConfigError& error) {
        for (const Diagnostic& problem : error.diagnostics()) {
          diagnostics.add(problem.file, problem.at, serve.device.id + ": " + problem.message);
        }
        continue;
      }
      out_.together += served.saturation.mid;
      fastest = std::max(fastest, served.saturation.mid.raw() / real(served.replicas));
      out_.pools.push_back(served);
    }
    diagnostics.throw_if_any();
    for (ServedPool& pool : out_.pools) {
      pool.weight = pool.saturation.mid.raw() / real(pool.replicas) / fastest;
    }
  }

  RoutedFleet routed(MixedRouting routing, const std::vector<double>& shares) {
    RoutedFleet fleet;
    fleet.routing = routing;
    std::vector<ServingSimulation> simulated;
    for (std::size_t i = 0; i < out_.pools.size(); ++i) {
      const Hertz most = out_.pools[i].saturation.mid / shares[i];
      if (i == 0 || most < fleet.most) {
        fleet.most = most;
        fleet.first_to_fill = i;
      }
      const MixedPool& pool = out_.question.pools[i];
      simulated.push_back(simulate_serving(served_by(pool), pool.alone.money, shares[i]));
      const ServingSimulation& one = simulated.back();
      RoutedPool told;
      told.share = shares[i];
      told.offered = one.offered;
      told.load = one.offered / out_.pools[i].saturation.mid;
      told.overloaded = one.overloaded();
      told.ttft = one.ttft;
      told.tpot = one.tpot;
      told.e2e = one.e2e;
      told.keeps = one.good();
      fleet.overloaded = fleet.overloaded || told.overloaded;
      fleet.pools.push_back(told);
      out_.times_source = one.times_source;
    }
    fleet.loss = routing == MixedRouting::by_rate ? 0.0 : 1.0 - fleet.most / out_.together;
    const ServingMetrics all = together(simulated, shares, traffic());
    if (!fleet.overloaded) {
      fleet.ttft = all.all.ttft;
      fleet.tpot = all.all.tpot;
      fleet.e2e = all.all.e2e;
    }
    fleet.promises = judge(traffic(), all);
    if (const std::optional<DollarsPerSecond> price = out_.question.price()) {
      fleet.per_million_outputs =
          cost_per_million(*price, traffic().lengths().output * std::min(out_.offered, fleet.most));
    }
    return fleet;
  }

  void add_notes() {
    out_.notes.emplace_back(
        "requests are given to the pools at random in the shares that are told, and in turn within a pool; a router "
        "that gives them out in turn, with weights, sends them a little more evenly");
    out_.notes.emplace_back(
        "a router that looks at what each replica has outstanding follows the replicas' rates by itself; it is not "
        "simulated over unlike SKUs");
    if (traffic().has_turns() || traffic().shares_prefixes()) {
      out_.notes.emplace_back("what requests share is found within a pool alone");
    }
  }

  MixedFleet out_;
};

}  // namespace

bool RoutedFleet::good() const noexcept {
  return !overloaded && std::all_of(promises.begin(), promises.end(), [](const KeptPromise& one) { return one.kept; });
}

const RoutedFleet& MixedFleet::asked() const noexcept {
  return routings[question.routing == MixedRouting::by_rate ? 0 : 1];
}

MixedFleet plan_mixed_fleet(MixedQuestion question) {
  return MixedFleetPlanner{std::move(question)}.run();
}

}  // namespace headroom
