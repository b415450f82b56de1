// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <optional>
#include <variant>

namespace headroom {
namespace {

void size_members(JsonWriter& json, const FleetSize& size) {
  json.member("replicas", size.replicas);
  json.member("spare", size.spare);
  json.member("prefill_replicas", size.prefill_replicas);
}

void sized_members(JsonWriter& json, const SizedFleet& fleet) {
  size_members(json, fleet);
  json.member("keeps", fleet.keeps());
  json.member("keeps_at_middle", fleet.keeps_at_middle());
  const ServingMetrics& m = fleet.metrics;
  summary(json, "ttft_s", m.all.ttft);
  summary(json, "tpot_s", m.all.tpot);
  summary(json, "e2e_s", m.all.e2e);
  summary(json, "queue_s", m.all.queue);
  json.member("goodput_req_per_s", m.all.good_per_s);
  json.member("good_share", m.all.good_share);
  json.member("output_tokens_per_s", m.all.output_tokens_per_s);
  json.member("input_tokens_per_s", m.all.input_tokens_per_s);
  json.member("overloaded", fleet.overloaded());
  json.member("saturation_req_per_s", fleet.saturation.raw());
  json.member("load_share", fleet.load());
  json.member("slow_end_load_share", fleet.load_at_slow_end());
  json.member("knee_req_per_s", fleet.knee.raw());
  json.member("busy", m.pool.busy);
  json.member("kv_mean", m.pool.kv_mean);
  json.member("kv_peak", m.pool.kv_peak);
  json.member("batch_mean", m.pool.batch_mean);
  json.member("preemptions", m.pool.preemptions);
  json.member("queue_mean", m.queue_mean);
  json.member("simulated_requests", m.all.requests);
}

/// What would do if replicas were as fast as the model says.
void middle_object(JsonWriter& json, const FleetOption& o) {
  if (!o.sized || !o.sized->middle) {
    return;
  }
  json.key("at_middle");
  json.compact_next();
  json.begin_object();
  json.member("gpus", o.sized->middle->gpus);
  size_members(json, *o.sized->middle);
  if (o.per_hour_at_middle.raw() > 0.0) {
    json.member("usd_per_h", o.per_hour_at_middle.raw());
  }
  json.end_object();
}

void option_object(JsonWriter& json, const FleetOption& o, bool front) {
  const ServeScenario& s = o.question();
  json.begin_object();
  json.member("option_text", option_text(o));
  replica_members(json, s);
  if (s.fleet->prefill) {
    json.member("prefill_tp", s.fleet->prefill->tp);
  }
  json.key("changes");
  json.compact_next();
  json.begin_array();
  for (const Change& change : o.changes) {
    json.text(override_of(change));
  }
  json.end_array();
  json.member("gpus", o.gpus);
  json.member("front", front);
  middle_object(json, o);
  interval(json, "replicas_needed", o.replicas);
  if (o.per_hour.raw() > 0.0) {
    json.member("usd_per_h", o.per_hour.raw());
    interval(json, "usd_per_million_output_tokens", o.per_million_output_of_all);
    interval(json, "usd_per_million_input_tokens_apart", o.per_million_input);
    interval(json, "usd_per_million_output_tokens_apart", o.per_million_output);
  }
  if (const std::optional<TightestPromise> tightest = tightest_promise(o)) {
    json.key("tightest_promise");
    json.compact_next();
    json.begin_object();
    json.member("class", tightest->service_class);
    json.member("promise", tightest->promise);
    json.member("of_limit_share", tightest->of_limit);
    json.end_object();
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

void scaled_object(JsonWriter& json, std::string_view name, const ScaledFleet& fleet, const Money& money) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("gpu_hours", fleet.gpu_hours);
  if (money.price) {
    json.member("cost_usd", (fleet.gpu_hours * hour * *money.price).raw());
  }
  json.member("missed_share", fleet.missed);
  json.member("overloaded_share", fleet.overloaded);
  json.member("longest_wait_s", fleet.longest_wait.raw());
  json.member("least_replicas", fleet.least);
  json.member("most_replicas", fleet.most);
  json.end_object();
}

/// Both ways over one period, and the curve that they follow: rate and replicas at as many times as a chart shows.
void autoscaling_object(JsonWriter& json, const FleetPlan& plan) {
  const Autoscaling& a = *plan.autoscaling;
  const FleetOption& best = plan.options.front();
  const LoadCurve& day = *best.question().traffic->day;
  json.key("autoscaling");
  json.begin_object();
  json.member("period_s", day.period.raw());
  scaled_object(json, "fixed", a.fixed, best.scenario->money);
  scaled_object(json, "following", a.scaled, best.scenario->money);
  json.member("fixed_is_stated", fixed_is_stated(plan));
  json.member("freed_gpu_hours", a.freed_gpu_hours());
  json.member("above_gpu_hours", a.above_gpu_hours());
  texts(json, "following_texts", fleet_following(plan));
  json.key("curve");
  json.begin_array();
  constexpr std::size_t times = 96;  // a quarter of an hour of a day
  for (std::size_t i = 0; i < times && !a.scaled.units.empty(); ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(times);
    const auto step = static_cast<std::size_t>(share * static_cast<double>(a.scaled.units.size()));
    json.compact_next();
    json.begin_object();
    json.member("time_s", share * day.period.raw());
    json.member("rate_req_per_s", day.at(share * day.period).raw());
    json.member("fixed_replicas", a.fixed.most);
    json.member("following_replicas", a.scaled.units[step]);
    json.member("following_paid_replicas", a.scaled.paid[step]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void promise_array(JsonWriter& json, const ServingSimulation& simulated) {
  json.key("promises");
  json.begin_array();
  for (const JudgedPromise& p : simulated.promises) {
    json.compact_next();
    json.begin_object();
    json.member("class", simulated.classes.at(p.service_class));
    json.member("promise", key_of(p.promise));
    json.member("limit_s", p.promise.limit.raw());
    interval(json, "reached_s", p.interval);
    json.member("kept", p.kept);
    json.member("kept_at_slow_end", p.kept_at_slow_end);
    json.member("unanswered_share", p.unanswered);
    json.end_object();
  }
  json.end_array();
}

/// Of several models on one pool: what each would take with GPUs of its own.
void apart_array(JsonWriter& json, const FleetPlan& plan) {
  if (plan.apart.empty()) {
    return;
  }
  json.key("pools_apart");
  json.begin_array();
  for (const ApartPool& pool : plan.apart) {
    json.begin_object();
    json.member("model", std::string_view{pool.model});
    json.member("feasible", pool.why.empty());
    if (pool.why.empty()) {
      const FleetOption& best = pool.plan->options.front();
      json.key("option");
      option_object(json, best, true);
    } else {
      json.member("why", std::string_view{pool.why});
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string fleet_json(const FleetPlan& plan) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.fleet/1");
  json.member("feasible", plan.feasible());
  json.member("combinations", static_cast<std::int64_t>(plan.combinations));
  json.member("verdict_text", fleet_verdict(plan));
  if (const std::string way_out = fleet_way_out(plan); !way_out.empty()) {
    json.member("way_out", way_out);
  }
  if (plan.at_middle) {
    json.member("middle_text", fleet_at_middle(plan));
    json.member("middle_option", static_cast<std::int64_t>(*plan.at_middle));
  }
  if (plan.question) {
    const auto& asked = std::get<ServeScenario>(plan.question->question);
    json.member("name", plan.question->name);
    json.member("model", asked.architecture.id);
    if (!asked.beside.empty()) {
      json.key("models");
      json.begin_array();
      for (std::size_t i = 0; i < model_count(asked); ++i) {
        json.text(model_of(asked, i).id);
      }
      json.end_array();
    }
    json.member("prompt_tokens_mean", asked.traffic->lengths().prompt);
    json.member("output_tokens_mean", asked.traffic->lengths().output);
  }
  if (!plan.options.empty()) {
    const FleetOption& best = plan.options.front();
    json.member("rate_req_per_s", best.mean_rate.raw());
    json.member("peak_req_per_s", best.question().traffic->rate().raw());
    json.member("interval_source", plan.interval_source);
  }
  if (plan.autoscaling) {
    autoscaling_object(json, plan);
  }
  if (plan.simulated) {
    json.member("times_source", plan.simulated->times_source);
    promise_array(json, *plan.simulated);
    memory_object(json, *plan.simulated, plan.options.front().question());
  }
  json.key("options");
  json.begin_array();
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    option_object(json, plan.options[i], std::find(plan.front.begin(), plan.front.end(), i) != plan.front.end());
  }
  json.end_array();
  apart_array(json, plan);
  json.key("left_out");
  json.begin_array();
  for (const DroppedOption& dropped : plan.dropped) {
    json.compact_next();
    json.begin_object();
    json.key("changes");
    json.begin_array();
    for (const Change& change : dropped.changes) {
      json.text(override_of(change));
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
  texts(json, "assumed", plan.notes);
  json.end_object();
  return json.take();
}

}  // namespace headroom
