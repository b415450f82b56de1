// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace headroom {
namespace {

constexpr double steps_of_a_period = 1440.0;

/// The steps of a period: their length and the rate in each.
struct Steps {
  double seconds = 0.0;
  bool repeats = true;
  std::vector<double> rates;
};

Steps steps_of(const LoadCurve& curve, const ScalingPolicy& policy) {
  const double wanted = policy.step > Seconds{0.0} ? curve.period / policy.step : steps_of_a_period;
  const auto count = static_cast<std::int64_t>(std::max(1.0, std::round(wanted)));
  Steps steps;
  steps.seconds = curve.period.raw() / real(count);
  steps.repeats = curve.repeats;
  for (std::int64_t i = 0; i < count; ++i) {
    steps.rates.push_back(curve.at(Seconds{(real(i) + 0.5) * steps.seconds}).raw());
  }
  return steps;
}

/// Shares of requests that miss an objective, by units and rate.
class Misses {
 public:
  Misses(const ServingFleet& unit, const ScreenTraffic& traffic, std::span<const TailObjective> objectives)
      : unit_{unit}, traffic_{traffic}, objectives_{objectives} {}

  /// The share at a rate; beyond saturation that at 99 % of it, plus a separate backlog of `behind` seconds.
  [[nodiscard]] double share(std::int64_t units, double rate, double most, double behind) {
    if (rate <= 0.0) {
      return 0.0;
    }
    ScreenTraffic traffic = traffic_;
    traffic.rate = Hertz{std::min(rate, 0.99 * most)};
    if (units != units_ || std::abs(traffic.rate.raw() - rate_) > 1e-9 * rate_) {
      screen_ = screen(fleet_of(unit_, units), traffic);
      units_ = units;
      rate_ = traffic.rate.raw();
    }
    double kept = 1.0;
    for (const TailObjective& one : objectives_) {
      const bool tokens = one.metric == LatencyMetric::tpot;
      const TimeDistribution& times = one.metric == LatencyMetric::ttft ? screen_.ttft
                                      : tokens                          ? screen_.tpot
                                                                        : screen_.e2e;
      const double left = one.limit.raw() - (tokens ? 0.0 : behind);
      kept *= left > 0.0 ? 1.0 - times.beyond(left) : 0.0;
    }
    return 1.0 - kept;
  }

 private:
  ServingFleet unit_;
  ScreenTraffic traffic_;
  std::span<const TailObjective> objectives_;
  ServingScreen screen_;
  std::int64_t units_ = 0;
  double rate_ = 0.0;
};

/// Serves two periods with given units per step; only the second counts, since the first leaves its backlog. A period
/// that comes once begins without one.
class Period {
 public:
  Period(const Steps& steps, double unit_rate, Misses& misses)
      : steps_{steps}, unit_rate_{unit_rate}, misses_{misses} {}

  /// `paid`: units that serve or start, by step of one period.
  [[nodiscard]] ScaledFleet serve(std::vector<std::int64_t> units,
                                  std::span<const std::int64_t> paid,
                                  std::int64_t gpus) {
    ScaledFleet out;
    double backlog = 0.0;
    double requests = 0.0;
    for (const bool counts : {false, true}) {
      for (std::size_t i = 0; i < units.size() && (counts || steps_.repeats); ++i) {
        const double most = real(units[i]) * unit_rate_;
        const double came = steps_.rates[i] * steps_.seconds;
        const double before = backlog;
        backlog = std::max(0.0, backlog + came - most * steps_.seconds);
        if (!counts) {
          continue;
        }
        const double behind = 0.5 * (before + backlog) / most;
        const double share = misses_.share(units[i], before + backlog > 0.0 ? most : steps_.rates[i], most, behind);
        requests += came;
        out.missed += came * share;
        out.overloaded += before + backlog > 0.0 ? came : 0.0;
        out.longest_wait = std::max(out.longest_wait, Seconds{backlog / most});
      }
    }
    // Summed in whole units, so that ways that pay for equally many units have exactly equal hours.
    out.gpu_hours =
        real(std::accumulate(paid.begin(), paid.end(), std::int64_t{0})) * real(gpus) * steps_.seconds / 3600.0;
    out.missed = requests > 0.0 ? out.missed / requests : 0.0;
    out.overloaded = requests > 0.0 ? out.overloaded / requests : 0.0;
    out.least = *std::min_element(units.begin(), units.end());
    out.most = *std::max_element(units.begin(), units.end());
    out.units = std::move(units);
    out.paid.assign(paid.begin(), paid.end());
    return out;
  }

 private:
  const Steps& steps_;
  double unit_rate_;
  Misses& misses_;
};

/// Units that serve and units that are paid for, in one of many equal periods.
struct Followed {
  std::vector<std::int64_t> serving, paid;
};

/// Steps until a time has passed, at most one less than the steps of a period.
std::size_t steps_in(Seconds time, const Steps& steps) {
  const double most = real(static_cast<std::int64_t>(steps.rates.size())) - 1.0;
  return static_cast<std::size_t>(std::clamp(std::ceil(time.raw() / steps.seconds - 1e-9), 0.0, most));
}

/// For each step the best of its value and the `back` values before it, where better(a, b) means a beats b. Before the
/// first value stand those of the period before, or where it does not repeat the first.
template <class Better>
std::vector<std::int64_t> best_of_last(const std::vector<std::int64_t>& values,
                                       std::size_t back,
                                       bool repeats,
                                       Better better) {
  const std::size_t count = values.size();
  std::vector<std::int64_t> best(count);
  std::deque<std::size_t> candidates;  // each is worse and later than the one before it
  const auto value = [&](std::size_t i) { return i < count && !repeats ? values.front() : values[i % count]; };
  for (std::size_t i = 0; i < 2 * count; ++i) {
    while (!candidates.empty() && !better(value(candidates.back()), value(i))) {
      candidates.pop_back();
    }
    candidates.push_back(i);
    if (candidates.front() + back < i) {
      candidates.pop_front();
    }
    best[i % count] = value(candidates.front());
  }
  return best;
}

Followed follow(const Steps& steps, double unit_rate, const ScalingPolicy& policy) {
  const std::size_t count = steps.rates.size();
  std::vector<std::int64_t> wanted(count, policy.least);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t before = i > 0 ? i - 1 : steps.repeats ? count - 1 : 0;
    const double seen = steps.rates[before];
    const double units = std::ceil(seen / (policy.target * unit_rate) - 1e-9);
    wanted[i] = static_cast<std::int64_t>(std::clamp(units, real(policy.least), real(policy.most)));
  }
  // A unit that is wanted, or was within `keep`, stays. An ordered unit that was kept serves after the cold start.
  Followed out;
  out.paid = best_of_last(wanted, steps_in(policy.keep, steps), steps.repeats, std::greater<>{});
  out.serving = best_of_last(out.paid, steps_in(policy.cold_start, steps), steps.repeats, std::less<>{});
  return out;
}

/// The least units by rate. What they need does not fall as the rate rises, so that rates between two of equal need
/// have it too.
class Floor {
 public:
  Floor(const ServingFleet& unit,
        const ScreenTraffic& traffic,
        std::span<const TailObjective> objectives,
        const ScalingPolicy& policy,
        double unit_rate)
      : unit_{unit}, traffic_{traffic}, objectives_{objectives}, policy_{policy}, unit_rate_{unit_rate} {}

  /// 0: no number keeps the objectives.
  [[nodiscard]] std::int64_t units(double rate) const {
    if (rate <= 0.0) {
      return policy_.least;
    }
    std::int64_t fewest = 0;
    for (const KnownNeed& known : policy_.known) {
      if (known.rate.raw() >= rate * (1.0 - 1e-9)) {
        const std::int64_t found = known.rate.raw() <= rate * (1.0 + 1e-9) ? known.units : screened(rate);
        return std::max(policy_.least, found > 0 ? std::clamp(found, fewest, known.units) : known.units);
      }
      fewest = known.units;
    }
    const std::int64_t found = screened(rate);
    return found > 0 ? std::max({policy_.least, found, fewest}) : 0;
  }

  /// Of each step; empty where no number keeps the objectives.
  [[nodiscard]] std::vector<std::int64_t> of(const std::vector<double>& rates) const {
    std::vector<double> order = rates;
    std::sort(order.begin(), order.end());
    order.erase(std::unique(order.begin(), order.end()), order.end());
    std::vector<std::int64_t> needs(order.size(), 0);
    needs.front() = units(order.front());
    needs.back() = units(order.back());
    fill(order, needs, 0, order.size() - 1);
    std::vector<std::int64_t> all;
    for (const double rate : rates) {
      all.push_back(
          needs[static_cast<std::size_t>(std::lower_bound(order.begin(), order.end(), rate) - order.begin())]);
    }
    return std::find(all.begin(), all.end(), 0) == all.end() ? all : std::vector<std::int64_t>{};
  }

 private:
  [[nodiscard]] std::int64_t screened(double rate) const {
    ScreenTraffic traffic = traffic_;
    traffic.rate = Hertz{rate};
    const double roomy = std::floor(rate / (policy_.most_load * unit_rate_)) + 1.0;
    const std::int64_t found = screened_size(unit_, traffic, objectives_, policy_.most).units;
    return found > 0 && roomy <= real(policy_.most) ? std::max(found, static_cast<std::int64_t>(roomy)) : 0;
  }

  void fill(const std::vector<double>& order,
            std::vector<std::int64_t>& needs,
            std::size_t low,
            std::size_t high) const {
    if (high - low < 2) {
      return;
    }
    if (needs[low] == needs[high]) {
      std::fill(needs.begin() + static_cast<std::ptrdiff_t>(low), needs.begin() + static_cast<std::ptrdiff_t>(high),
                needs[low]);
      return;
    }
    const std::size_t middle = low + (high - low) / 2;
    needs[middle] = units(order[middle]);
    fill(order, needs, low, middle);
    fill(order, needs, middle, high);
  }

  const ServingFleet& unit_;
  const ScreenTraffic& traffic_;
  std::span<const TailObjective> objectives_;
  const ScalingPolicy& policy_;
  double unit_rate_;
};

/// GPU-hours of the units of `way` beyond those of `other`, in the steps in which it pays for more.
double hours_beyond(const ScaledFleet& way, const ScaledFleet& other) noexcept {
  std::int64_t paid = 0;
  std::int64_t beyond = 0;
  for (std::size_t i = 0; i < way.paid.size(); ++i) {
    paid += way.paid[i];
    beyond += std::max<std::int64_t>(0, way.paid[i] - other.paid[i]);
  }
  return paid > 0 ? real(beyond) / real(paid) * way.gpu_hours : 0.0;
}

}  // namespace

Hertz LoadCurve::at(Seconds time) const noexcept {
  const RateCurve::Point* before = &points.front();
  for (const RateCurve::Point& point : points) {
    if (point.at > time) {
      const double width = (point.at - before->at).raw();
      const double part = width > 0.0 ? std::clamp((time - before->at).raw() / width, 0.0, 1.0) : 1.0;
      return Hertz{before->rate + part * (point.rate - before->rate)};
    }
    before = &point;
  }
  return Hertz{before->rate};
}

Hertz LoadCurve::peak() const noexcept {
  double largest = 0.0;
  for (const RateCurve::Point& point : points) {
    largest = std::max(largest, point.rate);
  }
  return Hertz{largest};
}

double Autoscaling::freed_gpu_hours() const noexcept {
  return hours_beyond(fixed, scaled);
}

double Autoscaling::above_gpu_hours() const noexcept {
  return hours_beyond(scaled, fixed);
}

std::vector<std::string> problems(const LoadCurve& curve, const ScalingPolicy& policy) {
  std::vector<std::string> found;
  const auto require = [&](bool good, const char* name, double value, const char* remedy) {
    if (!good) {
      found.push_back(std::string{name} + " of " + std::to_string(value) + "; " + remedy);
    }
  };
  if (curve.points.empty()) {
    found.emplace_back("a load without a point; give rates in requests per second over the period");
  } else if (const char* problem = RateCurve::problem(curve.period, curve.points)) {
    found.push_back(std::string{"the load's curve: "} + problem);
  }
  require(policy.target > 0.0 && policy.target < 1.0, "a target utilisation", policy.target,
          "it must lie between 0 and 1");
  require(policy.cold_start >= Seconds{0.0} && std::isfinite(policy.cold_start.raw()), "a cold start",
          policy.cold_start.raw(), "it must be a time from 0 s on");
  require(policy.keep >= Seconds{0.0} && std::isfinite(policy.keep.raw()), "units kept for", policy.keep.raw(),
          "it must be a time from 0 s on");
  require(policy.least >= 1, "a least number of units", real(policy.least), "one unit at least serves");
  require(policy.most >= policy.least, "a largest number of units", real(policy.most), "it is below the least");
  require(policy.most_load > 0.0 && policy.most_load <= 1.0, "a highest load of the floor", policy.most_load,
          "it must lie above 0, up to 1");
  const auto disordered = [](const KnownNeed& a, const KnownNeed& b) { return a.rate > b.rate || a.units > b.units; };
  if (std::adjacent_find(policy.known.begin(), policy.known.end(), disordered) != policy.known.end()) {
    found.emplace_back("known needs out of order; give them by rate, with no fewer units at a higher one");
  }
  require(policy.step >= Seconds{0.0} && policy.step <= curve.period, "a step", policy.step.raw(),
          "it must be from 0 s to the period");
  require(!(policy.step > Seconds{0.0}) || curve.period / policy.step <= 1e6, "a step", policy.step.raw(),
          "a period has a million steps at most");
  return found;
}

Autoscaling autoscale(const ServingFleet& unit,
                      std::int64_t gpus,
                      const ScreenTraffic& traffic,
                      std::span<const TailObjective> objectives,
                      const LoadCurve& curve,
                      const ScalingPolicy& policy) {
  Autoscaling out;
  const Steps steps = steps_of(curve, policy);
  out.unit_saturation = screened_saturation(unit, traffic);
  const double unit_rate = out.unit_saturation.raw();
  for (const double rate : steps.rates) {
    out.requests += rate * steps.seconds;
  }
  Misses misses{unit, traffic, objectives};
  Period period{steps, unit_rate, misses};
  std::int64_t fixed = policy.fixed;
  if (fixed == 0) {
    ScreenTraffic peak = traffic;
    peak.rate = curve.peak();
    const std::int64_t needed = screened_size(unit, peak, objectives, policy.most).units;
    fixed = needed > 0 ? needed : policy.most;
  }
  const std::vector<std::int64_t> units(steps.rates.size(), fixed);
  out.fixed = period.serve(units, units, gpus);
  const Followed followed = follow(steps, unit_rate, policy);
  out.scaled = period.serve(followed.serving, followed.paid, gpus);
  out.step = Seconds{steps.seconds};
  const std::vector<std::int64_t> least = Floor{unit, traffic, objectives, policy, unit_rate}.of(steps.rates);
  if (!least.empty()) {
    out.floor = period.serve(least, least, gpus);
  }
  return out;
}

std::int64_t least_units(const ServingFleet& unit,
                         const ScreenTraffic& traffic,
                         std::span<const TailObjective> objectives,
                         const ScalingPolicy& policy,
                         Hertz rate) {
  return Floor{unit, traffic, objectives, policy, screened_saturation(unit, traffic).raw()}.units(rate.raw());
}

std::optional<LateBurst> worst_late_burst(const Autoscaling& followed, const LoadCurve& curve, Seconds cold_start) {
  if (!followed.floor) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& floor = followed.floor->units;
  const std::vector<std::int64_t>& units = followed.scaled.units;
  const std::size_t count = units.size();
  const auto rate = [&](std::size_t i) { return curve.at((real(static_cast<std::int64_t>(i)) + 0.5) * followed.step); };
  const auto short_at = [&](std::size_t i) { return units[i % count] < floor[i % count]; };
  // Of a repeating curve from a step with enough units on, once around.
  std::size_t first = 0;
  while (curve.repeats && first < count && short_at(first)) {
    ++first;
  }
  if (first == count) {
    return std::nullopt;
  }
  const std::size_t end = curve.repeats ? first + count : count;
  std::optional<LateBurst> worst;
  for (std::size_t i = first; i < end;) {
    if (!short_at(i)) {
      ++i;
      continue;
    }
    LateBurst burst;
    burst.at = real(static_cast<std::int64_t>(i % count)) * followed.step;
    burst.serving = units[i % count];
    burst.before = rate(i % count > 0 ? i % count - 1 : curve.repeats ? count - 1 : 0);
    std::size_t last = i;
    for (; last < end && floor[last % count] > burst.serving; ++last) {
      burst.needed = std::max(burst.needed, floor[last % count]);
      burst.peak = std::max(burst.peak, rate(last % count));
      burst.requests += short_at(last) ? rate(last % count) * followed.step : 0.0;
    }
    burst.length = real(static_cast<std::int64_t>(last - i)) * followed.step;
    if (burst.length <= cold_start && (!worst || burst.requests > worst->requests)) {
      worst = burst;
    }
    i = last;
  }
  return worst;
}

BurstNeed burst_need(
    Hertz base, double factor, Seconds length, Seconds cold_start, Hertz unit_rate, Seconds wait) noexcept {
  const auto units = [](double value) { return static_cast<std::int64_t>(std::ceil(value - 1e-9)); };
  BurstNeed need;
  const Hertz peak = base * factor;
  need.before = std::max<std::int64_t>(1, units(base / unit_rate));
  need.peak = std::max<std::int64_t>(1, units(peak / unit_rate));
  need.none_in_time = cold_start >= length;
  const Seconds alone = std::min(cold_start, length);
  const double share = alone.raw() > 0.0 ? alone / (alone + wait) : 0.0;
  need.warm = std::clamp(units(share * (peak / unit_rate)), need.before, need.peak);
  return need;
}

}  // namespace headroom
