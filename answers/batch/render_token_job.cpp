// SPDX-License-Identifier: Apache-2.0
// The answer to a job of a language model.
#include <headroom/answers/batch/render_batch.hpp>
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/token_job/token_job_plan.hpp>

#include <algorithm>
#include <map>
#include <vector>

namespace headroom {
namespace {

std::string layout_text(const ServingLayout& layout) {
  return "tp " + std::to_string(layout.tp) + (layout.pp > 1 ? ", pp " + std::to_string(layout.pp) : "") +
         (layout.ep > 1 ? ", ep " + std::to_string(layout.ep) : "");
}

std::string title(const TokenJobPlan& plan) {
  const ServeScenario& s = plan.serve();
  return s.architecture.name + " on " + s.device.id + " by " +
         std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]} + ", weights " +
         std::string{name_of(s.work.weights)} + ", KV cache " + std::string{name_of(s.work.kv)} + "; " +
         std::to_string(s.work.isl) + " tokens in, " + std::to_string(s.work.osl) + " out\n";
}

std::string taken_text(const TokenJobPlan& plan) {
  const ServingWorkload& work = plan.serve().work;
  const JobPlan& job = *plan.job;
  return counted(job.gpus, "GPU") + " (" + plan.serve().device.id + "), " + counted(job.units, "replica") + " of " +
         layout_text(work.layout) + ", " + counted(work.concurrency, "request") + " in flight in each";
}

Interval<double> scaled(const Interval<double>& interval, double factor) noexcept {
  return {factor * interval.low, factor * interval.mid, factor * interval.high};
}

std::string rates_text(const TokenJobPlan& plan) {
  const JobPlan& job = *plan.job;
  const ServePlan& served = plan.served();
  const double busy = plan.question.job.utilisation;
  Table table{{"", "<"}};
  add_records(table, plan.question.job, job);
  table.row({"records/s of one GPU", interval_text(scaled(served.requests_per_s, busy / real(job.unit_gpus)))});
  const double all = busy * real(job.units);
  table.row({"records/s of all", interval_text(scaled(served.requests_per_s, all))});
  table.row({"output tokens/s of all", interval_text(scaled(served.output_tokens_per_s, all))});
  table.row({"prompt tokens/s of all", interval_text(scaled(served.input_tokens_per_s, all))});
  add_times(table, job);
  add_cost(table, job);
  if (const auto per_million = plan.per_million_output_tokens()) {
    table.row({"$ per million output tokens", format(*per_million)});
  }
  add_energy(table, job);
  return table.text() + "binds: " + served.binds + "\n";
}

/// Records a second of one GPU: a row of each number in flight, a column of each layout that fits.
std::string tried_text(const TokenJobPlan& plan) {
  std::vector<std::string> layouts;
  std::map<std::int64_t, std::map<std::string, std::string>> rates;
  std::string others;
  for (const TriedReplica& each : plan.tried) {
    const std::string layout = layout_text(each.layout);
    if (each.rate_per_gpu <= 0.0) {
      others += layout + ": " + each.why + "\n";
      continue;
    }
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end()) {
      layouts.push_back(layout);
    }
    rates[each.in_flight][layout] = format_number(each.rate_per_gpu);
  }
  if (layouts.empty()) {
    return others.empty() ? "" : "\n" + others;
  }
  std::vector<std::string> head{"in flight in a replica"};
  head.insert(head.end(), layouts.begin(), layouts.end());
  Table table{head};
  for (const auto& [in_flight, of] : rates) {
    std::vector<std::string> row{std::to_string(in_flight)};
    for (const std::string& layout : layouts) {
      const auto at = of.find(layout);
      row.push_back(at != of.end() ? at->second : "");
    }
    table.row(row);
  }
  return "\nrecords/s per GPU, by layout\n" + table.text() + others;
}

std::vector<std::string> way_out(const TokenJobPlan& plan) {
  std::vector<std::string> lines;
  if (!plan.way_out.empty()) {
    lines.push_back("the least replica that fits: " + joined(texts_of(plan.way_out)));
  }
  if (!plan.way_out_of_weights.empty()) {
    lines.push_back("or narrower weights: " + joined(texts_of(plan.way_out_of_weights)));
  }
  return lines;
}

std::string refusal_text(const TokenJobPlan& plan) {
  std::string text = (plan.tried.size() > 1 ? "no replica that was tried does it; " : "") + plan.why + "\n";
  for (const std::string& line : way_out(plan)) {
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> all_notes(const TokenJobPlan& plan) {
  std::vector<std::string> notes = plan.assumptions;
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  return notes;
}

Value layout_value(const ServingLayout& layout) {
  return object("tp"_m = layout.tp, "pp"_m = layout.pp, "ep"_m = layout.ep, "gpus"_m = layout.gpus());
}

Value serving_value(const TokenJobPlan& plan) {
  const ServeScenario& s = plan.serve();
  const ServePlan& served = plan.served();
  return object("layout"_m = layout_value(s.work.layout), "in_flight"_m = s.work.concurrency, "isl"_m = s.work.isl,
                "osl"_m = s.work.osl, "weights"_m = std::string{name_of(s.work.weights)},
                "kv_cache"_m = std::string{name_of(s.work.kv)},
                "chance_to_fit"_m = share(plan.replica->chance_to_fit().value_or(0.0)),
                "requests_per_s"_m = per_second(served.requests_per_s),
                "output_tokens_per_s"_m = per_second(served.output_tokens_per_s),
                "input_tokens_per_s"_m = per_second(served.input_tokens_per_s), "ttft_s"_m = served.ttft,
                "tpot_s"_m = served.tpot, "binds"_m = served.binds, "interval_source"_m = plan.interval_source);
}

}  // namespace

std::string token_job_text(const TokenJobPlan& plan, bool explained) {
  if (!plan.job) {
    return title(plan) + refusal_text(plan) + tried_text(plan) + assumed_text(all_notes(plan));
  }
  const ServeScenario& s = plan.serve();
  return title(plan) +
         job_verdict_text(
             {plan.question.job, *plan.job, taken_text(plan), plan.question.gpus.has_value(), s.confidence}) +
         "a replica fits with probability " + probability_text(plan.replica->chance_to_fit().value_or(0.0)) + "\n\n" +
         rates_text(plan) + tried_text(plan) + (explained ? explain_lines(plan.replica->explain) : "") +
         assumed_text(all_notes(plan)) + "\nconfidence: " + plan.interval_source + "\n";
}

Value token_job_document(const TokenJobPlan& plan) {
  const ServeScenario& s = plan.serve();
  const std::vector<std::string> out = way_out(plan);
  return object(
      "schema"_m = "headroom.batch/1", "kind"_m = "batch", "name"_m = plan.question.replica.name,
      "model"_m = s.architecture.id, "gpu"_m = s.device.id,
      "engine"_m = std::string{engine_names[static_cast<std::size_t>(s.engine.engine)]},
      "verdict"_m = plan.feasible() ? "feasible" : "infeasible", "why"_m = plan.job ? Value{} : Value{plan.why},
      "way_out"_m = when(!out.empty(), Value{out}), "asked_probability"_m = share(s.confidence),
      "binds"_m = plan.job ? Value{plan.served().binds} : Value{},
      "job"_m = plan.job ? job_value(*plan.job, TokenMembers{plan.per_million_output_tokens()}) : Value{},
      "serving"_m = plan.job ? serving_value(plan) : Value{},
      "tried"_m = list(plan.tried,
                       [](const TriedReplica& each) {
                         const bool timed = each.rate_per_gpu > 0.0;
                         return row("layout"_m = layout_value(each.layout), "in_flight"_m = each.in_flight,
                                    "fits"_m = each.fits,
                                    "records_per_s_per_gpu"_m = timed ? per_second(each.rate_per_gpu) : Value{},
                                    "why"_m = timed ? Value{} : Value{each.why});
                       }),
      "assumptions"_m = plan.assumptions, "notes"_m = plan.notes);
}

}  // namespace headroom
