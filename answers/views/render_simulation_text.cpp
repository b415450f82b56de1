// SPDX-License-Identifier: Apache-2.0
// The text of a simulation.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 4> gap_words{"Poisson arrivals", "gamma gaps", "Weibull gaps", "equal gaps"};
constexpr std::array<std::string_view, 5> routing_words{"in turn", "to the fewest outstanding", "by chance",
                                                        "from one queue", "by prefix"};
constexpr std::size_t bar_width = 40;

std::string time_cell(Seconds time) {
  return std::isnan(time.raw()) ? "-" : format(time);
}

std::string arrivals_text(const ServingTraffic& traffic) {
  if (traffic.traced) {
    return "arrivals of " + traffic.traced->file;
  }
  const ArrivalProcess& first = traffic.classes.front().traffic.arrivals;
  const bool alike = std::all_of(traffic.classes.begin(), traffic.classes.end(),
                                 [&](const RequestClass& one) { return one.traffic.arrivals.gaps == first.gaps; });
  std::string text{alike ? gap_words[static_cast<std::size_t>(first.gaps)] : "gaps of each class"};
  if (alike && first.gaps == GapShape::gamma) {
    text += " of cv " + format_number(first.cv);
  }
  return text;
}

std::string heading(const ServeScenario& s, const ServingSimulation& r) {
  const ServingWorkload& w = s.work;
  std::string text = model_names(s) + " served on " + std::to_string(r.gpus) + " x " + s.device.id + " by " +
                     std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]} + ", weights " +
                     std::string{name_of(w.weights)} + ", KV cache " + std::string{name_of(w.kv)} + "\n";
  text += "tp " + std::to_string(w.layout.tp) + ", pp " + std::to_string(w.layout.pp);
  text += w.layout.ep > 1 ? ", ep " + std::to_string(w.layout.ep) : "";
  text += ", " + (r.prefill_replicas > 0 ? counted(r.replicas, "decode replica") : counted(r.replicas, "replica"));
  if (r.prefill_replicas > 0) {
    text += " behind " + std::to_string(r.prefill_replicas) + " of prompts, tp " + std::to_string(s.fleet->prefill->tp);
  }
  text += r.replicas > 1 ? ", requests " + std::string{routing_words[static_cast<std::size_t>(s.fleet->routing)]} : "";
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  return text + "; " + rate_text(r.offered) + ", " + arrivals_text(*s.traffic) + "; " +
         format_number(lengths.prompt, 4) + " tokens in, " + format_number(lengths.output, 4) + " out on the mean\n\n";
}

void latency_row(Table& table, const std::string& name, const TimeSummary& t) {
  table.row({name, time_cell(t.mean), time_cell(t.p50), time_cell(t.p90), time_cell(t.p95), time_cell(t.p99),
             time_cell(t.max)});
}

std::string latency_table(const ServingSimulation& r) {
  Table table{{"", "mean", "p50", "p90", "p95", "p99", "max"}};
  const RequestMetrics& all = r.metrics.all;
  latency_row(table, "TTFT", all.ttft);
  latency_row(table, "TPOT", all.tpot);
  latency_row(table, "end to end", all.e2e);
  latency_row(table, "queue, of TTFT", all.queue);
  if (r.metrics.classes.size() > 1) {
    for (std::size_t i = 0; i < r.metrics.classes.size(); ++i) {
      const RequestMetrics& one = r.metrics.classes[i];
      latency_row(table, r.classes[i] + ": TTFT", one.ttft);
      latency_row(table, r.classes[i] + ": TPOT", one.tpot);
      latency_row(table, r.classes[i] + ": end to end", one.e2e);
    }
  }
  return table.text();
}

std::string interval_cell(const Interval<Seconds>& interval) {
  return std::isnan(interval.mid.raw()) ? "-" : interval_text(interval);
}

/// "39 % below", "31 % over", "2.4 times the limit".
std::string margin(const JudgedPromise& one) {
  if (one.unanswered > 0.0) {
    return percent(one.unanswered) + " are never answered";
  }
  if (one.refuses() && !(one.over() > 0.0)) {
    return percent(one.refused) + " are refused";
  }
  if (one.over() > 1.0) {
    return format_number(1.0 + one.over()) + " times the limit";
  }
  return std::isnan(one.over()) ? "nothing to judge"
                                : percent(std::abs(one.over())) + (one.over() > 0.0 ? " over" : " below");
}

std::string promise_name(const ServingSimulation& r, const JudgedPromise& one) {
  return (r.classes.size() > 1 ? r.classes[one.service_class] + ": " : "") + key_of(one.promise);
}

std::string promise_table(const ServingSimulation& r) {
  if (r.promises.empty()) {
    return "";
  }
  Table table{{"promised", "limit", "<reached", "<", "<"}};
  for (const JudgedPromise& one : r.promises) {
    table.row({promise_name(r, one), format(one.promise.limit), interval_cell(one.interval),
               std::string{one.kept ? "kept" : "missed"} + ", " + margin(one),
               "kept with probability " + probability_text(one.chance)});
  }
  return table.text() + "\n";
}

/// A load that surely is answered has a rate, not an interval.
std::string rate_interval(const Interval<Hertz>& rate) {
  if (rate.low == rate.high) {
    return format_number(rate.mid.raw());
  }
  return interval_text(Interval<double>{rate.low.raw(), rate.mid.raw(), rate.high.raw()});
}

std::string cost_interval(const Interval<Dollars>& cost) {
  return cost.low == cost.high ? format(cost.mid) : interval_text(cost);
}

void cost_rows(Table& table, const ServingSimulation& r) {
  if (!r.costs) {
    return;
  }
  table.row({"cost per M output tokens", cost_interval(r.costs->output_tokens)});
  table.row({"  at the saturation rate", format(r.costs->output_tokens_saturated)});
  table.row({"cost per M tokens in and out", cost_interval(r.costs->tokens)});
  table.row({"cost per M requests", cost_interval(r.costs->requests)});
}

std::string rates_table(const ServingSimulation& r) {
  const RequestMetrics& all = r.metrics.all;
  Table table{{"", "<"}};
  table.row({"TTFT, p50", interval_cell({r.ttft.low.p50, r.ttft.mid.p50, r.ttft.high.p50})});
  table.row({"TTFT, p99", interval_cell({r.ttft.low.p99, r.ttft.mid.p99, r.ttft.high.p99})});
  table.row({"TPOT, p50", interval_cell({r.tpot.low.p50, r.tpot.mid.p50, r.tpot.high.p50})});
  table.row({"TPOT, p99", interval_cell({r.tpot.low.p99, r.tpot.mid.p99, r.tpot.high.p99})});
  table.row({"requests/s answered", rate_interval(r.served)});
  table.row({"  saturates at", rate_interval(r.saturation)});
  if (r.retries) {
    table.row({"attempts of a request", format_number(r.retries->attempts, 4) + ", " + percent(r.retries->lost) +
                                            " of the requests given up, " + backoff_text(*r.retries) +
                                            " of backoff on the mean"});
  }
  if (!r.promises.empty()) {
    table.row({"  good, each within [slo]",
               format_number(all.good_per_s) + " req/s, " + percent(all.good_share) + " of the requests"});
    for (std::size_t i = 0; i < r.classes.size() && r.classes.size() > 1; ++i) {
      table.row({"  of " + r.classes[i], percent(r.metrics.classes[i].good_share)});
    }
  }
  table.row({"output tokens/s", format_number(all.output_tokens_per_s)});
  table.row({"input tokens/s", format_number(all.input_tokens_per_s)});
  cost_rows(table, r);
  return table.text();
}

std::string pool_rows(const std::string& name, const PoolMetrics& pool) {
  Table table{{name, "<"}};
  table.row({"an iteration runs", percent(pool.busy) + " of the time"});
  table.row({"KV blocks in use", "mean " + percent(pool.kv_mean) + ", fullest " + percent(pool.kv_peak)});
  table.row({"sequences of an iteration", "mean " + format_number(pool.batch_mean)});
  table.row({"iterations", format_count(static_cast<double>(pool.iterations))});
  table.row({"preemptions", format_count(static_cast<double>(pool.preemptions))});
  if (pool.gap_p99.raw() > 0.0) {
    table.row({"gap between two tokens", "p50 " + format(pool.gap_p50) + ", p95 " + format(pool.gap_p95) + ", p99 " +
                                             format(pool.gap_p99) + ", longest " + format(pool.gap_max)});
  }
  return table.text();
}

std::string batch_table(const PoolMetrics& pool) {
  const std::vector<BatchBin> bins = batch_bins(pool.batch);
  if (bins.empty()) {
    return "";
  }
  std::int64_t most = 1;
  for (const BatchBin& bin : bins) {
    most = std::max(most, bin.iterations);
  }
  Table table{{"sequences", "iterations", "<"}};
  for (const BatchBin& bin : bins) {
    const std::string range =
        std::to_string(bin.first) + (bin.last > bin.first ? " to " + std::to_string(bin.last) : "");
    const double share = static_cast<double>(bin.iterations) / static_cast<double>(most);
    const auto bar = static_cast<std::size_t>(std::lround(share * static_cast<double>(bar_width)));
    table.row({range, percent(static_cast<double>(bin.iterations) / static_cast<double>(pool.iterations)),
               std::string(bar, '#')});
  }
  return table.text();
}

/// What each of several models has of a replica.
std::string models_table(const ServeScenario& s, const ServingSimulation& r) {
  if (r.metrics.models.empty()) {
    return "";
  }
  Table table{{"on each replica", "weights", "KV cache", "in use", "of the time", "sequences", "iterations",
               "preemptions", "<asked by"}};
  for (std::size_t i = 0; i < r.metrics.models.size(); ++i) {
    const PoolMetrics& pool = r.metrics.models[i];
    const MemoryBreakdown& terms = r.replica.of(i).memory.memory.terms;
    std::string classes;
    for (const RequestClass& c : s.traffic->classes) {
      classes += c.model == i ? (classes.empty() ? "" : ", ") + c.name : "";
    }
    table.row({model_of(s, i).name, format(terms[MemoryTerm::weights]), format(terms[MemoryTerm::kv_cache]),
               percent(pool.kv_mean) + ", at most " + percent(pool.kv_peak), percent(pool.busy),
               format_number(pool.batch_mean), format_count(static_cast<double>(pool.iterations)),
               format_count(static_cast<double>(pool.preemptions)), classes});
  }
  return table.text() + "\n";
}

std::string queue_row(const ServingSimulation& r) {
  Table table{{"requests that wait", "<"}};
  const QueueLength& q = r.queue;
  table.row({"for their first iteration", "mean " + format_number(q.mean) + ", p50 " + std::to_string(q.p50) +
                                              ", p95 " + std::to_string(q.p95) + ", p99 " + std::to_string(q.p99) +
                                              ", most " + std::to_string(q.max)});
  return table.text();
}

std::string notes(const Scenario& scenario, const ServingSimulation& r) {
  std::string text = "\nassumed\n";
  for (const std::vector<std::string>* list : {&scenario.assumptions, &r.notes}) {
    for (const std::string& note : *list) {
      text += "  " + note + "\n";
    }
  }
  return text;
}

std::string simulated(const ServingSimulation& r) {
  const RequestMetrics& all = r.metrics.all;
  std::string text = "simulated: " + format_count(static_cast<double>(r.load.requests.size())) + " requests in " +
                     format(Seconds{seconds_of(r.result.end)}) + " of the fleet's time, the first " +
                     format_count(static_cast<double>(r.warm_up)) + " not counted";
  text += all.refused > 0 ? "; " + std::to_string(all.refused) + " refused" : "";
  text += all.unfinished > 0 ? "; " + std::to_string(all.unfinished) + " of those counted never answered" : "";
  return text + "\n";
}

}  // namespace

std::vector<BatchBin> batch_bins(const std::vector<std::int64_t>& iterations_by_sequences) {
  std::vector<BatchBin> bins;
  for (std::size_t n = 1; n < iterations_by_sequences.size(); ++n) {
    const auto bin = static_cast<std::size_t>(std::bit_width(n)) - 1;
    if (iterations_by_sequences[n] == 0) {
      continue;
    }
    while (bins.size() <= bin) {
      const std::int64_t first = std::int64_t{1} << bins.size();
      const auto last = static_cast<std::int64_t>(iterations_by_sequences.size()) - 1;
      bins.push_back({first, std::min(2 * first - 1, last), 0});
    }
    bins[bin].iterations += iterations_by_sequences[n];
  }
  return bins;
}

std::string storm_text(const RetryLoad& retries) {
  if (!retries.storm) {
    return "";
  }
  return "; a retry storm: what is not answered is asked again, " +
         (std::isinf(retries.settles.raw()) ? std::string{"without a limit of attempts more and more"}
                                            : "up to " + format_number(retries.settles.raw()) + " req/s");
}

std::string simulation_verdict(const ServingSimulation& r) {
  if (const std::int64_t left = r.metrics.unanswered; left > 0) {
    return "overloaded: " + format_count(static_cast<double>(left)) + " of " +
           format_count(static_cast<double>(r.load.requests.size())) +
           " requests are not answered within the 106 days that are simulated at most; saturates at " +
           rate_text(r.saturation.mid) + ", " + rate_text(r.offered) + " come";
  }
  if (r.overloaded()) {
    return "overloaded: saturates at " + rate_text(r.saturation.mid) + ", " + rate_text(r.offered) +
           " come; queues grow for as long as they do" + (r.retries ? storm_text(*r.retries) : "");
  }
  std::string missed;
  for (const JudgedPromise& one : r.promises) {
    if (!one.kept) {
      missed += (missed.empty() ? "" : "; ") + promise_name(r, one) + " is " + time_cell(one.reached) + " of " +
                format(one.promise.limit) + ", " + margin(one);
    }
  }
  const std::string load =
      "at " + percent(r.offered / r.saturation.mid) + " of the " + rate_text(r.saturation.mid) + " that saturate it";
  if (r.promises.empty()) {
    return "answers all that come, " + load;
  }
  return missed.empty() ? "keeps [slo], " + load : "misses [slo]: " + missed + "; " + load;
}

std::string simulation_text(const Scenario& scenario, const ServingSimulation& r) {
  const auto& s = std::get<ServeScenario>(scenario.question);
  std::string text = heading(s, r) + simulation_verdict(r) + "\n";
  text += latency_table(r) + "\n" + promise_table(r) + rates_table(r) + "\n";
  const bool apart = r.prefill_replicas > 0;
  if (apart) {
    text += pool_rows("prefill replicas", r.metrics.prefill) + "\n" + batch_table(r.metrics.prefill) + "\n";
  }
  text += pool_rows(apart ? "decode replicas" : "replicas", r.metrics.pool) + "\n" + batch_table(r.metrics.pool) + "\n";
  text += models_table(s, r);
  text += prefix_rows(r) + queue_row(r) + "\n" + memory_table(r.replica.terms(), s.device.visible_capacity().value);
  text += notes(scenario, r) + price_text(scenario.money) + "\n" + simulated(r);
  text += "times: " + r.times_source + "\n";
  return text;
}

}  // namespace headroom
