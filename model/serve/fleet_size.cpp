// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/fleet_size.hpp>
#include <headroom/model/serve/simulation/saturation.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace headroom {
namespace {

/// Requests that the quantile of an objective wants to see beyond itself.
constexpr double beyond_quantile = 200.0;

double time_of(TailObjective::Metric metric, const Request& request, const RequestTimes& times) noexcept {
  if (times.refused || times.finished == never) {
    return std::numeric_limits<double>::infinity();
  }
  switch (metric) {
    case TailObjective::Metric::ttft: return seconds_of(times.first_token - times.arrival);
    case TailObjective::Metric::e2e: return seconds_of(times.finished - times.arrival);
    case TailObjective::Metric::tpot: break;
  }
  return request.output_tokens > 1
             ? seconds_of(times.finished - times.first_token) / static_cast<double>(request.output_tokens - 1)
             : -1.0;
}

/// Type 7 of Hyndman and Fan 1996, as everywhere; an infinite neighbour makes it infinite.
double quantile_of(std::vector<double>& values, double q) {
  if (values.empty()) {
    return 0.0;
  }
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), below, values.end());
  const double part = position - std::floor(position);
  if (part <= 0.0 || below + 1 == values.end()) {
    return *below;
  }
  const double next = *std::min_element(below + 1, values.end());
  return std::isinf(next) ? next : *below + part * (next - *below);
}

bool screen_keeps(const ServingScreen& s, std::span<const TailObjective> objectives) noexcept {
  if (s.overloaded) {
    return false;
  }
  for (const TailObjective& one : objectives) {
    const TimeDistribution& times = one.metric == TailObjective::Metric::ttft   ? s.ttft
                                    : one.metric == TailObjective::Metric::tpot ? s.tpot
                                                                                : s.e2e;
    if (times.quantile(one.quantile) > one.limit.raw()) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> problems(const ServingFleet& unit, const FleetDemand& demand) {
  std::vector<std::string> found = problems(demand.classes);
  const auto say = [&](std::string text) { found.push_back(std::move(text)); };
  for (std::string& one : problems(unit, RequestLoad{})) {
    say(std::move(one));
  }
  if (demand.classes.empty()) {
    say("no traffic; give at least one class of requests");
  }
  for (const TrafficClass& one : demand.classes) {
    if (std::isinf(one.arrivals.rate.raw())) {
      say("a rate that is infinite: no fleet answers all at once in time; give requests per second");
    }
  }
  for (const TailObjective& one : demand.objectives) {
    if (!(one.quantile > 0.0 && one.quantile < 1.0)) {
      say("an objective at the quantile " + std::to_string(one.quantile) + "; it must lie between 0 and 1");
    }
    if (!(one.limit > Seconds{0.0})) {
      say("an objective of " + std::to_string(one.limit.raw()) + " s; it must be above 0");
    }
    if (one.service_class >= static_cast<std::int32_t>(demand.classes.size())) {
      say("an objective of class " + std::to_string(one.service_class) + " of " +
          std::to_string(demand.classes.size()) + "; classes count from 0, -1 is all");
    }
  }
  const auto least = [&](const char* name, std::int64_t value, std::int64_t bound) {
    if (value < bound) {
      say(std::string{name} + " of " + std::to_string(value) + "; it must be at least " + std::to_string(bound));
    }
  };
  least("spare units", demand.spare, 0);
  least("counted requests", demand.requests, 100);
  least("a most of units", demand.most_units, 1);
  return found;
}

ServingFleet fleet_of(const ServingFleet& unit, std::int64_t units) noexcept {
  ServingFleet fleet = unit;
  fleet.pool.replicas *= units;
  if (fleet.prefill) {
    fleet.prefill->replicas *= units;
  }
  return fleet;
}

ScreenedSize screened_size(const ServingFleet& unit,
                           const ScreenTraffic& traffic,
                           std::span<const TailObjective> objectives,
                           std::int64_t most_units) noexcept {
  ScreenedSize out;
  const double least = std::floor(traffic.rate / screened_saturation(unit, traffic)) + 1.0;
  if (!(least <= real(most_units))) {
    return out;
  }
  // Upwards by growing steps from the least that is not overloaded, then between.
  std::int64_t fails = static_cast<std::int64_t>(least) - 1;
  std::int64_t keeps = 0;
  for (std::int64_t step = 1; keeps == 0; step *= 2) {
    const std::int64_t next = std::min(fails + step, most_units);
    ServingScreen s = screen(fleet_of(unit, next), traffic);
    if (screen_keeps(s, objectives)) {
      keeps = next;
      out.screen = s;
    } else if (next == most_units) {
      return out;
    } else {
      fails = next;
    }
  }
  while (keeps - fails > 1) {
    const std::int64_t middle = fails + (keeps - fails) / 2;
    ServingScreen s = screen(fleet_of(unit, middle), traffic);
    if (screen_keeps(s, objectives)) {
      keeps = middle;
      out.screen = s;
    } else {
      fails = middle;
    }
  }
  out.units = keeps;
  return out;
}

FleetSizer::FleetSizer(const ServingFleet& unit, const FleetDemand& demand)
    : unit_{unit}, demand_{demand}, traffic_{screen_traffic(demand.classes)} {
  // Twenty requests a place are enough for the rate to settle.
  const std::int64_t places = unit.pool.engine.max_num_seqs * unit.pool.replicas;
  const std::int64_t count = std::clamp<std::int64_t>(20 * places, 2'000, 20'000);
  saturation_ = headroom::saturation(unit_, demand_.classes, count, demand_.seed);
  ++simulations_;
  screened_ = screened_size(unit_, traffic_, demand_.objectives, demand_.most_units);
  draw_requests();
}

void FleetSizer::draw_requests() {
  counted_ = demand_.requests;
  for (const TailObjective& one : demand_.objectives) {
    counted_ = std::max(counted_, static_cast<std::int64_t>(std::ceil(beyond_quantile / (1.0 - one.quantile) - 1e-6)));
  }
  RequestLoad few = open_load(demand_.classes, std::min<std::int64_t>(counted_, 4'000), demand_.seed);
  few.concurrency = 1;
  const FleetResult result = simulate(unit_, few);
  ++simulations_;
  const double stay = find_alone(few, result);
  // A fleet fills within a few stays of a request, and a stay is three times one alone when it is well used; those
  // counted last must meet as many as the others (Little). None of it depends on the objectives, so that a tighter one
  // is judged by the same requests.
  const double inside = traffic_.rate.raw() * 3.0 * stay;
  warm_up_ = static_cast<std::int64_t>(std::max(0.05 * real(counted_), 5.0 * inside));
  load_ = open_load(demand_.classes, warm_up_ + counted_ + static_cast<std::int64_t>(inside), demand_.seed);
  measured_ = load_;
  measured_.requests.resize(static_cast<std::size_t>(warm_up_ + counted_));
}

double FleetSizer::find_alone(const RequestLoad& load, const FleetResult& result) {
  FleetTrial trial;
  reach(load, result, trial);
  for (std::size_t i = 0; i < demand_.objectives.size() && !miss_; ++i) {
    if (!(trial.reached[i] <= demand_.objectives[i].limit)) {
      miss_ = ObjectiveMiss{i, trial.reached[i]};
    }
  }
  const double stay = serving_metrics(load, result).all.e2e.mean.raw();
  return std::isfinite(stay) ? stay : 0.0;
}

bool FleetSizer::kept(const FleetTrial& trial) const noexcept {
  for (std::size_t i = 0; i < demand_.objectives.size(); ++i) {
    if (!(trial.reached[i] <= demand_.objectives[i].limit)) {
      return false;
    }
  }
  return true;
}

void FleetSizer::reach(const RequestLoad& load, const FleetResult& result, FleetTrial& trial) const {
  std::vector<double> times;
  const auto from = static_cast<std::size_t>(load.concurrency > 0 ? 0 : warm_up_);
  for (const TailObjective& one : demand_.objectives) {
    times.clear();
    for (std::size_t i = from; i < load.requests.size(); ++i) {
      if (one.service_class >= 0 && load.requests[i].service_class != one.service_class) {
        continue;
      }
      const double time = time_of(one.metric, load.requests[i], result.requests[i]);
      if (time >= 0.0) {
        times.push_back(time);
      }
    }
    trial.reached.push_back(Seconds{quantile_of(times, one.quantile)});
  }
}

FleetTrial FleetSizer::attempt(std::int64_t units, double faster) {
  FleetTrial trial;
  if (units < 1) {
    trial.reached.assign(demand_.objectives.size(), Seconds{std::numeric_limits<double>::infinity()});
    return trial;
  }
  RequestLoad scaled;
  RequestLoad scaled_measured;
  const RequestLoad* load = &load_;
  const RequestLoad* measured = &measured_;
  if (faster != 1.0) {
    scaled = load_;
    for (Request& one : scaled.requests) {
      one.arrival = picoseconds(seconds_of(one.arrival) / faster);
    }
    scaled_measured = scaled;
    scaled_measured.requests.resize(measured_.requests.size());
    load = &scaled;
    measured = &scaled_measured;
  }
  FleetResult result = simulate(fleet_of(unit_, units), *load);
  ++simulations_;
  result.requests.resize(measured->requests.size());
  trial.metrics = serving_metrics(*measured, result, {}, warm_up_);
  reach(*measured, result, trial);
  // A run is finite: of a fleet that falls behind, early requests may still keep their promise. The metrics' own
  // verdict counts finishes of a short window and is not asked.
  trial.keeps = kept(trial) && traffic_.rate * faster < saturation_ * real(units);
  return trial;
}

std::int64_t FleetSizer::search(std::int64_t guess, FleetTrial& found) {
  const double least = std::floor(traffic_.rate / saturation_) + 1.0;
  if (!(least <= real(demand_.most_units))) {
    return 0;
  }
  std::int64_t fails = static_cast<std::int64_t>(least) - 1;  // overloaded
  std::int64_t keeps = 0;
  std::int64_t at = std::clamp(guess, fails + 1, demand_.most_units);
  std::int64_t step = 1;
  while (keeps == 0 || keeps - fails > 1) {
    FleetTrial trial = attempt(at);
    if (trial.keeps) {
      keeps = at;
      found = std::move(trial);
    } else {
      fails = at;
    }
    if (fails >= demand_.most_units) {
      return 0;
    }
    // From the screen's guess outwards by growing steps until both sides are known, then between.
    if (keeps == 0) {
      at = std::min(fails + step, demand_.most_units);
    } else {
      at = std::max(keeps - step, fails + (keeps - fails) / 2);
    }
    step *= 2;
  }
  return keeps;
}

double FleetSizer::knee(std::int64_t units) {
  double low = 1.0;
  double high = saturation_ * real(units) / traffic_.rate;
  while (high > 1.02 * low) {
    const double middle = 0.5 * (low + high);
    (attempt(units, middle).keeps ? low : high) = middle;
  }
  return low;
}

FleetSize FleetSizer::size() {
  FleetSize out;
  out.rate = traffic_.rate;
  out.screened = screened_.units;
  out.miss = miss_;
  if (!out.miss) {
    out.units = search(std::max<std::int64_t>(screened_.units, 1), out.trial);
  }
  if (out.units > 0) {
    out.deployed = out.units + demand_.spare;
    out.saturation = saturation_ * real(out.units);
    out.utilisation = out.rate / out.saturation;
    if (demand_.knee) {
      out.knee = out.rate * knee(out.units);
    }
  }
  out.simulations = simulations_;
  return out;
}

}  // namespace headroom
