// SPDX-License-Identifier: Apache-2.0
// The times of a network of ops: step, rates, utilisation against what was asked for, traffic hidden and exposed.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>

namespace headroom {
namespace {

constexpr std::string_view memory_alone = "memory alone was asked for";

std::string samples_text(double samples) {
  return samples < 1e9 ? format_number(samples / 1e6) + " M samples" : format_number(samples / 1e9) + " G samples";
}

std::string traffic_text(const NetworkStepTime& t) {
  return format(t.traffic) + " of traffic, " + format(t.time[Term::dp_comm]) +
         " exposed: " + percent(t.hidden_share()) + " hidden beside compute";
}

void parts_members(JsonWriter& json, const NetworkStepTime& t) {
  json.key("step_terms_s");
  json.begin_object();
  for (std::size_t i = 0; i < term_count; ++i) {
    if (t.time.exposed[i].raw() != 0.0) {
      json.member(term_names[i], t.time.exposed[i].raw());
    }
  }
  json.end_object();
  json.member("traffic_s", t.traffic.raw());
  json.member("traffic_exposed_s", t.time[Term::dp_comm].raw());
  json.member("traffic_hidden_share", t.hidden_share());
  json.member("computing_share", t.computing_share());
}

void run_members(JsonWriter& json, const NetworkScenario& s, const NetworkTimes& t) {
  if (s.samples > 0.0) {
    interval(json, "duration_s", t.duration);
    interval(json, "gpu_hours", t.gpu_hours);
  }
  if (s.money.price) {
    json.member("price_usd_per_gpu_s", s.money.price->raw());
    json.member("price_source", std::string_view{s.money.source});
    interval(json, "cost_per_million_samples_usd", t.cost_per_million_samples);
    if (s.samples > 0.0) {
      interval(json, "cost_usd", t.cost);
    }
  }
}

}  // namespace

std::string network_times_text(const NetworkPlan& p) {
  if (!p.times) {
    return p.part == PlanPart::all ? "time: not priced: " + p.untimed + "\n" : "";
  }
  const NetworkScenario& s = p.scenario;
  const NetworkTimes& t = *p.times;
  Table answer{{"", ""}};
  answer.left(1);
  answer.row({"step", interval_text(t.step)});
  answer.row({"samples/s", interval_text(t.samples_per_s)});
  answer.row({"samples/s per GPU", interval_text(t.samples_per_s_per_gpu)});
  answer.row({"utilisation", interval_text(t.utilisation, 100.0) + " % of the peak by the model's own FLOP" +
                                 (t.executed > t.utilisation.mid ? "; " + percent(t.executed) + " with what runs again"
                                                                 : std::string{})});
  answer.row({"GPU computing", percent(t.parts.computing_share()) + " of the step"});
  if (t.parts.traffic > Seconds{}) {
    answer.row({"data parallelism", traffic_text(t.parts)});
  }
  if (s.samples > 0.0) {
    answer.row({samples_text(s.samples), interval_text(t.duration)});
    answer.row({"GPU-hours", interval_text(t.gpu_hours)});
  }
  if (s.money.price) {
    if (s.samples > 0.0) {
      answer.row({"cost", interval_text(t.cost)});
    }
    answer.row({"cost per M samples", interval_text(t.cost_per_million_samples)});
  }
  answer.row({"GPU-hours per M samples", format_number(t.gpu_hours_per_million_samples)});
  energy_row(answer, t.energy, "samples");
  return (p.fits() ? "" : "\nif it did fit:\n") + answer.text() + "binds: " + t.binds + "\n" +
         (t.target ? t.target->text + "\n" : "") + "\n" + time_table(t.parts.time) + bill_text(t.bill) + "\n";
}

std::string network_confidence_text(const NetworkTimes& t) {
  return "\nconfidence: no measured run is a network of ops; the widest class, " +
         std::string{run_class_texts[static_cast<std::size_t>(t.run_class)]} + ": 80 % of errors within " +
         percent(t.errors.width_80) + ", from " + format_count(static_cast<double>(t.errors.rows)) + " rows of " +
         format_count(static_cast<double>(t.errors.sources)) + " sources (" + t.errors.source + ")\n";
}

void network_times_members(JsonWriter& json, const NetworkPlan& p) {
  if (!p.times) {
    json.key("step_time_s");
    json.null();
    const std::string_view reason = p.problems.empty() ? p.untimed : p.problems.front();
    json.member("step_time_why", p.part == PlanPart::memory ? memory_alone : reason);
    return;
  }
  const NetworkTimes& t = *p.times;
  json.member("software", std::string_view{p.scenario.software.id});
  interval(json, "step_time_s", t.step);
  interval(json, "samples_per_s", t.samples_per_s);
  interval(json, "samples_per_s_per_gpu", t.samples_per_s_per_gpu);
  interval(json, "utilisation", t.utilisation);
  json.member("utilisation_with_recomputation", t.executed);
  if (t.target) {
    json.key("utilisation_target");
    json.compact_next();
    json.begin_object();
    json.member("asked", t.target->asked);
    json.member("verdict", target_verdict_names[static_cast<std::size_t>(t.target->verdict)]);
    json.end_object();
    json.member("utilisation_text", std::string_view{t.target->text});
  }
  run_members(json, p.scenario, t);
  json.member("gpu_hours_per_million_samples", t.gpu_hours_per_million_samples);
  money_members(json, p.scenario.money, t.bill);
  energy_members(json, t.energy, "j_per_million_samples");
  json.member("binds", std::string_view{t.binds});
  parts_members(json, t.parts);
  if (p.scenario.feed) {
    data_members(json, t.parts.fed);
  }
  json.member("confidence", run_class_names[static_cast<std::size_t>(t.run_class)]);
  json.key("confidence_basis");
  json.begin_object();
  json.member("width_50", t.errors.width_50);
  json.member("width_80", t.errors.width_80);
  json.member("width_90", t.errors.width_90);
  json.member("rows", t.errors.rows);
  json.member("sources", t.errors.sources);
  json.end_object();
}

}  // namespace headroom
