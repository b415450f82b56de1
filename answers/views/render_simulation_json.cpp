// SPDX-License-Identifier: Apache-2.0
// The document of a simulation, and the log of its requests.
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

struct SummaryName {
  std::string_view name;
  Seconds TimeSummary::*member;
};
constexpr std::array summary_names{SummaryName{"mean", &TimeSummary::mean}, SummaryName{"p50", &TimeSummary::p50},
                                   SummaryName{"p90", &TimeSummary::p90},   SummaryName{"p95", &TimeSummary::p95},
                                   SummaryName{"p99", &TimeSummary::p99},   SummaryName{"max", &TimeSummary::max}};

}  // namespace

Value tail(const TimeSummary& value) {
  Value object = row();
  for (const SummaryName& s : summary_names) {
    object.add({std::string{s.name}, value.*s.member});
  }
  return object;
}

Value replica_value(const ServeScenario& s) {
  return object("gpu"_m = s.device.id, "engine"_m = engine_names[static_cast<std::size_t>(s.engine.engine)],
                "weights"_m = name_of(s.work.weights), "kv_cache"_m = name_of(s.work.kv), "tp"_m = s.work.layout.tp,
                "pp"_m = s.work.layout.pp, "ep"_m = s.work.layout.ep);
}

Value replica_memory(const ServingSimulation& r, const ServeScenario& s) {
  const MemoryBreakdown terms = r.replica.terms();
  return object("capacity_bytes"_m = s.device.visible_capacity().value, "total_bytes"_m = terms.total(),
                "kv_pool_bytes"_m = terms[MemoryTerm::kv_cache], "terms_bytes"_m = memory_terms(terms));
}

namespace {

Value tail_intervals(const IntervalSummary& value) {
  Value all = object();
  for (const SummaryName& s : summary_names) {
    all.add({std::string{s.name}, Interval<Seconds>{value.low.*s.member, value.mid.*s.member, value.high.*s.member}});
  }
  return all;
}

}  // namespace

Value time_intervals(const ServingSimulation& r) {
  return object("ttft_s"_m = tail_intervals(r.ttft), "tpot_s"_m = tail_intervals(r.tpot),
                "e2e_s"_m = tail_intervals(r.e2e));
}

namespace {

Value requests_value(const RequestMetrics& m) {
  return object("requests"_m = m.requests, "finished"_m = m.finished, "refused"_m = m.refused,
                "unanswered"_m = m.unfinished, "ttft_s"_m = tail(m.ttft), "tpot_s"_m = tail(m.tpot),
                "e2e_s"_m = tail(m.e2e), "queue_s"_m = tail(m.queue),
                "good_requests_per_s"_m = per_second(m.good_per_s), "good_share"_m = share(m.good_share),
                "finished_requests_per_s"_m = per_second(m.finished_per_s),
                "output_tokens_per_s"_m = per_second(m.output_tokens_per_s),
                "input_tokens_per_s"_m = per_second(m.input_tokens_per_s));
}

Value pool_value(const PoolMetrics& p) {
  Value histogram = Value::empty_list();
  for (std::size_t n = 0; n < p.batch.size(); ++n) {
    histogram.push(when(p.batch[n] > 0, row("sequences"_m = n, "iterations"_m = p.batch[n])));
  }
  return object(
      "utilisation"_m = share(p.busy), "kv_occupancy_mean"_m = share(p.kv_mean),
      "kv_occupancy_peak"_m = share(p.kv_peak), "iterations"_m = p.iterations, "preemptions"_m = p.preemptions,
      "batch_mean"_m = p.batch_mean, "batch_histogram"_m = std::move(histogram),
      "batch_bins"_m = list(batch_bins(p.batch),
                            [](const BatchBin& bin) {
                              return row("first"_m = bin.first, "last"_m = bin.last, "iterations"_m = bin.iterations);
                            }),
      "token_gap_s"_m = row("p50"_m = p.gap_p50, "p95"_m = p.gap_p95, "p99"_m = p.gap_p99, "max"_m = p.gap_max));
}

/// What each of several models has of a replica, and did.
Value models_value(const ServingSimulation& r, const ServeScenario& s) {
  Value models = Value::empty_list();
  for (std::size_t i = 0; i < r.metrics.models.size(); ++i) {
    const ServedReplica& one = r.replica.of(i);
    const auto name = [&](const RequestClass& c) { return c.model == i ? Value{c.name} : Value{}; };
    models.push(object("model"_m = model_of(s, i).id, "classes"_m = list(s.traffic->classes, name),
                       "weights_bytes"_m = one.memory.memory.terms[MemoryTerm::weights],
                       "kv_pool_bytes"_m = one.memory.memory.pool, "kv_share"_m = share(one.kv_share),
                       "pool"_m = pool_value(r.metrics.models[i])));
  }
  return when(!r.metrics.models.empty(), std::move(models));
}

Value promises_value(const ServingSimulation& r) {
  return list(r.promises, [&](const JudgedPromise& one) {
    return object("class"_m = r.classes[one.service_class], "promise"_m = key_of(one.promise),
                  "limit_s"_m = one.promise.limit, "reached_s"_m = one.interval, "kept"_m = one.kept,
                  "kept_at_slow_end"_m = one.kept_at_slow_end, "kept_probability"_m = share(one.chance),
                  "refused_share"_m = share(one.refused), "unanswered_share"_m = share(one.unanswered),
                  "over_share"_m = share(one.over()));
  });
}

Value costs_value(const ServingSimulation& r, const Money& money) {
  if (!r.costs) {
    return nullptr;
  }
  return object("price_usd_per_s_per_gpu"_m = *money.price, "price_source"_m = money.source,
                "usd_per_million_output_tokens"_m = r.costs->output_tokens,
                "usd_per_million_tokens"_m = r.costs->tokens, "usd_per_million_requests"_m = r.costs->requests,
                "saturated_usd_per_million_output_tokens"_m = r.costs->output_tokens_saturated);
}

Value queue_value(const QueueLength& q) {
  return row("mean"_m = q.mean, "p50"_m = q.p50, "p95"_m = q.p95, "p99"_m = q.p99, "max"_m = q.max);
}

Value retries_value(const RetryLoad& r) {
  return object("attempts_mean"_m = r.attempts, "attempts_per_s"_m = r.offered, "given_up_share"_m = share(r.lost),
                "backoff_mean_s"_m = r.backoff, "storm"_m = r.storm, "settles_attempts_per_s"_m = r.settles);
}

Value classes_value(const ServingSimulation& r, const ServeScenario& s) {
  Value classes = Value::empty_list();
  for (std::size_t i = 0; i < r.classes.size(); ++i) {
    classes.push(object("name"_m = r.classes[i],
                        "model"_m = s.beside.empty() ? Value{} : Value{model_of(s, s.traffic->classes[i].model).id},
                        requests_value(r.metrics.classes[i])));
  }
  return classes;
}

void append(std::string& text, double value) {
  text += shortest_text(value);
}

/// Seconds with all picoseconds, for rows that are to add up.
void append(std::string& text, Picoseconds time) {
  append(text, static_cast<double>(time.count()) / 1e12);
}

/// From one time to another, where both were reached.
void append(std::string& text, Picoseconds from, Picoseconds to) {
  text += ',';
  if (from != never && to != never) {
    append(text, to - from);
  }
}

/// Of a prompt, what was not computed.
std::int32_t cached_tokens(const ServingSimulation& r, std::size_t i) {
  if (r.result.hits.empty()) {
    return r.load.requests[i].cached_tokens;
  }
  const PrefixHits& hits = r.result.hits[i];
  return std::min(std::accumulate(hits.tiers.begin(), hits.tiers.end(), hits.pool),
                  r.load.requests[i].prompt_tokens - 1);
}

}  // namespace

Value simulation_document(const Scenario& scenario, const ServingSimulation& r) {
  const auto& s = std::get<ServeScenario>(scenario.question);
  std::vector<std::string> assumed = scenario.assumptions;
  assumed.insert(assumed.end(), r.notes.begin(), r.notes.end());
  return object(
      "schema"_m = "headroom.simulate/1", "name"_m = scenario.name,
      "verdict"_m = r.overloaded() ? "overloaded"
                    : r.good()     ? "good"
                                   : "slo_missed",
      "verdict_text"_m = simulation_verdict(r), "model"_m = s.architecture.id, replica_value(s),
      "prompt_tokens_mean"_m = s.traffic->lengths().prompt, "output_tokens_mean"_m = s.traffic->lengths().output,
      "gpus"_m = r.gpus, "replicas"_m = r.replicas, "prefill_replicas"_m = r.prefill_replicas,
      "seed"_m = s.traffic->seed, "simulated_s"_m = Seconds{seconds_of(r.result.end)},
      "simulated_requests"_m = r.load.requests.size(), "warm_up_requests"_m = r.warm_up,
      "offered_requests_per_s"_m = r.offered, "arrived_requests_per_s"_m = per_second(r.metrics.arrived_per_s),
      "requests_per_s"_m = r.served, "saturation_requests_per_s"_m = r.saturation,
      "retries"_m = r.retries ? retries_value(*r.retries) : Value{}, "all"_m = requests_value(r.metrics.all),
      "classes"_m = classes_value(r, s), "intervals"_m = time_intervals(r), "interval_source"_m = r.times_source,
      "promises"_m = promises_value(r), "queue_length"_m = queue_value(r.queue), "pool"_m = pool_value(r.metrics.pool),
      "prefill_pool"_m = r.prefill_replicas > 0 ? pool_value(r.metrics.prefill) : Value{},
      "prefix_cache"_m = prefix_value(r), sessions_value(r), "models"_m = models_value(r, s),
      "memory"_m = replica_memory(r, s), "cost"_m = costs_value(r, scenario.money), "assumptions"_m = assumed);
}

std::string request_log(const ServingSimulation& r) {
  std::string text =
      "request,class,replica,prompt_tokens,output_tokens,cached_tokens,arrival_s,queue_s,ttft_s,decode_s,e2e_s,"
      "preemptions,refused,counted\n";
  for (std::size_t i = 0; i < r.load.requests.size(); ++i) {
    const Request& request = r.load.requests[i];
    const RequestTimes& t = r.result.requests[i];
    const auto of = static_cast<std::size_t>(request.service_class);
    text += std::to_string(i) + ',' + std::to_string(of) + ',' + (t.replica < 0 ? "" : std::to_string(t.replica)) +
            ',' + std::to_string(request.prompt_tokens) + ',' + std::to_string(request.output_tokens) + ',' +
            std::to_string(cached_tokens(r, i)) + ',';
    append(text, request.arrival);
    append(text, t.arrival, t.started);
    append(text, t.arrival, t.first_token);
    append(text, t.first_token, t.finished);
    append(text, t.arrival, t.finished);
    text += ',' + std::to_string(t.preemptions) + ',' + (t.refused ? '1' : '0') + ',' +
            (static_cast<std::int64_t>(i) < r.warm_up ? '0' : '1') + '\n';
  }
  return text;
}

}  // namespace headroom
