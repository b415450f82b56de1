// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/fleet/fleet_cells.hpp>
#include <headroom/scenarios/fleet/fleet_following.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

namespace headroom {
namespace {

/// Below the peak rates of a curve at which the floor is simulated: the lowest, and those that the load is below for a
/// third and for two thirds of the time.
std::vector<Hertz> sampled_rates(const LoadCurve& day) {
  constexpr std::int64_t times = 960;
  std::vector<Hertz> rates;
  for (std::int64_t i = 0; i < times; ++i) {
    const Hertz rate = day.at(((real(i) + 0.5) / real(times)) * day.period);
    if (rate > Hertz{} && rate < day.peak()) {
      rates.push_back(rate);
    }
  }
  std::sort(rates.begin(), rates.end());
  if (rates.size() > 3) {
    rates = {rates.front(), rates[rates.size() / 3], rates[2 * rates.size() / 3]};
  }
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates;
}

/// The question at one rate of its load, its number of replicas open.
ServeScenario at_rate(const ServeScenario& question, Hertz rate) {
  ServeScenario s = question;
  s.traffic = std::make_shared<const ServingTraffic>(s.traffic->part(rate / s.traffic->rate()));
  FleetQuestion fleet = *s.fleet;
  fleet.replicas.reset();
  s.fleet = std::make_shared<const FleetQuestion>(fleet);
  return s;
}

/// By simulation; 0 where none is enough, or too few requests come to speak of tails.
std::int64_t simulated_need(const ServeScenario& s, const ServedReplica& served) {
  if (!s.traffic->too_few().empty()) {
    return 0;
  }
  const std::int64_t start = first_size(s, served);
  const std::int64_t cells = cells_of(*s.fleet, start);
  return cells * fewest_replicas(cell_of(s, cells), served, (start + cells - 1) / cells).value_or(0);
}

/// Replicas that keep the promises by rate, as simulations find them; of prompts apart none, whose floor is the
/// screen's.
std::vector<KnownNeed> simulated_floor(const FleetOption& best, unsigned threads) {
  const ServeScenario& s = best.question();
  if (best.served->prefill || !best.sized) {
    return {};
  }
  const bool open = !s.fleet->replicas;
  std::vector<KnownNeed> known;
  for (const Hertz rate : sampled_rates(*s.traffic->day)) {
    known.push_back({rate, 0});
  }
  known.push_back({s.traffic->day->peak(), open ? best.sized->replicas : best.enough});
  on_threads(threads, known.size(), [&](std::size_t i) {
    if (known[i].units == 0) {
      known[i].units = simulated_need(at_rate(s, known[i].rate), *best.served);
    }
  });
  std::erase_if(known, [](const KnownNeed& need) { return need.units == 0; });
  // Requests are drawn anew at each rate: what the higher rate needs is enough at the lower.
  for (std::size_t i = known.size(); i > 1; --i) {
    known[i - 2].units = std::min(known[i - 2].units, known[i - 1].units);
  }
  return known;
}

/// Whether some number of replicas keeps the promises at the slow end.
bool has_floor(const FleetOption& best) {
  return best.question().fleet->replicas ? best.keeps() || best.enough > 0 : best.keeps();
}

/// The least time that a promise leaves a backlog.
Seconds least_wait(const std::vector<TailObjective>& objectives) {
  std::optional<Seconds> least;
  for (const TailObjective& one : objectives) {
    if (one.metric != LatencyMetric::tpot) {
      least = std::min(one.limit, least.value_or(one.limit));
    }
  }
  return least.value_or(Seconds{});
}

NoHelp late(const LateBurst& burst, Seconds cold_start, Hertz unit_rate, Seconds wait) {
  const Hertz base = std::max(burst.before, 1e-6 * burst.peak);
  const BurstNeed need = burst_need(base, burst.peak / base, burst.length, cold_start, unit_rate, wait);
  NoHelp why;
  why.cause = NoHelpCause::burst;
  why.stated = burst.serving;
  why.enough = burst.needed;
  why.warm_for_wait = std::min(need.warm, burst.needed);
  why.at = burst.at;
  why.length = burst.length;
  why.cold_start = cold_start;
  why.before = burst.before;
  why.peak = burst.peak;
  return why;
}

}  // namespace

ColdStart cold_start_of(const FleetOption& option) {
  const ServeScenario& s = option.question();
  const AutoscaleQuestion& asked = *s.fleet->autoscaling;
  if (!asked.parts) {
    ColdStart start;
    start.whole = asked.cold_start;
    return start;
  }
  const std::int64_t gpus = option.served->simulated.gpus;
  const std::int64_t of_host = s.host ? std::min(gpus, s.host->gpus) : gpus;
  return cold_start_of(*asked.parts, real(of_host) * option.served->terms()[MemoryTerm::weights]);
}

void follow_load(FleetPlan& plan, unsigned threads) {
  const FleetOption& best = plan.options.front();
  const ServeScenario& s = best.question();
  const std::optional<AutoscaleQuestion>& asked = s.fleet->autoscaling;
  if (!asked) {
    return;
  }
  plan.cold_start = cold_start_of(best);
  plan.floor_sizes = has_floor(best) ? simulated_floor(best, threads) : std::vector<KnownNeed>{};
  // A day of slower replicas is a shorter day of replicas as the model has them: in which all that takes time but
  // iterations is as much shorter, and requests come the faster.
  const double slower = best.slowest;
  LoadCurve day = *s.traffic->day;
  day.period = day.period / slower;
  for (RateCurve::Point& point : day.points) {
    point.at = point.at / slower;
    point.rate *= slower;
  }
  const std::vector<TailObjective> promised = all_objectives(*s.traffic);
  std::vector<TailObjective> objectives = promised;
  for (TailObjective& one : objectives) {
    one.limit = one.limit / slower;
  }
  ScalingPolicy policy;
  policy.target = asked->target;
  policy.cold_start = plan.cold_start->whole / slower;
  policy.keep = policy.cold_start;
  policy.least = asked->least;
  policy.most = most_replicas;
  policy.most_load = most_load;
  policy.fixed = best.served->prefill || !best.sized ? 0 : best.sized->replicas;
  policy.known = plan.floor_sizes;
  for (KnownNeed& need : policy.known) {
    need.rate = slower * need.rate;
  }
  if (!day.repeats) {
    // Whole steps a part of the trace.
    constexpr double usual_steps = 1440.0;
    const double parts = 0.5 * real(static_cast<std::int64_t>(day.points.size()));
    policy.step = day.period / (parts * std::ceil(usual_steps / parts));
  }
  const std::int64_t gpus = best.served->simulated.gpus + (best.served->prefill ? best.served->prefill->gpus : 0);
  Autoscaling over_day =
      autoscale(unit_of(s, *best.served), gpus, screened_traffic(s, *best.served), objectives, day, policy);
  if (!has_floor(best)) {
    over_day.floor.reset();
  }
  for (ScaledFleet* fleet : {&over_day.fixed, &over_day.scaled, over_day.floor ? &*over_day.floor : nullptr}) {
    if (fleet != nullptr) {
      fleet->gpu_hours *= slower;
      fleet->longest_wait = slower * fleet->longest_wait;
    }
  }
  over_day.unit_saturation = over_day.unit_saturation / slower;
  over_day.step = slower * over_day.step;
  const std::optional<LateBurst> burst = worst_late_burst(over_day, *s.traffic->day, plan.cold_start->whole);
  if (burst && !plan.no_help) {
    plan.no_help = late(*burst, plan.cold_start->whole, over_day.unit_saturation, least_wait(promised));
  }
  plan.autoscaling = std::move(over_day);
}

}  // namespace headroom
