// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/fleet/fleet_cells.hpp>
#include <headroom/scenarios/fleet/fleet_option.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headroom {
namespace {

constexpr double no_number = std::numeric_limits<double>::infinity();

/// Dollars of a machine by the hour and by the tokens that it answers.
void add_money(FleetOption& option) {
  const ServeScenario& s = option.question();
  const Money& money = option.scenario->money;
  if (!money.price) {
    return;
  }
  const DollarsPerSecond machine = real(option.gpus) * *money.price;
  option.per_hour = machine * hour;
  if (option.sized && option.sized->middle) {
    option.per_hour_at_middle = real(option.sized->middle->gpus) * *money.price * hour;
  }
  const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  const auto each = [&](double share, double tokens) {
    const auto at = [&](double speed) {
      return share * cost_per_million(machine, tokens * answered_rate(option, speed));
    };
    return Interval<Dollars>{at(errors.high), at(1.0), at(errors.low)};
  };
  option.per_million_output_of_all = each(1.0, lengths.output);
  option.per_million_input = each(option.prompt_share, lengths.prompt);
  option.per_million_output = each(1.0 - option.prompt_share, lengths.output);
}

/// Replicas that the load alone takes at the slow end with room to spare, where so many saturate at a rate.
std::int64_t roomy_replicas(const ServeScenario& s, Hertz saturation, std::int64_t replicas) {
  const double load = slowest_iteration(s) * s.traffic->rate() / (most_load * saturation);
  return static_cast<std::int64_t>(load * real(replicas)) + 1;
}

/// Several models on one pool: how many their iterations alone would take.
void screen_together(FleetOption& option) {
  const ServeScenario& s = option.question();
  const MixScreen mix = screen_mix(s, *option.served);
  option.screened_at_middle = s.fleet->replicas.value_or(mix.replicas);
  option.screened_replicas = s.fleet->replicas.value_or(std::max(mix.replicas, roomy_replicas(s, mix.saturation, 1)));
  option.screened.saturation = real(option.screened_replicas) * mix.saturation;
  const double replicas = real(option.screened_at_middle);
  option.replicas = {replicas, replicas, real(option.screened_replicas)};
  option.prompt_share = mix.prompt_share;
}

/// Replicas by closed forms at the middle and at both ends of measured rates.
void screen_option(FleetOption& option) {
  const ServeScenario& s = option.question();
  const ServedReplica& served = *option.served;
  const ScreenTraffic traffic = screened_traffic(s, served);
  const std::optional<std::int64_t> stated = s.fleet->replicas;
  const std::int64_t roomy = roomy_replicas(s, screened_saturation(unit_of(s, served), traffic), 1);
  const std::optional<std::int64_t> slow = screened_replicas(s, served, traffic, option.slowest);
  const std::int64_t needed = std::max(roomy, slow.value_or(roomy));
  option.beyond_screen = !slow || needed > stated.value_or(needed);
  if (stated) {
    option.screened_at_middle = option.screened_replicas = *stated;
    option.replicas = {real(*stated), real(*stated), real(*stated)};
  } else {
    const std::int64_t busy = busy_replicas(s, served, traffic);
    const std::int64_t middle = screened_replicas(s, served, traffic).value_or(busy);
    const double fastest = serving_errors(s, ServingQuantity::rate).high;
    const std::int64_t fast = screened_replicas(s, served, traffic, 1.0 / fastest).value_or(middle);
    option.screened_at_middle = middle;
    option.screened_replicas = std::max(middle, needed);
    option.replicas = {real(std::min(fast, middle)), real(middle), real(option.screened_replicas)};
  }
  const std::int64_t replicas = option.screened_replicas;
  const ServingFleet fleet = serving_fleet(s, served, replicas, replicas);
  option.screened = screen(fleet, traffic);
  ScreenTraffic faster = traffic;
  faster.rate = option.slowest * traffic.rate;
  option.screened_slow = screen(fleet, faster);
}

/// Replicas needed over the interval of their rate: simulated at the middle and at the slow end.
Interval<double> needed_replicas(const FleetOption& option) {
  const SizedFleet& sized = *option.sized;
  const ServeScenario& s = option.question();
  if (s.fleet->replicas) {
    return {real(sized.replicas), real(sized.replicas), real(sized.replicas)};
  }
  const double high = sized.keeps() ? real(sized.replicas) : no_number;
  if (!sized.middle) {
    return {sized.answers() ? option.replicas.low : no_number, no_number, no_number};
  }
  const double mid = real(sized.middle->replicas);
  // The screen knows no classes: of several as many fewer as replicas are faster.
  const double low = s.traffic->classes.size() > 1 ? mid / serving_errors(s, ServingQuantity::rate).high
                                                   : mid / std::max(1.0, option.replicas.mid) * option.replicas.low;
  return {std::clamp(std::floor(low), 1.0, mid), mid, std::max(mid, high)};
}

}  // namespace

std::int64_t FleetOption::prefill_replicas() const {
  if (!served->prefill) {
    return 0;
  }
  return sized ? sized->prefill_replicas : question().fleet->prefill->replicas.value_or(screened_replicas);
}

bool cheaper(const FleetOption& a, const FleetOption& b) {
  const bool priced = a.per_hour.raw() > 0.0 && b.per_hour.raw() > 0.0;
  if (priced && a.per_hour.raw() != b.per_hour.raw()) {
    return a.per_hour < b.per_hour;
  }
  return a.gpus < b.gpus;
}

bool cheaper_at_middle(const FleetOption& a, const FleetOption& b) {
  const bool priced = a.per_hour_at_middle.raw() > 0.0 && b.per_hour_at_middle.raw() > 0.0;
  if (priced && a.per_hour_at_middle.raw() != b.per_hour_at_middle.raw()) {
    return a.per_hour_at_middle < b.per_hour_at_middle;
  }
  return a.sized->middle->gpus < b.sized->middle->gpus;
}

ServeScenario as_sized(const FleetOption& option) {
  ServeScenario s = option.question();
  FleetQuestion fleet = *s.fleet;
  fleet.replicas = option.sized->replicas;
  if (fleet.prefill) {
    fleet.prefill->replicas = option.sized->prefill_replicas;
  }
  s.fleet = std::make_shared<const FleetQuestion>(fleet);
  return s;
}

Hertz answered_rate(const FleetOption& option, double speed) {
  return option.sized ? std::min(option.mean_rate, speed * option.sized->saturation) : option.mean_rate;
}

FleetOption make_option(const Statement& base, const Changes& changes, bool together) {
  FleetOption option;
  option.changes = changes;
  Scenario scenario = changed(base, changes);
  auto& asked = std::get<ServeScenario>(scenario.question);
  option.mean_rate = asked.traffic->rate();
  asked.traffic = std::make_shared<const ServingTraffic>(asked.traffic->at_peak());
  if (together) {
    FleetQuestion fleet = *asked.fleet;
    fleet.prefill.reset();
    asked.fleet = std::make_shared<const FleetQuestion>(fleet);
  }
  option.scenario = std::make_shared<const Scenario>(std::move(scenario));
  const ServeScenario& s = option.question();
  if (const std::int64_t tp = s.work.layout.tp; spans_hosts(s, tp)) {
    throw Unserved{DropCause::hosts, "tp " + std::to_string(tp) + " spans hosts of " + std::to_string(s.host->gpus) +
                                         " GPUs (" + s.host->id + ")"};
  }
  option.served = std::make_shared<const ServedReplica>(served_replica(s));
  option.slowest = slowest_iteration(s);
  if (s.beside.empty()) {
    screen_option(option);
    if (option.beyond_screen && !s.fleet->replicas) {
      option.reach = out_of_reach(s, *option.served);
    }
  } else {
    screen_together(option);
  }
  option.gpus = fleet_size(*s.fleet, *option.served, option.screened_replicas, option.prefill_replicas()).gpus;
  if (option.served->prefill) {
    option.prompt_share = real(option.prefill_replicas() * option.served->prefill->gpus) / real(option.gpus);
  } else if (s.beside.empty()) {
    option.prompt_share = prompt_share(s, option.screened);
  }
  add_money(option);
  return option;
}

std::optional<NoHelp> size_option(FleetOption& option, bool middle_too) {
  const ServeScenario& s = option.question();
  if (!s.fleet->replicas) {
    const OutOfReach reach = option.reach ? *option.reach : out_of_reach(s, *option.served);
    option.no_help = reach.at_slow_end;
    option.why_not_slow = reach.at_slow_end ? cause_text(*reach.at_slow_end) : std::string{};
    if (reach.at_middle || (reach.at_slow_end && !middle_too)) {
      return reach.at_middle ? reach.at_middle : reach.at_slow_end;
    }
  }
  option.cells = cells_of(*s.fleet, option.screened_replicas);
  option.sized = sized_by_cells(s, *option.served, option.screened_at_middle, option.cells,
                                option.why_not_slow.empty() ? SizedFor::slow_end : SizedFor::middle);
  if (!option.sized->keeps() && !s.fleet->replicas && option.why_not_slow.empty()) {
    option.why_not_slow = "no number of replicas that was tried keeps it there";
  }
  option.replicas = needed_replicas(option);
  option.gpus = option.sized->gpus;
  if (option.served->prefill) {
    option.prompt_share = real(option.sized->prefill_replicas * option.served->prefill->gpus) /
                          real(std::max<std::int64_t>(1, option.gpus));
  }
  add_money(option);
  return std::nullopt;
}

void add_prefill_bound(FleetOption& option) {
  const std::optional<DisaggregatedPrefill>& apart = option.question().fleet->prefill;
  if (!apart || !apart->replicas || !option.sized || option.keeps() || option.enough > 0 || option.no_help) {
    return;
  }
  ServeScenario s = option.question();
  FleetQuestion open = *s.fleet;
  open.replicas.reset();
  open.prefill->replicas.reset();
  s.fleet = std::make_shared<const FleetQuestion>(open);
  const std::int64_t start = first_size(s, *option.served);
  const SizedFleet sized = sized_by_cells(s, *option.served, start, cells_of(open, start));
  if (sized.keeps() && sized.prefill_replicas > *apart->replicas) {
    NoHelp& why = option.no_help.emplace();
    why.cause = NoHelpCause::prefill;
    why.stated = *apart->replicas;
    why.enough = sized.prefill_replicas;
  }
}

void add_enough(FleetOption& option) {
  if (!option.question().fleet->replicas || !option.sized || option.keeps()) {
    return;
  }
  ServeScenario s = option.question();
  FleetQuestion open = *s.fleet;
  open.replicas.reset();
  s.fleet = std::make_shared<const FleetQuestion>(open);
  const OutOfReach why = out_of_reach(s, *option.served);
  option.no_help = why.at_middle ? why.at_middle : why.at_slow_end;
  if (why.at_middle) {
    return;
  }
  const std::int64_t start = first_size(s, *option.served);
  const SizedFleet sized = sized_by_cells(s, *option.served, start, cells_of(open, start),
                                          why.at_slow_end ? SizedFor::middle : SizedFor::slow_end);
  option.enough = sized.keeps() ? sized.replicas : 0;
  if (option.enough > 0) {
    option.no_help.reset();
  }
  option.enough_at_middle = sized.middle ? sized.middle->replicas : 0;
}

}  // namespace headroom
