// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/on_threads.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/serving_confidence.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/serving/beside.hpp>
#include <headroom/scenarios/serving/fleet_apart.hpp>
#include <headroom/scenarios/serving/fleet_axes.hpp>
#include <headroom/scenarios/serving/fleet_cells.hpp>
#include <headroom/scenarios/serving/fleet_plan.hpp>
#include <headroom/scenarios/serving/fleet_screen.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headroom {
namespace {

constexpr std::uint64_t most_combinations = 20'000;

/// The first line of what is wrong, without its place: many combinations break the same rule.
std::string first_line(const ConfigError& error) {
  return error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
}

/// Of the replicas that prefill alone, by the screen as many as the others where they are not stated.
std::int64_t prefill_gpus(const FleetOption& option, std::int64_t replicas) {
  return option.served->prefill
             ? option.question().fleet->prefill->replicas.value_or(replicas) * option.served->prefill->gpus
             : 0;
}

std::int64_t gpus_of(const FleetOption& option, std::int64_t replicas) {
  const std::int64_t gpus = option.served->simulated.gpus;
  return (replicas + option.question().fleet->spare_of(replicas, gpus)) * gpus + prefill_gpus(option, replicas);
}

/// Requests per second that are answered over the day: those that come, or what the fleet saturates at.
double answered_rate(const FleetOption& option) {
  const double asked = option.mean_rate.raw();
  return option.sized ? std::min(asked, option.sized->saturation.raw()) : asked;
}

/// Dollars of a machine by the hour and by the tokens that it answers.
void add_money(FleetOption& option) {
  const ServeScenario& s = option.question();
  const Money& money = option.scenario->money;
  if (!money.price) {
    return;
  }
  // Slower replicas want more of both pools; the spare ones stay.
  const double spare = real(s.fleet->spare_of(std::llround(option.replicas.mid), option.served->simulated.gpus) *
                            option.served->simulated.gpus);
  const auto machine = [&](double replicas) {
    return (spare + (real(option.gpus) - spare) * replicas / option.replicas.mid) * *money.price;
  };
  option.per_hour = machine(option.replicas.mid) * hour;
  const double rate = answered_rate(option);
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  const auto each = [&](double share, double tokens) {
    const auto at = [&](double replicas) { return share * cost_per_million(machine(replicas), Hertz{rate * tokens}); };
    return Interval<Dollars>{at(option.replicas.low), at(option.replicas.mid), at(option.replicas.high)};
  };
  option.per_million_output_of_all = each(1.0, lengths.output);
  option.per_million_input = each(option.prompt_share, lengths.prompt);
  option.per_million_output = each(1.0 - option.prompt_share, lengths.output);
}

/// What a combination makes of the question, screened; or why it cannot be.
class OptionMaker {
 public:
  OptionMaker(const ConfigValue& root, const std::string& file, const Sources& sources)
      : root_{root}, file_{file}, sources_{sources} {
    root_.entries.erase_if([](const ConfigEntry& e) { return e.key == "search" || e.key == "objective"; });
  }

  [[nodiscard]] Scenario read(const std::vector<std::string>& changes) const {
    ConfigValue root = root_;
    Diagnostics diagnostics;
    for (const std::string& change : changes) {
      apply_override(root, change, diagnostics);
    }
    diagnostics.throw_if_any();
    return read_scenario(root, file_, sources_);
  }

  /// Throws ConfigError where it cannot be. `together`: replicas do both phases, whatever the question says.
  [[nodiscard]] FleetOption make(const std::vector<std::string>& changes, bool together) const {
    FleetOption option;
    option.changes = changes;
    Scenario scenario = read(changes);
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
    if (s.host && s.work.layout.tp > s.host->gpus) {
      throw ConfigError{"tp " + std::to_string(s.work.layout.tp) + " spans hosts of " + std::to_string(s.host->gpus) +
                        " GPUs (" + s.host->id + ")"};
    }
    option.served = std::make_shared<const ServedReplica>(served_replica(s));
    if (!s.beside.empty()) {
      const MixScreen mix = screen_mix(s, *option.served);
      option.screened_replicas = s.fleet->replicas.value_or(mix.replicas);
      option.screened.saturation = real(option.screened_replicas) * mix.saturation;
      const double replicas = real(option.screened_replicas);
      option.replicas = {replicas, replicas, replicas};
      option.gpus = gpus_of(option, option.screened_replicas);
      option.prompt_share = mix.prompt_share;
      add_money(option);
      return option;
    }
    const ScreenTraffic traffic = screened_traffic(*s.traffic);
    const std::optional<std::int64_t> found =
        s.fleet->replicas ? s.fleet->replicas : screened_replicas(s, *option.served, traffic);
    option.beyond_screen = !found;
    const std::int64_t replicas = found ? *found : busy_replicas(s, *option.served, traffic);
    option.screened_replicas = replicas;
    option.screened = screen(serving_fleet(s, *option.served, replicas, replicas), traffic);
    option.replicas = replicas_interval(s, *option.served, traffic, replicas);
    option.gpus = gpus_of(option, replicas);
    option.prompt_share = option.served->prefill ? real(prefill_gpus(option, replicas)) / real(option.gpus)
                                                 : prompt_share(s, option.screened);
    add_money(option);
    return option;
  }

 private:
  /// Replicas needed when their rate is at the ends of its interval.
  static Interval<double> replicas_interval(const ServeScenario& s,
                                            const ServedReplica& served,
                                            const ScreenTraffic& traffic,
                                            std::int64_t replicas) {
    if (s.fleet->replicas) {
      return {real(replicas), real(replicas), real(replicas)};
    }
    const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
    const auto needed = [&](double rate) {
      const std::optional<std::int64_t> found = screened_replicas(s, served, traffic, 1.0 / rate);
      return found ? real(*found) : std::ceil(real(replicas) / rate);
    };
    return {std::min(real(replicas), needed(errors.high)), real(replicas),
            std::max(real(replicas), needed(errors.low))};
  }

  ConfigValue root_;
  std::string file_;
  const Sources& sources_;
};

/// Money where there is a price, else GPUs.
bool cheaper(const FleetOption& a, const FleetOption& b) {
  const bool priced = a.per_hour.raw() > 0.0 && b.per_hour.raw() > 0.0;
  if (priced && a.per_hour.raw() != b.per_hour.raw()) {
    return a.per_hour < b.per_hour;
  }
  return a.gpus < b.gpus;
}

bool keeps(const FleetOption& option) {
  return option.sized && option.sized->keeps();
}

/// Replicas that would keep the promises where the stated ones do not; 0: none would.
std::int64_t enough_replicas(ServeScenario s, const ServedReplica& served) {
  FleetQuestion open = *s.fleet;
  open.replicas.reset();
  s.fleet = std::make_shared<const FleetQuestion>(open);
  if (!out_of_reach(s, served).empty()) {
    return 0;
  }
  const std::int64_t start = first_size(s, served);
  const SizedFleet sized = sized_by_cells(s, served, start, cells_of(open, start));
  return sized.keeps() ? sized.replicas : 0;
}

/// Simulates an option and corrects what the screen said of it; false: no number of replicas keeps the promises.
bool confirm(FleetOption& option, std::string& why) {
  const ServeScenario& s = option.question();
  if (!s.fleet->replicas) {
    why = out_of_reach(s, *option.served);
    if (!why.empty()) {
      return false;
    }
  }
  option.cells = cells_of(*s.fleet, option.screened_replicas);
  option.sized = sized_by_cells(s, *option.served, option.screened_replicas, option.cells);
  if (s.fleet->replicas && !option.sized->keeps()) {
    option.enough = enough_replicas(s, *option.served);
  }
  const double shift = real(option.sized->replicas) / std::max(1.0, option.replicas.mid);
  option.replicas = {std::max(1.0, std::floor(shift * option.replicas.low)), real(option.sized->replicas),
                     std::max(real(option.sized->replicas), std::ceil(shift * option.replicas.high))};
  if (s.traffic->classes.size() > 1 && !s.fleet->replicas) {
    // The screen knows no classes: as many more as replicas are slower.
    const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
    const double mid = option.replicas.mid;
    option.replicas = {std::max(1.0, std::floor(mid / errors.high)), mid, std::ceil(mid / errors.low)};
  }
  option.gpus = option.sized->gpus;
  if (option.served->prefill) {
    option.prompt_share = real(option.sized->prefill_replicas * option.served->prefill->gpus) /
                          real(std::max<std::int64_t>(1, option.gpus));
  }
  add_money(option);
  return true;
}

/// Of the sized options that keep their promises those that no other beats in cost, first token and token at once.
std::vector<std::size_t> front_of(const std::vector<FleetOption>& options) {
  const auto beats = [](const FleetOption& a, const FleetOption& b) {
    const RequestMetrics& x = a.sized->metrics.all;
    const RequestMetrics& y = b.sized->metrics.all;
    const bool no_worse = !cheaper(b, a) && x.ttft.p95 <= y.ttft.p95 && x.tpot.p95 <= y.tpot.p95;
    return no_worse && (cheaper(a, b) || x.ttft.p95 < y.ttft.p95 || x.tpot.p95 < y.tpot.p95);
  };
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool beaten = std::any_of(options.begin(), options.end(), [&](const FleetOption& other) {
      return keeps(other) && keeps(options[i]) && beats(other, options[i]);
    });
    if (keeps(options[i]) && !beaten) {
      front.push_back(i);
    }
  }
  return front;
}

/// Requests per second that could still come: up to the knee, else to the saturation.
Hertz room_of(const FleetOption& option) {
  return option.sized ? option.sized->knee : option.screened.saturation;
}

/// Sized ones that keep everything first, then sized, then screened; each cheapest first, of equals the one with room.
void rank(std::vector<FleetOption>& options) {
  const auto class_of = [](const FleetOption& o) { return keeps(o) ? 0 : o.sized ? 1 : 2; };
  std::stable_sort(options.begin(), options.end(), [&](const FleetOption& a, const FleetOption& b) {
    if (class_of(a) != class_of(b)) {
      return class_of(a) < class_of(b);
    }
    const bool level = !cheaper(a, b) && !cheaper(b, a);
    return level ? room_of(a) > room_of(b) : cheaper(a, b);
  });
}

/// Simulates options by what the screen says they cost until `wanted` are sized, or none is left. An option that is out
/// of reach makes room for the next.
void confirm_best(FleetPlan& plan, unsigned threads, std::size_t wanted) {
  std::size_t done = 0;
  std::size_t next = 0;
  while (done < wanted && next < plan.options.size()) {
    const std::size_t count = std::min(wanted - done, plan.options.size() - next);
    std::vector<std::string> why(count);
    std::vector<char> sized(count);
    on_threads(threads, count, [&](std::size_t i) {
      try {
        sized[i] = confirm(plan.options[next + i], why[i]) ? 1 : 0;
      } catch (const ConfigError& error) {
        why[i] = first_line(error);
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      if (sized[i] == 0) {
        plan.dropped.push_back({plan.options[next + i].changes, why[i], true});
        plan.options[next + i].gpus = 0;  // leaves the list below
      } else {
        ++done;
      }
    }
    next += count;
  }
  std::erase_if(plan.options, [](const FleetOption& o) { return o.gpus == 0; });
  rank(plan.options);
  plan.front = front_of(plan.options);
}

PlanEnergy energy_of_fleet(const FleetOption& option, const GpuPower& power) {
  const ServeScenario& s = option.question();
  const ServingMetrics& m = option.sized->metrics;
  const double idle = real(option.sized->spare * option.served->simulated.gpus);
  const double busy = std::min(1.0, m.pool.busy);
  const double multiplies = busy * option.prompt_share;
  EnergyWork work;
  work.gpus = real(option.gpus) - idle;
  work.spare_gpus = idle;
  work.gpus_per_node = s.host ? real(s.host->gpus) : 1.0;
  work.shares[static_cast<std::size_t>(Draw::matrix)] = multiplies;
  work.shares[static_cast<std::size_t>(Draw::memory)] = busy - multiplies;
  work.shares[static_cast<std::size_t>(Draw::waiting)] = 1.0 - busy;
  work.rate = Hertz{answered_rate(option) * s.traffic->lengths().output};
  const Interval<double>& r = option.replicas;
  work.width = r.mid > 0.0 ? std::sqrt(r.high / std::max(1.0, r.low)) - 1.0 : 0.0;
  return energy_of(power, s.work.clock, option.scenario->energy, work);
}

/// The question, or one of its cells, with the replicas that it was sized to.
ServeScenario as_sized(const FleetOption& option) {
  ServeScenario s = option.question();
  FleetQuestion fleet = *s.fleet;
  fleet.replicas = option.sized->replicas;
  if (fleet.prefill) {
    fleet.prefill->replicas = option.sized->prefill_replicas;
  }
  s.fleet = std::make_shared<const FleetQuestion>(fleet);
  return cell_of(s, option.cells);
}

/// Replicas that follow the day's rate against those of its peak; empty where nothing is asked.
std::optional<Autoscaling> follow_load(const FleetOption& best) {
  const ServeScenario& s = best.question();
  const std::optional<AutoscaleQuestion>& asked = s.fleet->autoscaling;
  if (!asked) {
    return std::nullopt;
  }
  ScalingPolicy policy;
  policy.target = asked->target;
  policy.cold_start = asked->cold_start;
  policy.keep = asked->cold_start;
  policy.least = asked->least;
  policy.most = most_replicas;
  const std::int64_t gpus = best.served->simulated.gpus + (best.served->prefill ? best.served->prefill->gpus : 0);
  // Of prompts apart a unit is one replica of each pool, which the sized fleet need not be.
  const std::int64_t fixed = best.sized && !best.served->prefill ? best.sized->replicas : 0;
  return autoscale(unit_of(s, *best.served), gpus, screened_traffic(*s.traffic), all_objectives(*s.traffic),
                   *s.traffic->day, policy, fixed);
}

/// "a replica is up 99.2 % of the time; 12 needed are up 99.95 % of it with 2 spare, 90.8 % without".
std::string failures_text(const FleetFailures& failures, const SizedFleet& sized, std::int64_t gpus) {
  const double up = failures.up(gpus);
  const auto share = [&](std::int64_t spare) {
    return format_number(100.0 * enough_up(sized.replicas, sized.replicas + spare, up), 4) + " %";
  };
  return "fleet.failures: a replica is up " + format_number(100.0 * up, 4) + " % of the time; the " +
         std::to_string(sized.replicas) + " needed are up " + share(sized.spare) + " of it with " +
         std::to_string(sized.spare) + " spare, " + share(0) +
         " without; requests under way when one fails, and failures of prefill replicas, are not counted";
}

/// "clients ask 12 req/s, 12.63 with their retries; ... a storm begins where 40 % of the attempts fail".
std::string retries_text(const ServingTraffic& traffic, Hertz saturation) {
  const RetryLoad load = traffic.retried(saturation);
  const Hertz asked = traffic.rate() / load.attempts;
  const double storm = storm_failure(asked, saturation, traffic.retries->policy);
  std::string text = "traffic.retries: clients wait " + backoff_text(load) + " on the mean between attempts and give " +
                     format_number(100.0 * load.lost, 2) + " % of the requests up; ";
  if (load.storm) {
    return text + "these replicas saturate at " + format_number(saturation.raw()) +
           " req/s, below what comes: a retry storm, " +
           (std::isinf(load.settles.raw()) ? std::string{"that grows for ever"}
                                           : "that settles at " + format_number(load.settles.raw()) + " req/s");
  }
  return text + (storm < 1.0 ? "a retry storm begins where " + format_number(100.0 * storm, 3) +
                                   " % of the attempts fail, for then more come than these replicas answer"
                             : "attempts are so few that no share of failures is a storm on these replicas");
}

/// What the first option does, costs and draws.
void settle(FleetPlan& plan) {
  const FleetOption& best = plan.options.front();
  const ServeScenario& s = best.question();
  if (best.sized) {
    plan.simulated = simulate_serving(as_sized(best), best.scenario->money);
    const double output = s.traffic->lengths().output;
    const double reached = best.sized->knee.raw() > 0.0 ? best.sized->knee.raw() : s.traffic->rate().raw();
    plan.bill =
        serving_bill(best.scenario->money, {real(best.gpus), s.traffic->lengths().prompt, output, reached * output});
    const Node* node = s.host ? &*s.host : nullptr;
    if (const std::optional<GpuPower> power = gpu_power(s.device, node, s.power_cap)) {
      plan.energy = energy_of_fleet(best, *power);
    }
  }
  plan.notes = best.scenario->assumptions;
  if (!s.beside.empty()) {
    plan.notes.insert(plan.notes.end(), plan.simulated->notes.begin(), plan.simulated->notes.end());
    plan.notes.emplace_back(
        "several models: sized by simulation from the replicas on which their iterations, each model's batches as full "
        "as they get, would just run");
  }
  if (best.cells > 1) {
    plan.notes.push_back(
        "simulated as " + std::to_string(best.cells) + " equal cells of " +
        std::to_string(best.sized->replicas / best.cells) +
        " replicas, each with a router and its share of the requests" +
        (s.traffic->shares_prefixes() ? ", of a store of all replicas, and of nothing that others keep" : ""));
  }
  if (s.traffic->day) {
    plan.notes.push_back("the fleet is sized for the peak as if it held on, and paid for all day");
    plan.notes.push_back("energy is that of replicas as busy as at the peak all day: no more than that");
    plan.autoscaling = follow_load(best);
  } else if (s.fleet->autoscaling) {
    plan.notes.push_back(
        "[fleet.autoscale]: the load does not change over the day ([traffic.over_time]), so that there is "
        "nothing to follow");
  }
  if (s.traffic->retries && best.sized) {
    plan.notes.push_back(retries_text(*s.traffic, best.sized->saturation));
  }
  if (s.fleet->failures && best.sized) {
    plan.notes.push_back(failures_text(*s.fleet->failures, *best.sized, best.served->simulated.gpus));
  }
  if (best.sized) {
    const ServingTraffic cell = s.traffic->part(1.0 / real(best.cells));
    const Seconds window = real(cell.requests) / cell.rate();
    const Seconds answer = best.sized->metrics.all.e2e.mean;
    constexpr double turns = 10.0;
    if (window < turns * answer) {
      plan.notes.push_back("the " + std::to_string(cell.requests) + " simulated requests come within " +
                           format(window) + ", an answer takes " + format(answer) +
                           ": a fleet that is hardly full looks better than it is; raise traffic.requests");
    }
  }
  if (best.sized && best.sized->keeps() && s.traffic->rate() > 0.95 * best.sized->saturation) {
    plan.notes.push_back(
        "above 95 % of its saturation a fleet's tail grows for hours: longer than was simulated; take "
        "the replicas of the interval's upper end");
  }
  const bool several = std::any_of(plan.options.begin(), plan.options.end(),
                                   [&](const FleetOption& o) { return o.question().device.id != s.device.id; });
  if (several && !best.scenario->money.price) {
    plan.notes.push_back(
        "without a price fewer GPUs come first, whatever their SKU: state money.prices or money.price");
  }
  const bool formats = std::any_of(plan.options.begin(), plan.options.end(), [&](const FleetOption& o) {
    return o.question().work.weights != s.work.weights || o.question().work.kv != s.work.kv;
  });
  if (formats) {
    plan.notes.push_back(
        "formats are compared by speed and room alone: what they cost in the quality of answers is not");
  }
  if (plan.simulated && s.beside.empty()) {  // of several models all of them are there already
    for (const std::string& note : plan.simulated->notes) {
      if (note.starts_with("serving.speculative: ") || note.starts_with("traffic.class ")) {
        plan.notes.push_back(note);
      }
    }
  }
  if (plan.simulated && plan.simulated->prefixes) {
    plan.notes.push_back(plan.simulated->prefixes->text());
    plan.notes.emplace_back("screened: as if every prefix that prompts share were found; simulated: what is found");
    const std::vector<std::string>& more = plan.simulated->prefixes->notes;
    plan.notes.insert(plan.notes.end(), more.begin(), more.end());
  }
  const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
  plan.interval_source = errors.text() +
                         "; a fleet whose replicas are slower by as much needs the replicas of the "
                         "interval's end";
  for (const RequestClass& c : s.traffic->classes) {
    if (c.objectives.empty()) {
      plan.notes.push_back("[slo]: nothing is promised to " + (c.name == "all" ? std::string{"requests"} : c.name) +
                           ", so that any fleet that is not overloaded will do; state ttft_p95 and tpot_p95");
    }
  }
}

/// The first combination that can be read; of none the problems of the first, all at once.
Scenario first_readable(const OptionMaker& maker, const std::vector<FleetAxis>& axes) {
  std::optional<ConfigError> wrong;
  for (std::uint64_t i = 0; i < combinations(axes); ++i) {
    try {
      return maker.read(combination(axes, i));
    } catch (const ConfigError& error) {
      wrong = wrong ? wrong : std::optional{error};
    }
  }
  throw wrong.value_or(ConfigError{"no combination of [search]"});
}

/// What is wrong beside the axes, where nothing can be read: everything at once. Problems of the values themselves are
/// told at their place in [search].
void add_problems_beside(const OptionMaker& maker, const std::vector<FleetAxis>& axes, Diagnostics& diagnostics) {
  if (diagnostics.empty() || combinations(axes) > most_combinations) {
    return;
  }
  const std::vector<std::string> first = combination(axes, 0);
  try {
    static_cast<void>(first_readable(maker, axes));
  } catch (const ConfigError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      const bool of_axes = std::any_of(first.begin(), first.end(),
                                       [&](const std::string& change) { return d.file == "--set " + change; });
      if (!of_axes) {
        diagnostics.add(d.file, d.at, d.message);
      }
    }
    diagnostics.pass_over(error.untold());
  }
}

std::string why_out_of_reach(const FleetOption& option) {
  try {
    return out_of_reach(option.question(), *option.served);
  } catch (const ConfigError& error) {
    return first_line(error);
  }
}

}  // namespace

bool FleetPlan::feasible() const noexcept {
  return !options.empty() && keeps(options.front());
}

FleetPlan plan_fleet(const ConfigValue& root,
                     const std::string& file,
                     const Sources& sources,
                     const FleetPlanOptions& options) {
  Diagnostics diagnostics;
  const std::vector<FleetAxis> axes = read_fleet_axes(root, sources.catalog, diagnostics);
  const OptionMaker maker{root, file, sources};
  add_problems_beside(maker, axes, diagnostics);
  diagnostics.throw_if_any();
  FleetPlan plan;
  plan.combinations = combinations(axes);
  if (plan.combinations > most_combinations) {
    throw ConfigError{"[search] makes " + std::to_string(plan.combinations) + " combinations, above " +
                      std::to_string(most_combinations) + "; list fewer values"};
  }
  const Scenario first = first_readable(maker, axes);
  const std::optional<DisaggregatedPrefill>& apart = std::get<ServeScenario>(first.question).fleet->prefill;
  // Prompts apart are held against replicas that do both, unless the number of replicas is the question's.
  const bool both = apart && !apart->replicas && !std::get<ServeScenario>(first.question).fleet->replicas;
  const auto each = static_cast<std::size_t>(plan.combinations);
  const std::size_t all = both ? 2 * each : each;
  plan.combinations = all;
  std::vector<std::optional<FleetOption>> made(all);
  std::vector<std::string> why(all);
  const unsigned threads = thread_count(options.threads);
  on_threads(threads, all, [&](std::size_t i) {
    try {
      made[i] = maker.make(combination(axes, i % each), i >= each);
    } catch (const ConfigError& error) {
      why[i] = first_line(error);
    }
  });
  for (std::size_t i = 0; i < all; ++i) {
    if (!made[i]) {
      plan.dropped.push_back({combination(axes, i % each), why[i], false});
    } else if (const std::string reason = made[i]->beyond_screen ? why_out_of_reach(*made[i]) : std::string{};
               !reason.empty()) {
      plan.dropped.push_back({made[i]->changes, reason, true});
    } else {
      plan.options.push_back(std::move(*made[i]));
    }
  }
  rank(plan.options);
  confirm_best(plan, threads, options.confirmed);
  if (plan.options.empty()) {
    plan.question = std::make_shared<const Scenario>(first);
    return plan;
  }
  plan.question = plan.options.front().scenario;
  settle(plan);
  plan_apart(plan, root, file, sources, options);
  return plan;
}

}  // namespace headroom
