// SPDX-License-Identifier: Apache-2.0
// The JSON of a simulation, and the log of its requests.
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <charconv>
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

void summary(JsonWriter& json, std::string_view name, const TimeSummary& value) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  for (const SummaryName& s : summary_names) {
    json.member(s.name, (value.*s.member).raw());
  }
  json.end_object();
}

void replica_members(JsonWriter& json, const ServeScenario& s) {
  json.member("gpu", std::string_view{s.device.id});
  json.member("engine", engine_names[static_cast<std::size_t>(s.engine.engine)]);
  json.member("weights", name_of(s.work.weights));
  json.member("kv_cache", name_of(s.work.kv));
  json.member("tp", s.work.layout.tp);
  json.member("pp", s.work.layout.pp);
  json.member("ep", s.work.layout.ep);
}

void memory_object(JsonWriter& json, const ServingSimulation& r, const ServeScenario& s) {
  const MemoryBreakdown terms = r.replica.terms();
  json.key("memory");
  json.begin_object();
  json.member("capacity_bytes", s.device.visible_capacity().value.raw());
  json.member("total_bytes", terms.total().raw());
  json.member("kv_pool_bytes", terms[MemoryTerm::kv_cache].raw());
  json.key("terms_bytes");
  json.begin_object();
  for (std::size_t i = 0; i < memory_term_count; ++i) {
    if (terms.bytes[i].raw() > 0.0) {
      json.member(memory_term_names[i], terms.bytes[i].raw());
    }
  }
  json.end_object();
  json.end_object();
}

namespace {

void intervals(JsonWriter& json, std::string_view name, const IntervalSummary& value) {
  json.key(name);
  json.begin_object();
  for (const SummaryName& s : summary_names) {
    interval(json, s.name, Interval<Seconds>{value.low.*s.member, value.mid.*s.member, value.high.*s.member});
  }
  json.end_object();
}

void request_members(JsonWriter& json, const RequestMetrics& m) {
  json.member("requests", m.requests);
  json.member("finished", m.finished);
  json.member("refused", m.refused);
  json.member("unanswered", m.unfinished);
  summary(json, "ttft_s", m.ttft);
  summary(json, "tpot_s", m.tpot);
  summary(json, "e2e_s", m.e2e);
  summary(json, "queue_s", m.queue);
  json.member("good_requests_per_s", m.good_per_s);
  json.member("good_share", m.good_share);
  json.member("finished_requests_per_s", m.finished_per_s);
  json.member("output_tokens_per_s", m.output_tokens_per_s);
  json.member("input_tokens_per_s", m.input_tokens_per_s);
}

void pool_object(JsonWriter& json, const PoolMetrics& p) {
  json.begin_object();
  json.member("utilisation", p.busy);
  json.member("kv_occupancy_mean", p.kv_mean);
  json.member("kv_occupancy_peak", p.kv_peak);
  json.member("iterations", p.iterations);
  json.member("preemptions", p.preemptions);
  json.member("batch_mean", p.batch_mean);
  json.key("batch_histogram");
  json.begin_array();
  for (std::size_t n = 0; n < p.batch.size(); ++n) {
    if (p.batch[n] > 0) {
      json.compact_next();
      json.begin_object();
      json.member("sequences", static_cast<std::int64_t>(n));
      json.member("iterations", p.batch[n]);
      json.end_object();
    }
  }
  json.end_array();
  json.key("batch_bins");
  json.begin_array();
  for (const BatchBin& bin : batch_bins(p.batch)) {
    json.compact_next();
    json.begin_object();
    json.member("first", bin.first);
    json.member("last", bin.last);
    json.member("iterations", bin.iterations);
    json.end_object();
  }
  json.end_array();
  json.key("token_gap_s");
  json.compact_next();
  json.begin_object();
  json.member("p50", p.gap_p50.raw());
  json.member("p95", p.gap_p95.raw());
  json.member("p99", p.gap_p99.raw());
  json.end_object();
  json.end_object();
}

void pool(JsonWriter& json, std::string_view name, const PoolMetrics& p) {
  json.key(name);
  pool_object(json, p);
}

/// What each of several models has of a replica, and did.
void models(JsonWriter& json, const ServingSimulation& r, const ServeScenario& s) {
  if (r.metrics.models.empty()) {
    return;
  }
  json.key("models");
  json.begin_array();
  for (std::size_t i = 0; i < r.metrics.models.size(); ++i) {
    const ServedReplica& one = r.replica.of(i);
    json.begin_object();
    json.member("model", std::string_view{model_of(s, i).id});
    std::vector<std::string> classes;
    for (const RequestClass& c : s.traffic->classes) {
      if (c.model == i) {
        classes.push_back(c.name);
      }
    }
    texts(json, "classes", classes);
    json.member("weights_bytes", one.memory.memory.terms[MemoryTerm::weights].raw());
    json.member("kv_pool_bytes", one.memory.memory.pool.raw());
    json.member("kv_share", one.kv_share);
    json.key("pool");
    pool_object(json, r.metrics.models[i]);
    json.end_object();
  }
  json.end_array();
}

void promises(JsonWriter& json, const ServingSimulation& r) {
  json.key("promises");
  json.begin_array();
  for (const JudgedPromise& one : r.promises) {
    json.begin_object();
    json.member("class", std::string_view{r.classes[one.service_class]});
    json.member("promise", std::string_view{key_of(one.promise)});
    json.member("limit_s", one.promise.limit.raw());
    interval(json, "reached_s", one.interval);
    json.member("kept", one.kept);
    json.member("kept_at_slow_end", one.kept_at_slow_end);
    json.member("refused_share", one.refused);
    json.member("unanswered_share", one.unanswered);
    json.member("over_share", one.over());
    json.end_object();
  }
  json.end_array();
}

void costs(JsonWriter& json, const ServingSimulation& r, const Money& money) {
  json.key("cost");
  if (!r.costs) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("price_usd_per_gpu_hour", money.price->raw() * 3600.0);
  json.member("price_source", std::string_view{money.source});
  interval(json, "usd_per_million_output_tokens", r.costs->output_tokens);
  interval(json, "usd_per_million_tokens", r.costs->tokens);
  interval(json, "usd_per_million_requests", r.costs->requests);
  json.member("usd_per_million_output_tokens_saturated", r.costs->output_tokens_saturated.raw());
  json.end_object();
}

void queue(JsonWriter& json, const QueueLength& q) {
  json.key("queue_length");
  json.compact_next();
  json.begin_object();
  json.member("mean", q.mean);
  json.member("p50", q.p50);
  json.member("p95", q.p95);
  json.member("p99", q.p99);
  json.member("max", q.max);
  json.end_object();
}

void rates(JsonWriter& json, const ServingSimulation& r) {
  json.member("offered_requests_per_s", r.offered.raw());
  json.member("arrived_requests_per_s", r.metrics.arrived_per_s);
  interval(json, "requests_per_s", r.served);
  interval(json, "saturation_requests_per_s", r.saturation);
}

void retries(JsonWriter& json, const RetryLoad& r) {
  json.key("retries");
  json.begin_object();
  json.member("attempts_mean", r.attempts);
  json.member("attempts_per_s", r.offered.raw());
  json.member("given_up_share", r.lost);
  json.member("backoff_mean_s", r.backoff.raw());
  json.member("storm", r.storm);
  json.member("settles_attempts_per_s", r.settles.raw());
  json.end_object();
}

void append(std::string& text, double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
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

std::string simulation_json(const Scenario& scenario, const ServingSimulation& r) {
  const auto& s = std::get<ServeScenario>(scenario.question);
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.simulate/1");
  json.member("name", std::string_view{scenario.name});
  json.member("verdict", r.overloaded() ? "overloaded" : r.good() ? "good" : "slo_missed");
  json.member("verdict_text", std::string_view{simulation_verdict(r)});
  json.member("model", std::string_view{s.architecture.id});
  replica_members(json, s);
  json.member("prompt_tokens_mean", s.traffic->lengths().prompt);
  json.member("output_tokens_mean", s.traffic->lengths().output);
  json.member("gpus", r.gpus);
  json.member("replicas", r.replicas);
  json.member("prefill_replicas", r.prefill_replicas);
  json.member("seed", static_cast<std::int64_t>(s.traffic->seed));
  json.member("simulated_s", seconds_of(r.result.end));
  json.member("simulated_requests", static_cast<std::int64_t>(r.load.requests.size()));
  json.member("warm_up_requests", r.warm_up);
  rates(json, r);
  if (r.retries) {
    retries(json, *r.retries);
  }
  json.key("all");
  json.begin_object();
  request_members(json, r.metrics.all);
  json.end_object();
  json.key("classes");
  json.begin_array();
  for (std::size_t i = 0; i < r.classes.size(); ++i) {
    json.begin_object();
    json.member("name", std::string_view{r.classes[i]});
    if (!s.beside.empty()) {
      json.member("model", std::string_view{model_of(s, s.traffic->classes[i].model).id});
    }
    request_members(json, r.metrics.classes[i]);
    json.end_object();
  }
  json.end_array();
  json.key("intervals");
  json.begin_object();
  intervals(json, "ttft_s", r.ttft);
  intervals(json, "tpot_s", r.tpot);
  intervals(json, "e2e_s", r.e2e);
  json.end_object();
  json.member("interval_source", std::string_view{r.times_source});
  promises(json, r);
  queue(json, r.queue);
  pool(json, "pool", r.metrics.pool);
  if (r.prefill_replicas > 0) {
    pool(json, "prefill_pool", r.metrics.prefill);
  }
  prefix_member(json, r);
  models(json, r, s);
  memory_object(json, r, s);
  costs(json, r, scenario.money);
  std::vector<std::string> assumed = scenario.assumptions;
  assumed.insert(assumed.end(), r.notes.begin(), r.notes.end());
  texts(json, "assumptions", assumed);
  json.end_object();
  return json.take();
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
