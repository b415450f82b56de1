// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/render_fleet.hpp>
#include <headroom/cli/render_money.hpp>
#include <headroom/core/json_writer.hpp>

#include <algorithm>

namespace headroom::cli {
namespace {

const ServeScenario& serving(const FleetOption& option) {
  return std::get<ServeScenario>(option.scenario->question);
}

void times(JsonWriter& json, std::string_view name, const TimeSummary& t) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("mean_s", t.mean.raw());
  json.member("p50_s", t.p50.raw());
  json.member("p90_s", t.p90.raw());
  json.member("p95_s", t.p95.raw());
  json.member("p99_s", t.p99.raw());
  json.member("max_s", t.max.raw());
  json.end_object();
}

void interval(JsonWriter& json, std::string_view name, const Interval<Dollars>& i) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("low", i.low.raw());
  json.member("mid", i.mid.raw());
  json.member("high", i.high.raw());
  json.end_object();
}

void sized_members(JsonWriter& json, const SizedFleet& fleet) {
  json.member("replicas", fleet.replicas);
  json.member("spare", fleet.spare);
  json.member("prefill_replicas", fleet.prefill_replicas);
  json.member("keeps", fleet.keeps());
  const ServingMetrics& m = fleet.metrics;
  times(json, "ttft", m.all.ttft);
  times(json, "tpot", m.all.tpot);
  times(json, "e2e", m.all.e2e);
  times(json, "queue", m.all.queue);
  json.member("goodput_req_per_s", m.all.good_per_s);
  json.member("good_share", m.all.good_share);
  json.member("output_tokens_per_s", m.all.output_tokens_per_s);
  json.member("input_tokens_per_s", m.all.input_tokens_per_s);
  json.member("overloaded", fleet.overloaded());
  json.member("saturation_req_per_s", fleet.saturation.raw());
  json.member("knee_req_per_s", fleet.knee.raw());
  json.member("busy", m.pool.busy);
  json.member("kv_mean", m.pool.kv_mean);
  json.member("kv_peak", m.pool.kv_peak);
  json.member("batch_mean", m.pool.batch_mean);
  json.member("preemptions", m.pool.preemptions);
  json.member("queue_mean", m.queue_mean);
  json.member("simulated_requests", m.all.requests);
}

void option_object(JsonWriter& json, const FleetOption& o, bool front) {
  const ServeScenario& s = serving(o);
  json.begin_object();
  json.member("gpu", s.device.id);
  json.member("engine", engine_names[static_cast<std::size_t>(s.engine.engine)]);
  json.member("weights", name_of(s.work.weights));
  json.member("kv_cache", name_of(s.work.kv));
  json.member("tp", s.work.layout.tp);
  json.member("pp", s.work.layout.pp);
  json.member("ep", s.work.layout.ep);
  json.key("changes");
  json.compact_next();
  json.begin_array();
  for (const std::string& change : o.changes) {
    json.text(change);
  }
  json.end_array();
  json.member("gpus", o.gpus);
  json.member("front", front);
  json.key("replicas_needed");
  json.compact_next();
  json.begin_object();
  json.member("low", o.replicas.low);
  json.member("mid", o.replicas.mid);
  json.member("high", o.replicas.high);
  json.end_object();
  if (o.per_hour.raw() > 0.0) {
    json.member("usd_per_h", o.per_hour.raw());
    interval(json, "usd_per_million_output_tokens", o.per_million_output_of_all);
    interval(json, "usd_per_million_input_tokens_apart", o.per_million_input);
    interval(json, "usd_per_million_output_tokens_apart", o.per_million_output);
  }
  json.key("screened");
  json.begin_object();
  json.member("replicas", o.screened_replicas);
  json.member("saturation_req_per_s", o.screened.saturation.raw());
  json.member("ttft_p95_s", o.screened.ttft.quantile(0.95));
  json.member("tpot_p95_s", o.screened.tpot.quantile(0.95));
  json.end_object();
  if (o.sized) {
    json.key("sized");
    json.begin_object();
    sized_members(json, *o.sized);
    json.end_object();
  }
  json.end_object();
}

void scaled_object(JsonWriter& json, std::string_view name, const ScaledFleet& fleet) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("gpu_hours", fleet.gpu_hours);
  json.member("missed_share", fleet.missed);
  json.member("overloaded_share", fleet.overloaded);
  json.member("longest_wait_s", fleet.longest_wait.raw());
  json.member("least_replicas", fleet.least);
  json.member("most_replicas", fleet.most);
  json.end_object();
}

}  // namespace

std::string fleet_json(const FleetPlan& plan) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.fleet/1");
  json.member("feasible", plan.feasible());
  json.member("combinations", static_cast<std::int64_t>(plan.combinations));
  if (!plan.options.empty()) {
    const FleetOption& best = plan.options.front();
    const ServingTraffic& traffic = *serving(best).traffic;
    json.member("name", best.scenario->name);
    json.member("model", serving(best).architecture.id);
    json.member("rate_req_per_s", best.mean_rate.raw());
    json.member("peak_req_per_s", traffic.rate().raw());
    json.member("prompt_tokens_mean", traffic.lengths().prompt);
    json.member("output_tokens_mean", traffic.lengths().output);
    json.member("interval_source", plan.interval_source);
  }
  if (plan.autoscaling) {
    json.key("autoscaling");
    json.begin_object();
    scaled_object(json, "fixed", plan.autoscaling->fixed);
    scaled_object(json, "following", plan.autoscaling->scaled);
    json.end_object();
  }
  if (plan.simulated) {
    json.key("promises");
    json.begin_array();
    for (const JudgedPromise& p : plan.simulated->promises) {
      json.compact_next();
      json.begin_object();
      json.member("class", plan.simulated->classes.at(p.service_class));
      json.member("promise", key_of(p.promise));
      json.member("limit_s", p.promise.limit.raw());
      json.member("low_s", p.interval.low.raw());
      json.member("mid_s", p.interval.mid.raw());
      json.member("high_s", p.interval.high.raw());
      json.member("kept", p.kept);
      json.end_object();
    }
    json.end_array();
  }
  json.key("options");
  json.begin_array();
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    option_object(json, plan.options[i], std::find(plan.front.begin(), plan.front.end(), i) != plan.front.end());
  }
  json.end_array();
  json.key("left_out");
  json.begin_array();
  for (const DroppedOption& dropped : plan.dropped) {
    json.compact_next();
    json.begin_object();
    json.key("changes");
    json.begin_array();
    for (const std::string& change : dropped.changes) {
      json.text(change);
    }
    json.end_array();
    json.member("why", dropped.why);
    json.member("misses_promises", dropped.misses);
    json.end_object();
  }
  json.end_array();
  if (!plan.options.empty()) {
    money_members(json, plan.options.front().scenario->money, plan.bill);
    energy_members(json, plan.energy, "j_per_million_output_tokens");
  }
  json.key("assumed");
  json.begin_array();
  for (const std::string& note : plan.notes) {
    json.text(note);
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headroom::cli
