// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/on_threads.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/fleet/fleet_apart.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_cells.hpp>
#include <headroom/scenarios/fleet/fleet_following.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/fleet/fleet_screen.hpp>
#include <headroom/scenarios/serving/slow_end.hpp>
#include <headroom/scenarios/traffic/admission.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// The first line of what is wrong, without its place: many combinations break the same rule.
std::string first_line(const ConfigError& error) {
  return error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
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
      return other.keeps() && options[i].keeps() && beats(other, options[i]);
    });
    if (options[i].keeps() && !beaten) {
      front.push_back(i);
    }
  }
  return front;
}

/// Requests per second that could still come: up to the knee, else to the saturation.
Hertz room_of(const FleetOption& option) {
  return option.sized ? option.sized->knee : option.screened.saturation;
}

/// Those that keep everything at the slow end first, then those that do at the middle, then sized, then screened; each
/// cheapest first, of equals the one with room.
void rank(std::vector<FleetOption>& options) {
  const auto class_of = [](const FleetOption& o) {
    return o.keeps() ? 0 : o.sized && o.sized->keeps_at_middle() ? 1 : o.sized ? 2 : 3;
  };
  std::vector<FleetOption*> order;  // options are wide: each is moved once
  order.reserve(options.size());
  for (FleetOption& option : options) {
    order.push_back(&option);
  }
  std::stable_sort(order.begin(), order.end(), [&](const FleetOption* a, const FleetOption* b) {
    if (class_of(*a) != class_of(*b)) {
      return class_of(*a) < class_of(*b);
    }
    const bool level = !cheaper(*a, *b) && !cheaper(*b, *a);
    return level ? room_of(*a) > room_of(*b) : cheaper(*a, *b);
  });
  std::vector<FleetOption> ranked;
  ranked.reserve(options.size());
  for (FleetOption* const option : order) {
    ranked.push_back(std::move(*option));
  }
  options = std::move(ranked);
}

/// Of the sized ones the cheapest that is enough at the middle.
std::optional<std::size_t> best_at_middle(const std::vector<FleetOption>& options) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const bool enough = options[i].sized && options[i].sized->middle;
    if (enough && (!best || cheaper_at_middle(options[i], options[*best]))) {
      best = i;
    }
  }
  return best;
}

/// Whether a plan is to end, and how far it is.
class Course {
 public:
  explicit Course(const FleetPlanOptions& options) : options_{options} {}

  void begin(std::uint64_t ways) {
    if (options_.progress != nullptr) {
      options_.progress->ways += ways;
    }
  }
  /// False: the work is left out, because the plan is stopped and such work was done before.
  [[nodiscard]] bool goes_on(bool done_before) {
    if (!done_before || options_.stop == nullptr || !options_.stop->load()) {
      return true;
    }
    complete_.store(false);
    return false;
  }
  void screened() { count(&FleetProgress::screened); }
  void sized() { count(&FleetProgress::sized); }
  [[nodiscard]] bool complete() const noexcept { return complete_.load(); }

 private:
  void count(std::atomic<std::uint64_t> FleetProgress::*which) {
    if (options_.progress != nullptr) {
      ++(options_.progress->*which);
    }
  }

  const FleetPlanOptions& options_;
  std::atomic<bool> complete_{true};
};

/// Simulates options by what the screen says they cost until `wanted` of them keep their promises, or none is left. An
/// option that is out of reach makes room for the next; so does one that does not keep them at the slow end, of which
/// `wanted` are sized beside those that do. Once they are, stated replicas that are too few by the screen are not.
void confirm_best(FleetPlan& plan, unsigned threads, std::size_t wanted, Course& course) {
  enum class Sized : std::uint8_t { no, yes, left_out };
  std::atomic<std::size_t> done{0};  ///< sized with a number of replicas
  std::size_t kept = 0;
  std::size_t others = 0;
  std::size_t next = 0;
  while (kept < wanted && (kept == 0 || others < wanted) && next < plan.options.size()) {
    if (!course.goes_on(done.load() > 0)) {
      break;
    }
    const bool middle_too = others < wanted;
    std::vector<FleetOption*> batch;
    for (; next < plan.options.size() && batch.size() < wanted - kept; ++next) {
      FleetOption& option = plan.options[next];
      if (middle_too || !option.beyond_screen || !option.question().fleet->replicas) {
        batch.push_back(&option);
      }
    }
    std::vector<std::string> why(batch.size());
    std::vector<std::optional<NoHelp>> no_help(batch.size());
    std::vector<Sized> sized(batch.size(), Sized::no);
    on_threads(threads, batch.size(), [&](std::size_t i) {
      if (!course.goes_on(done.load() > 0)) {
        sized[i] = Sized::left_out;
        return;
      }
      try {
        no_help[i] = size_option(*batch[i], middle_too);
        why[i] = no_help[i] ? cause_text(*no_help[i]) : std::string{};
        sized[i] = no_help[i] ? Sized::no : Sized::yes;
        done += sized[i] == Sized::yes ? 1 : 0;
      } catch (const ConfigError& error) {
        why[i] = first_line(error);
      }
      course.sized();
    });
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (sized[i] == Sized::no) {
        plan.dropped.push_back({batch[i]->changes, DropCause::promise, why[i], no_help[i]});
        batch[i]->gpus = 0;  // leaves the list below
      } else if (sized[i] == Sized::yes) {
        ++(batch[i]->keeps() ? kept : others);
      }
    }
  }
  std::erase_if(plan.options, [](const FleetOption& o) { return o.gpus == 0; });
  rank(plan.options);
  plan.front = front_of(plan.options);
  plan.at_middle = best_at_middle(plan.options);
}

/// Precondition: it answers something.
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
  work.rate = s.traffic->lengths().output * answered_rate(option);
  // Slower replicas are busy for longer.
  const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
  work.width = std::sqrt(errors.high / errors.low) - 1.0;
  return energy_of(power, s.work.clock, option.scenario->energy, work);
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

/// How sure the fleet is that is taken, and the one that would do at the middle.
void add_chances(FleetPlan& plan, unsigned threads) {
  const FleetOption& best = plan.options.front();
  const bool of_best = best.sized && best.sized->answers();
  std::vector<std::pair<const FleetOption*, FleetSize>> asked;
  if (of_best) {
    asked.emplace_back(&best, *best.sized);
  }
  const auto same_size = [](const FleetSize& a, const FleetSize& b) {
    return a.replicas == b.replicas && a.prefill_replicas == b.prefill_replicas;
  };
  if (plan.at_middle) {
    const FleetOption& middle = plan.options[*plan.at_middle];
    if (!of_best || &middle != &best || !same_size(*best.sized, *middle.sized->middle)) {
      asked.emplace_back(&middle, *middle.sized->middle);
    }
  }
  std::vector<double> chances(asked.size());
  on_threads(threads, asked.size(), [&](std::size_t i) {
    const auto& [option, size] = asked[i];
    chances[i] = chance_by_cells(option->question(), *option->served, size, option->cells, *option->sized->runs);
  });
  if (of_best) {
    // By its own steps, which may lie below what was found to be kept.
    plan.chance = best.keeps() ? std::max(chances.front(), best.question().confidence) : chances.front();
  }
  if (plan.at_middle) {
    plan.chance_at_middle = chances.back();
  }
}

/// Why more replicas do not keep the promises: of the first option, of none the first way that was left out for it.
std::optional<NoHelp> reason_of(const FleetPlan& plan) {
  if (!plan.options.empty()) {
    return plan.feasible() ? std::nullopt : plan.options.front().no_help;
  }
  const auto told = std::find_if(plan.dropped.begin(), plan.dropped.end(),
                                 [](const DroppedOption& d) { return d.no_help.has_value(); });
  return told != plan.dropped.end() ? told->no_help : std::nullopt;
}

/// What the first option does, costs and draws.
void settle(FleetPlan& plan, unsigned threads) {
  const FleetOption& best = plan.options.front();
  const ServeScenario& s = best.question();
  if (best.sized) {
    plan.simulated = simulate_serving(cell_of(as_sized(best), best.cells), best.scenario->money);
    const double output = s.traffic->lengths().output;
    const Hertz knee = best.sized->knee;
    const double reached = knee > Hertz{} ? knee.raw() : best.sized->answers() ? s.traffic->rate().raw() : 0.0;
    plan.bill =
        serving_bill(best.scenario->money, {real(best.gpus), s.traffic->lengths().prompt, output, reached * output});
    const Node* node = s.host ? &*s.host : nullptr;
    const std::optional<GpuPower> power = gpu_power(s.device, node, s.power_cap, power_form(*s.data));
    if (power && best.sized->answers()) {
      plan.energy = energy_of_fleet(best, *power);
    }
  }
  plan.notes = best.scenario->assumptions;
  if (s.device.slice) {
    plan.notes.push_back(counted(best.gpus, "slice") + " " + s.device.id + " on " +
                         counted(s.device.slice->cards(best.gpus), "card") + " " + s.device.slice->card + ", " +
                         std::to_string(s.device.slice->per_card) + " on each");
  }
  if (!s.beside.empty()) {
    plan.notes.insert(plan.notes.end(), plan.simulated->notes.begin(), plan.simulated->notes.end());
    plan.notes.emplace_back(
        "several models: sized by simulation from the replicas on which their iterations, each model's batches as full "
        "as they get, would just run");
  }
  if (s.beside.empty()) {  // of several models the simulation's notes have them already
    const std::vector<std::string> refused = refused_requests(s);
    plan.notes.insert(plan.notes.end(), refused.begin(), refused.end());
  }
  if (best.cells > 1) {
    plan.notes.push_back(
        "simulated as " + std::to_string(best.cells) + " equal cells of " +
        std::to_string(best.sized->replicas / best.cells) +
        " replicas, each with a router and its share of the requests" +
        (s.traffic->shares_prefixes() ? ", of a store of all replicas, and of nothing that others keep" : ""));
  }
  if (s.traffic->day) {
    if (s.traffic->day->repeats) {
      plan.notes.push_back("the fleet is sized for the peak as if it held on, and paid for all day");
      plan.notes.push_back("energy is that of replicas as busy as at the peak all day: no more than that");
    } else {
      plan.notes.push_back(
          "the fleet is sized for the part of the trace with most requests as if its rate held on, with the lengths of "
          "the whole trace and its gaps inside of parts, and paid for all the time");
      plan.notes.push_back("energy is that of replicas as busy as at that rate all the time: no more than that");
    }
    follow_load(plan, threads);
    if (const Seconds period = s.traffic->day->period;
        plan.cold_start && !s.traffic->day->repeats && plan.cold_start->whole >= period) {
      plan.notes.push_back("[fleet.autoscale]: a cold start of " + format(plan.cold_start->whole) +
                           " is no shorter than the trace, " + format(period) +
                           ": no replica that is ordered in it serves in it");
    }
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
      plan.notes.push_back("the " + format_count(real(cell.requests)) + " simulated requests come within " +
                           format(window) + ", an answer takes " + format(answer) +
                           ": a fleet that is hardly full looks better than it is; raise traffic.requests");
    }
  }
  if (best.sized && !best.sized->overloaded() && best.sized->load() > 0.95) {
    plan.notes.emplace_back("above 95 % of its saturation a fleet's tail grows for hours: longer than was simulated");
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
    plan.notes.insert(plan.notes.end(), plan.simulated->findings.begin(), plan.simulated->findings.end());
  }
  if (plan.simulated) {
    for (SessionFacts& one : plan.simulated->sessions) {  // of one cell
      one.sessions_per_s = real(best.cells) * one.sessions_per_s;
      one.open *= real(best.cells);
      plan.notes.push_back(one.text());
    }
  }
  if (plan.simulated && plan.simulated->prefixes) {
    plan.notes.push_back(plan.simulated->prefixes->text());
    plan.notes.emplace_back(
        s.traffic->has_turns()
            ? "screened: as if caches found of sessions what closed forms say; simulated: what is found"
            : "screened: as if every prefix that prompts share were found; simulated: what is found");
    const std::vector<std::string>& more = plan.simulated->prefixes->notes;
    plan.notes.insert(plan.notes.end(), more.begin(), more.end());
  }
  std::set<std::string> unmeasured;
  for (const FleetOption& option : plan.options) {
    const std::string text = other_kernels_text(option.question());
    if (!text.empty() && unmeasured.insert(option.question().device.id).second) {
      plan.notes.push_back("kernels: " + text);
    }
  }
  const ServingErrors& errors = serving_errors(s, ServingQuantity::rate);
  plan.interval_source = errors.text() + "; a fleet is taken that keeps its promises with probability " +
                         probability_text(s.confidence) + ", loaded below " + format_number(100.0 * most_load) +
                         " % of what replicas as slow as that answer";
  for (const RequestClass& c : s.traffic->classes) {
    if (c.objectives.empty()) {
      plan.notes.push_back("[slo]: nothing is promised to " + (c.name == "all" ? std::string{"requests"} : c.name) +
                           ", so that any fleet that is not overloaded will do; state ttft_p95 and tpot_p95");
    }
  }
}

}  // namespace

bool FleetPlan::feasible() const noexcept {
  return !options.empty() && options.front().keeps();
}

FleetPlan plan_fleet(const AskedFleet& asked, const FleetPlanOptions& options) {
  FleetPlan plan;
  const auto& first = std::get<ServeScenario>(asked.first.question);
  const std::optional<DisaggregatedPrefill>& apart = first.fleet->prefill;
  // Prompts apart are held against replicas that do both, unless the number of replicas is the question's.
  const bool both = apart && !apart->replicas && !first.fleet->replicas;
  const auto each = static_cast<std::size_t>(combinations(asked.axes));
  const std::size_t all = both ? 2 * each : each;
  plan.combinations = all;
  std::vector<std::optional<FleetOption>> made(all);
  std::vector<DroppedOption> dropped(all);
  const unsigned threads = thread_count(options.threads);
  Course course{options};
  course.begin(all);
  std::atomic<std::size_t> screened{0};
  on_threads(threads, all, [&](std::size_t i) {
    if (!course.goes_on(screened.load() > 0)) {
      dropped[i] = {
          combination(asked.axes, i % each), DropCause::stopped, "not looked at before the plan was stopped", {}};
      return;
    }
    try {
      made[i] = make_option(asked.base, combination(asked.axes, i % each), i >= each);
      ++screened;
    } catch (const Unserved& error) {
      dropped[i] = {combination(asked.axes, i % each), error.cause, first_line(error), {}};
    } catch (const ConfigError& error) {
      dropped[i] = {combination(asked.axes, i % each), DropCause::rule, first_line(error), {}};
    }
    course.screened();
  });
  for (std::size_t i = 0; i < all; ++i) {
    if (!made[i]) {
      plan.dropped.push_back(std::move(dropped[i]));
    } else if (made[i]->reach && made[i]->reach->at_middle) {
      const NoHelp& why = *made[i]->reach->at_middle;
      plan.dropped.push_back({made[i]->changes, DropCause::promise, cause_text(why), why});
    } else {
      plan.options.push_back(std::move(*made[i]));
    }
  }
  rank(plan.options);
  confirm_best(plan, threads, options.confirmed, course);
  plan.complete = course.complete();
  if (plan.options.empty()) {
    plan.no_help = reason_of(plan);
    plan.question = std::make_shared<const Scenario>(asked.first);
    return plan;
  }
  plan.question = plan.options.front().scenario;
  add_enough(plan.options.front());
  add_prefill_bound(plan.options.front());
  plan.no_help = reason_of(plan);
  add_chances(plan, threads);
  settle(plan, threads);
  if (course.goes_on(true)) {
    plan_apart(plan, asked, options);
  }
  plan.complete = course.complete();
  return plan;
}

}  // namespace headroom
