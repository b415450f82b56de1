// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/brief.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

std::string layout_text(const ServingLayout& layout) {
  std::string text = "tp " + std::to_string(layout.tp);
  text += layout.pp > 1 ? ", pp " + std::to_string(layout.pp) : "";
  return text + (layout.ep > 1 ? ", ep " + std::to_string(layout.ep) : "");
}

/// " (prompts apart on 2 replicas of tp 4)"; empty where replicas do both.
std::string prefill_text(const FleetOption& option, std::int64_t replicas) {
  const std::optional<DisaggregatedPrefill>& prefill = option.question().fleet->prefill;
  return prefill ? " (prompts apart on " + counted(replicas, "replica") + " of tp " + std::to_string(prefill->tp) + ")"
                 : "";
}

/// What makes a way to serve; axes that show in no other word at the end: "prices lambda-2026-08".
Words option_words(const FleetOption& option, std::int64_t prefill_replicas) {
  const ServeScenario& s = option.question();
  Words words{{"gpu", s.device.id},
              {"layout", layout_text(s.work.layout) + prefill_text(option, prefill_replicas)},
              {"engine", std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]}},
              {"weights", "weights " + std::string{name_of(s.work.weights)}},
              {"KV cache", "KV cache " + std::string{name_of(s.work.kv)}}};
  constexpr std::array shown{Knob::gpu, Knob::engine, Knob::weights, Knob::kv_cache, Knob::tp, Knob::pp, Knob::ep};
  for (const Change& change : option.changes) {
    if (std::find(shown.begin(), shown.end(), change.knob) == shown.end()) {
      words.push_back(word_of(change));
    }
  }
  return words;
}

}  // namespace

std::string option_text(const FleetOption& option, std::int64_t prefill_replicas) {
  return words_text(option_words(option, prefill_replicas));
}
std::string option_text(const FleetOption& option) {
  return option_text(option, option.prefill_replicas());
}

namespace {

/// "12 GPUs, 3 replicas of h100-sxm-80gb, tp 4, ..."; the spare replicas among them.
std::string fleet_size_text(const FleetOption& option, const FleetSize& size) {
  return counted(size.gpus, "GPU") + ", " + counted(size.replicas + size.spare, "replica") + " of " +
         option_text(option, size.prefill_replicas);
}

bool all_kept(const FleetOption& option) {
  return std::all_of(option.sized->slow_end.begin(), option.sized->slow_end.end(),
                     [](const KeptPromise& one) { return one.kept; });
}

/// Whether what would do at the middle is another fleet than the one that is taken.
bool other_at_middle(const FleetPlan& plan) {
  if (!plan.at_middle) {
    return false;
  }
  const FleetSize& middle = *plan.options[*plan.at_middle].sized->middle;
  const FleetSize& taken = *plan.options.front().sized;
  return *plan.at_middle > 0 || !plan.feasible() || middle.replicas != taken.replicas ||
         middle.prefill_replicas != taken.prefill_replicas;
}

/// "3  (with probability 80 %; 2 at the middle, 2 at the fast end)".
std::string replicas_text(const FleetOption& option) {
  const Interval<double>& needed = option.replicas;
  const std::string taken = std::to_string(option.sized->replicas);
  if (!std::isfinite(needed.low)) {
    return taken + "  (no number is enough)";
  }
  if (needed.low == needed.high) {
    return taken;
  }
  const auto count = [](double replicas) { return std::isfinite(replicas) ? format_count(replicas) : "no number"; };
  return taken + "  (" + (std::isfinite(needed.high) ? "" : count(needed.high) + " ") + "with probability " +
         probability_text(option.question().confidence) + "; " + count(needed.mid) + " at the middle, " +
         count(needed.low) + " at the fast end)";
}

/// "0.831 $"; with its interval where there is one.
std::string dollars_text(const Interval<Dollars>& dollars) {
  return dollars.low < dollars.high ? interval_text(dollars) : format(dollars.mid);
}

std::string summary(const TimeSummary& times) {
  return format(times.p50) + ", " + format(times.p95) + ", " + format(times.p99);
}

/// The sized fleet's answers, row by row.
std::string answer_table(const FleetPlan& plan) {
  const FleetOption& best = plan.options.front();
  const SizedFleet& fleet = *best.sized;
  const ServingMetrics& m = fleet.metrics;
  Table table{{"", "<"}};
  table.row({"replicas", replicas_text(best)});
  if (fleet.spare > 0) {
    table.row({"  and spare", std::to_string(fleet.spare) +
                                  (plan.feasible() ? ", without which the promises are kept" : ", not counted here")});
  }
  if (fleet.prefill_replicas > 0) {
    table.row({"prefill replicas", std::to_string(fleet.prefill_replicas)});
  }
  const std::vector<std::string>& classes = plan.simulated->classes;
  for (const JudgedPromise& p : plan.simulated->promises) {
    const std::string of = classes.size() == 1 ? "" : " of " + classes.at(p.service_class);
    table.row({key_of(p.promise) + of, interval_text(p.interval) + " of " + format(p.promise.limit) +
                                           " promised: " + (p.kept ? "" : "MISSED, ") + "kept with probability " +
                                           probability_text(p.chance)});
  }
  table.row({"TTFT p50, p95, p99", summary(m.all.ttft)});
  table.row({"TPOT p50, p95, p99", summary(m.all.tpot)});
  table.row({"whole answer p50, p95, p99", summary(m.all.e2e)});
  table.row({"queue p50, p95, p99", summary(m.all.queue)});
  table.row({"load", fleet.answers() ? percent(fleet.load(), 2) + " of the " + rate_text(fleet.saturation) +
                                           " at which these replicas saturate; " +
                                           percent(fleet.load_at_slow_end(), 2) + " at the slow end"
                                     : "none: within the 106 days that are simulated at most nothing is answered"});
  if (!plan.simulated->promises.empty()) {
    table.row({"most load within [slo]", fleet.knee.raw() > 0.0
                                             ? rate_text(fleet.knee) + " at the middle (the knee)"
                                             : "none: the promises are kept at no rate that was tried"});
  }
  table.row({"batch of a replica", format_number(m.pool.batch_mean) + " sequences an iteration"});
  table.row({"KV cache in use", percent(m.pool.kv_mean, 2) + ", at most " + percent(m.pool.kv_peak, 2) + "; " +
                                    std::to_string(m.pool.preemptions) + " preemptions"});
  if (best.per_hour.raw() > 0.0) {
    table.row({"cost per hour", format(best.per_hour)});
    table.row({"cost per M output tokens", dollars_text(best.per_million_output_of_all)});
    table.row({"  if billed apart: per M input tokens", dollars_text(best.per_million_input)});
    table.row({"  and per M output tokens", dollars_text(best.per_million_output)});
  }
  energy_row(table, plan.energy, "output tokens");
  return table.text();
}

std::string options_table(const FleetPlan& plan) {
  const bool priced = plan.options.front().per_hour.raw() > 0.0;
  std::vector<std::string> header{"ways to serve it", "GPUs", "at the middle", "replicas"};
  if (priced) {
    header.insert(header.end(), {"$/h", "$/M out"});
  }
  header.insert(header.end(), {"TTFT p95", "TPOT p95", "slow load"});
  const bool promised = tightest_promise(plan.options.front()).has_value();
  if (promised) {
    header.emplace_back("tightest");
  }
  header.emplace_back("<");
  Table table{header};
  constexpr std::size_t most = 12;
  const std::size_t rows = std::min(most, plan.options.size());
  std::vector<Words> words;
  for (std::size_t i = 0; i < rows; ++i) {
    words.push_back(option_words(plan.options[i], plan.options[i].prefill_replicas()));
  }
  const ToldApart told = told_apart(words);
  for (std::size_t i = 0; i < rows; ++i) {
    const FleetOption& o = plan.options[i];
    const bool sized = o.sized.has_value();
    const double saturation = (sized ? o.sized->saturation : o.screened.saturation).raw();
    const bool front = std::find(plan.front.begin(), plan.front.end(), i) != plan.front.end();
    const std::string at_middle = !sized ? "" : o.sized->middle ? std::to_string(o.sized->middle->gpus) : "none";
    std::vector<std::string> row{told.rows[i], std::to_string(o.gpus), at_middle,
                                 std::to_string(sized ? o.sized->replicas : o.screened_replicas)};
    if (priced) {
      row.push_back(format_number(o.per_hour.raw()));
      row.push_back(format_number(o.per_million_output_of_all.mid.raw()));
    }
    const Seconds ttft = sized ? o.sized->metrics.all.ttft.p95 : Seconds{o.screened.ttft.quantile(0.95)};
    const Seconds tpot = sized ? o.sized->metrics.all.tpot.p95 : Seconds{o.screened.tpot.quantile(0.95)};
    const double rate = o.question().traffic->rate().raw();
    const auto cell = [](Seconds time) { return std::isnan(time.raw()) ? std::string{"-"} : format(time); };
    row.insert(row.end(), {cell(ttft), cell(tpot), saturation > 0.0 ? percent(o.slowest * rate / saturation, 2) : "-"});
    if (promised) {
      const std::optional<TightestPromise> tightest = tightest_promise(o);
      row.push_back(tightest ? tightest->promise + " " + percent(tightest->of_limit, 2) : "");
    }
    row.emplace_back(!sized                        ? "screened"
                     : o.keeps()                   ? front ? "front" : ""
                     : !o.sized->keeps_at_middle() ? "misses"
                                                   : "kept at the middle alone");
    table.row(std::move(row));
  }
  std::string text = table.text_apart(told.alike);
  if (plan.options.size() > most) {
    text +=
        "  " + std::to_string(plan.options.size() - most) + " more were screened (all of them with --format json)\n";
  }
  return text +
         (promised
              ? "tightest: the promise that comes nearest to its limit at the slow end, and how much of the limit it "
                "takes there\n"
              : "") +
         "front: Pareto-best, no other is cheaper and faster in both; slow load: share of the saturation at the slow "
         "end; "
         "screened: estimated by closed forms, not simulated\n";
}

/// The shared pool beside a pool for each of its models.
std::string apart_table(const FleetPlan& plan) {
  const bool priced = plan.options.front().per_hour.raw() > 0.0;
  std::vector<std::string> header{"a pool for each model", "GPUs", "replicas"};
  if (priced) {
    header.emplace_back("$/h");
  }
  header.emplace_back("load");
  Table table{header};
  std::int64_t gpus = 0;
  Dollars per_hour{};
  bool all = true;
  const auto row = [&](const std::string& name, const FleetOption& o) {
    const double saturation = o.sized->saturation.raw();
    std::vector<std::string> cells{name, std::to_string(o.gpus), std::to_string(o.sized->replicas + o.sized->spare)};
    if (priced) {
      cells.push_back(format_number(o.per_hour.raw()));
    }
    cells.push_back(saturation > 0.0 ? percent(o.question().traffic->rate().raw() / saturation, 2) : "-");
    table.row(std::move(cells));
  };
  std::string left_out;
  for (const ApartPool& pool : plan.apart) {
    all = all && pool.why.empty();
    if (!pool.why.empty()) {
      left_out += "  " + pool.model + ": " + pool.why + "\n";
      continue;
    }
    const FleetOption& best = pool.plan->options.front();
    gpus += best.gpus;
    per_hour = per_hour + best.per_hour;
    row(pool.model + ": " + option_text(best), best);
  }
  const FleetOption& shared = plan.options.front();
  row("one pool for all: " + option_text(shared), shared);
  std::string text = table.text() + left_out;
  if (all && plan.feasible()) {
    text += "together " + counted(gpus, "GPU") + (priced ? ", " + format(per_hour) + " an hour" : "") +
            "; one pool takes " +
            (shared.gpus == gpus  ? "as many"
             : shared.gpus < gpus ? counted(gpus - shared.gpus, "GPU") + " fewer"
                                  : counted(shared.gpus - gpus, "GPU") + " more") +
            (priced ? ", " + format(shared.per_hour) + " an hour" : "") + "\n";
  }
  return text;
}

std::string changes_text(const DroppedOption& dropped) {
  std::string text;
  for (const Change& change : dropped.changes) {
    text += (text.empty() ? "" : ", ") + override_of(change);
  }
  return text;
}

}  // namespace

std::string kept_with(const std::optional<double>& chance, double confidence) {
  return chance ? "; what is asked is kept with probability " + probability_text(*chance) +
                      (*chance < confidence ? ", less than the " + probability_text(confidence) + " asked for" : "")
                : "";
}

std::string rate_text(Hertz rate) {
  return format_number(rate.raw()) + " req/s";
}

std::string fleet_heading(const FleetPlan& plan) {
  const ServeScenario& s = plan.options.front().question();
  const ServingTraffic& traffic = *s.traffic;
  const ServingTraffic::Lengths lengths = traffic.lengths();
  const Hertz mean = plan.options.front().mean_rate;
  const std::string rate =
      traffic.day ? rate_text(mean) + " on average, " + rate_text(traffic.rate()) + " at the peak" : rate_text(mean);
  std::string text = model_names(s) + ", " + rate + ", " + format_number(lengths.prompt) + " tokens in, " +
                     format_number(lengths.output) + " out on average, at most " +
                     format_count(static_cast<double>(lengths.longest)) + " together";
  text += traffic.traced ? " (" + traffic.traced->file + ")" : "";
  for (const RequestClass& c : traffic.classes) {
    for (const TailObjective& o : c.objectives) {
      text +=
          (&o == &c.objectives.front() ? (traffic.classes.size() > 1 ? "; " + c.name + ": " : "; promised ") : ", ") +
          key_of(o) + " " + format(o.limit);
    }
  }
  return text;
}

namespace {

/// Why none of the ways was kept: the reason of most of them, of memory that of the most ranks.
const DroppedOption* main_reason(const FleetPlan& plan) {
  std::map<DropCause, std::pair<std::size_t, const DroppedOption*>> causes;
  for (const DroppedOption& dropped : plan.dropped) {
    auto& [ways, shown] = causes[dropped.cause];
    ++ways;
    shown = shown == nullptr || dropped.cause == DropCause::memory ? &dropped : shown;
  }
  const auto most = std::max_element(causes.begin(), causes.end(),
                                     [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return most == causes.end() ? nullptr : most->second.second;
}

std::string no_fleet_text(const FleetPlan& plan) {
  const std::string ways =
      "no fleet: of " + counted(static_cast<std::int64_t>(plan.combinations), "way") + " to serve it none ";
  const bool held = std::any_of(plan.dropped.begin(), plan.dropped.end(),
                                [](const DroppedOption& d) { return d.cause != DropCause::memory; });
  const DroppedOption* const reason = main_reason(plan);
  const std::string verdict = ways + (held ? "keeps what is promised" : "holds the model");
  if (reason == nullptr || plan.no_help) {  // more replicas: a sentence of its own
    return verdict;
  }
  const std::string way = changes_text(*reason);
  return verdict + "; " + (way.empty() ? "" : way + ": ") + reason->why;
}

}  // namespace

std::string fleet_verdict(const FleetPlan& plan) {
  if (plan.options.empty()) {
    return no_fleet_text(plan);
  }
  const FleetOption& best = plan.options.front();
  if (plan.feasible()) {
    return "take " + fleet_size_text(best, *best.sized) + kept_with(plan.chance, best.question().confidence);
  }
  const bool promised = !best.sized->slow_end.empty();
  const bool slow_alone = best.sized->keeps_at_middle();
  if (!best.question().fleet->replicas && slow_alone) {
    return "no fleet: none keeps what is promised with probability " + probability_text(best.question().confidence) +
           ": " + best.why_not_slow;
  }
  return (!best.sized->answers()                 ? "answers nothing: "
          : promised && best.sized->overloaded() ? "overloaded, misses what is promised: "
          : best.sized->overloaded()             ? "overloaded: "
          : !slow_alone                          ? "misses what is promised: "
          : promised && !all_kept(best)          ? "misses what is promised at the slow end of measured replicas: "
                                                 : "overloaded at the slow end of measured replicas: ") +
         fleet_size_text(best, *best.sized) + kept_with(plan.chance, best.question().confidence);
}

std::string fleet_way_out(const FleetPlan& plan) {
  if (plan.options.empty() || plan.feasible() || !plan.options.front().question().fleet->replicas) {
    return {};
  }
  const FleetOption& best = plan.options.front();
  const auto such = [&](std::int64_t replicas) {
    const std::int64_t spare = best.question().fleet->spare_of(replicas, best.served->simulated.gpus);
    return counted(replicas, "such replica") + (spare > 0 ? " and " + std::to_string(spare) + " spare" : std::string{});
  };
  if (best.enough > 0) {
    return such(best.enough) + " would keep it";
  }
  return best.enough_at_middle > 0 ? "no number of such replicas keeps it at the slow end; at the middle " +
                                         such(best.enough_at_middle) + " would"
                                   : "no number of such replicas keeps it";
}

std::string fleet_at_middle(const FleetPlan& plan) {
  if (!other_at_middle(plan)) {
    return {};
  }
  const FleetOption& option = plan.options[*plan.at_middle];
  const FleetSize& size = *option.sized->middle;
  return "at the middle " + counted(size.gpus, "GPU") + " would do: " + counted(size.replicas + size.spare, "replica") +
         " of " + option_text(option, size.prefill_replicas) +
         (option.per_hour_at_middle.raw() > 0.0 ? ", " + format(option.per_hour_at_middle) + " an hour" : "") +
         (plan.chance_at_middle ? ", with probability " + probability_text(*plan.chance_at_middle) : "");
}

std::string fleet_no_help(const FleetPlan& plan) {
  const bool kept = !plan.no_help || plan.no_help->cause == NoHelpCause::burst;  // by the fixed fleet
  return kept ? std::string{} : no_help_text(*plan.no_help);
}

std::int64_t gpus_of_a_replica(const FleetPlan& plan) {
  const ServedReplica& served = *plan.options.front().served;
  return served.simulated.gpus + (served.prefill ? served.prefill->gpus : 0);
}

std::string fleet_left_out(const FleetPlan& plan) {
  struct Kind {
    std::size_t ways = 0;
    const DroppedOption* first = nullptr;
  };
  std::map<std::pair<DropCause, std::string_view>, Kind> kinds;
  for (const DroppedOption& dropped : plan.dropped) {
    const bool rule = dropped.cause == DropCause::rule;  // the others' sentences differ by their numbers alone
    Kind& kind = kinds[{dropped.cause, rule ? std::string_view{dropped.why} : std::string_view{}}];
    ++kind.ways;
    // Of what does not fit the way with the most ranks says what is needed yet.
    kind.first = kind.first == nullptr || dropped.cause == DropCause::memory ? &dropped : kind.first;
  }
  std::vector<Kind> order;
  for (const auto& [reason, kind] : kinds) {
    order.push_back(kind);
  }
  std::stable_sort(order.begin(), order.end(), [](const Kind& a, const Kind& b) { return a.ways > b.ways; });
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    const std::string way = changes_text(*order[i].first);
    text += "  left out: " + (order[i].ways > 1 ? std::to_string(order[i].ways) + " ways, such as " : std::string{}) +
            (way.empty() ? "" : way + ": ") + order[i].first->why + "\n";
  }
  return text + (order.size() > most ? "  left out for other reasons: all of them with --format json\n" : "");
}

std::optional<TightestPromise> tightest_promise(const FleetOption& option) {
  std::optional<TightestPromise> tightest;
  const auto judge = [&](const std::string& service_class, const TailObjective& promise, Seconds reached) {
    const double of_limit = reached / promise.limit;
    if (std::isfinite(of_limit) && (!tightest || of_limit > tightest->of_limit)) {
      tightest = TightestPromise{service_class, key_of(promise), of_limit};
    }
  };
  const std::vector<RequestClass>& classes = option.question().traffic->classes;
  if (option.sized) {
    for (const KeptPromise& p : option.sized->slow_end) {
      judge(classes.at(p.service_class).name, p.promise, p.reached);
    }
    return tightest;
  }
  const ServingScreen& screened = option.screened_slow;
  const std::array<const TimeDistribution*, 3> times{&screened.ttft, &screened.tpot, &screened.e2e};
  for (const RequestClass& c : classes) {
    for (const TailObjective& o : c.objectives) {
      const TimeDistribution& time = *times[static_cast<std::size_t>(o.metric)];
      const bool mean = o.quantile == TailObjective::mean;
      if (!screened.overloaded) {
        judge(c.name, o, option.slowest * Seconds{mean ? time.mean() : time.quantile(o.quantile)});
      }
    }
  }
  return tightest;
}

std::string fleet_text(const FleetPlan& plan) {
  const std::string partial =
      plan.complete ? "" : partial_text(plan.time_over) + "; what follows is the best of what was sized until then\n";
  const std::string no_help = fleet_no_help(plan);
  if (plan.options.empty()) {
    const bool told = plan.dropped.size() == 1 && !plan.no_help;  // by the verdict
    return partial + fleet_verdict(plan) + "\n" + no_help + (no_help.empty() ? "" : "\n") +
           (told ? "" : fleet_left_out(plan));
  }
  const FleetOption& best = plan.options.front();
  std::string text = partial + fleet_heading(plan) + "\n\n";
  text += fleet_verdict(plan) + "\n";
  for (const std::string& line : {fleet_way_out(plan), no_help, fleet_at_middle(plan)}) {
    text += line.empty() ? "" : line + "\n";
  }
  text += answer_table(plan);
  if (plan.combinations > 1) {
    text += "\n" + options_table(plan) + fleet_left_out(plan);
  }
  text += plan.apart.empty() ? "" : "\n" + apart_table(plan);
  text += plan.autoscaling ? "\n" + fleet_over_time(plan) : "";
  text += bill_text(plan.bill) + "\n";
  text += plan.notes.empty() ? "" : "assumed:\n";
  for (const std::string& note : plan.notes) {
    text += "  " + note + "\n";
  }
  text += energy_text(plan.energy) + price_text(best.scenario->money);
  return text + "\nreplicas and dollars: " + plan.interval_source + "\ntimes, " +
         format_count(static_cast<double>(best.sized->metrics.all.requests)) +
         " simulated requests: " + plan.simulated->times_source + "\n";
}

}  // namespace headroom
