// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/answers/views/render_scaling.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <cmath>

namespace headroom {
namespace {

using scaling::Cure;
using scaling::Curve;
using scaling::Point;
using scaling::SpeedupAnswer;

std::string count_text(std::int64_t count) {
  return format_count(static_cast<double>(count));
}

std::string_view recompute_name(const Strategy& s) {
  return recompute_names[static_cast<std::size_t>(s.recompute)];
}

const TrainScenario& train_of(const Scenario& scenario) {
  return std::get<TrainScenario>(scenario.question);
}

std::string kind_text(const TrainScenario& t, scaling::Kind kind) {
  const std::string batch = count_text(t.work.shape.global_batch);
  return kind == scaling::Kind::strong
             ? "strong scaling: global batch " + batch
             : "weak scaling: global batch " + batch + " on " + count_text(t.work.shape.gpus) + " GPUs, in proportion";
}

/// The ranks that stay.
std::string ranks_text(const Strategy& s) {
  std::string text = "tp " + std::to_string(s.tp) + ", pp " + std::to_string(s.pp);
  for (const auto& [name, value] :
       {std::pair{"vpp", s.vpp}, std::pair{"cp", s.cp}, std::pair{"ep", s.ep}, std::pair{"etp", s.etp}}) {
    text += value > 1 ? ", " + std::string{name} + " " + std::to_string(value) : "";
  }
  return text + ", ZeRO " + std::to_string(s.zero) + "; dp follows";
}

std::string head_text(const Scenario& scenario, const std::string& question) {
  const TrainScenario& t = train_of(scenario);
  return t.architecture.name + " on " + t.device.id + ", " + std::string{name_of(t.work.precision)} + ", sequence " +
         count_text(t.work.shape.seq_len) + ", " + question + "\n" + ranks_text(t.strategy) +
         (t.cluster ? "; " + t.cluster->name : std::string{}) + "\n\n";
}

std::string points_table(const Scenario& scenario, const Curve& curve) {
  const bool priced = scenario.money.price.has_value();
  Table table{{"GPUs", "dp", "batch", "micro", "recompute", "step", "tokens/s", "per GPU", "efficiency",
               "exposed comm.", "marginal", priced ? "$ per M tokens" : "", ""}};
  table.left(4);
  table.left(5);
  table.left(12);
  for (const Point& p : curve.points) {
    const std::string batch = p.global_batch > 0 ? count_text(p.global_batch) : "-";
    if (!p.answered) {
      table.row({count_text(p.gpus), "", batch, "", "", "", "", "", "", "", "", "", p.verdict});
      continue;
    }
    const TrainPlan& plan = p.train();
    table.row({count_text(p.gpus), count_text(plan.strategy.dp), batch, std::to_string(plan.strategy.micro_batch),
               std::string{recompute_name(plan.strategy)}, interval_text(plan.step),
               format_number(plan.tokens_per_s.mid), format_number(plan.tokens_per_s_per_gpu.mid),
               percent(p.efficiency), percent(p.communication), p.marginal ? percent(*p.marginal) : "",
               priced ? format(plan.cost_per_million_tokens.mid) : "", p.verdict == "fits" ? "" : p.verdict});
  }
  return table.text();
}

std::string fit_text(std::string_view name, const std::optional<scaling::LawFit>& fit, std::int64_t smallest) {
  if (!fit) {
    return {};
  }
  return std::string{name} + ": f = " + format_number(fit->f, 4) + " of the step on " + count_text(smallest) +
         " GPUs divides, misfit " + percent(fit->misfit, 2) +
         (fit->f > 1.0 ? "; above 1: larger counts gain more than their share, e.g. room for a faster strategy" : "") +
         "\n";
}

/// Where another doubling stops being worth it.
std::string knee_text(const Curve& curve) {
  const std::string least = percent(curve.request.least);
  std::string text = "knee: " + count_text(*curve.knee) + " GPUs, the most whose added GPUs bring at least " + least +
                     " of what each brought before";
  text += curve.stop ? "; " + count_text(*curve.stop) + " is the first that brings less\n"
                     : "; no count here brings less\n";
  return text;
}

std::string budget_text(const Curve& curve) {
  const scaling::Budget& b = curve.request.budget;
  if (!b.run && !b.rate) {
    return {};
  }
  const std::string budget = b.run ? format(*b.run) + " for the run" : format(*b.rate);
  std::string dear;
  for (const Point& p : curve.points) {
    if (p.too_dear) {
      dear += (dear.empty() ? "" : ", ") + count_text(p.gpus) + " GPUs" + (b.run ? " (" + format(p.cost) + ")" : "");
    }
  }
  std::string text = "under " + budget + ": ";
  text += curve.most_useful ? count_text(*curve.most_useful) +
                                  " GPUs, the most that the budget pays for and whose added GPUs bring at least " +
                                  format_number(curve.least_per_dollar) + " sequences a dollar (" +
                                  percent(curve.request.least) + " of the smallest count's)\n"
                            : "no count; the budget pays for none of them\n";
  return text + (dear.empty() ? "" : "  too dear: " + dear + "\n");
}

/// Which counts cannot be answered and why, with what would help.
std::string unanswered_text(const Scenario& scenario, const Curve& curve) {
  std::string text;
  for (const Point& p : curve.points) {
    if (!p.answered) {
      const bool own = p.gpus == train_of(scenario).work.shape.gpus;
      text += "  " + count_text(p.gpus) + " GPUs" + (own ? ", the scenario's own" : "") + ": " + p.verdict +
              (p.way_out.empty() ? "" : "; " + p.way_out) + "\n";
    }
  }
  return text;
}

/// The width that all counts share, and which of them lie outside what was measured.
std::string confidence_text(const Curve& curve) {
  const PlanConfidence& c = *curve.smallest()->plan->confidence;
  std::string text = "confidence: " + c.classes() + ": 80 % of errors within " + percent(c.errors.width_80) +
                     "; counts share most of their error, so that ratios are surer than times\n";
  for (const Point& p : curve.points) {
    if (p.answered && !p.plan->confidence->outside.empty() && p.plan->confidence->outside != c.outside) {
      text += "  outside what was measured from " + count_text(p.gpus) +
              " GPUs on: " + p.plan->confidence->outside.back() + "\n";
      break;
    }
  }
  for (const std::string& what : c.outside) {
    text += "  outside what was measured: " + what + "\n";
  }
  return text;
}

void point_members(JsonWriter& json, const Point& p, const scaling::Budget& budget, bool priced) {
  json.member("gpus", p.gpus);
  json.member("global_batch", p.global_batch);
  json.member("answered", p.answered);
  json.member("verdict", std::string_view{p.verdict});
  if (!p.answered) {
    return;
  }
  const TrainPlan& plan = p.train();
  json.member("dp", std::int64_t{plan.strategy.dp});
  json.member("micro_batch", int{plan.strategy.micro_batch});
  json.member("recompute", recompute_name(plan.strategy));
  interval(json, "step_time_s", plan.step);
  interval(json, "tokens_per_s", plan.tokens_per_s);
  interval(json, "tokens_per_s_per_gpu", plan.tokens_per_s_per_gpu);
  json.member("efficiency", p.efficiency);
  json.member("exposed_communication_share", p.communication);
  if (p.marginal) {
    json.member("marginal_efficiency", *p.marginal);
  }
  if (priced) {
    interval(json, "cost_per_million_tokens_usd", plan.cost_per_million_tokens);
    json.member("sequences_per_usd", p.samples_per_dollar);
  }
  if (budget.run || budget.rate) {
    json.member("too_dear", p.too_dear);
  }
  if (budget.run) {
    json.member("cost_usd", p.cost.raw());
  }
  if (plan.outlook) {
    json.member("goodput", plan.outlook->ratio.mid);
    json.member("calendar_s", plan.calendar.mid.raw());
  }
}

void fit_member(JsonWriter& json, std::string_view name, const std::optional<scaling::LawFit>& fit) {
  if (fit) {
    json.key(name);
    json.compact_next();
    json.begin_object();
    json.member("f", fit->f);
    json.member("misfit", fit->misfit);
    json.end_object();
  }
}

void count_member(JsonWriter& json, std::string_view name, const std::optional<std::int64_t>& count) {
  json.key(name);
  if (count) {
    json.integer(*count);
  } else {
    json.null();
  }
}

void head_members(JsonWriter& json, std::string_view schema, const Scenario& scenario) {
  const TrainScenario& t = train_of(scenario);
  json.member("schema", schema);
  json.member("name", std::string_view{scenario.name});
  json.member("model", std::string_view{t.architecture.id});
  json.member("gpu", std::string_view{t.device.id});
}

std::string csv_number(double value) {
  JsonWriter shortest;
  shortest.number(value);
  std::string text = shortest.take();
  text.pop_back();
  return text;
}

/// What the model says of the measured step.
std::string prediction_text(const SpeedupAnswer& a) {
  const auto& base = std::get<TrainPlan>(a.base.answer);
  std::string text;
  if (!base.problems.empty()) {
    return "the scenario cannot be priced on " + count_text(a.measured.gpus) + " GPUs: " + base.problems.front().text +
           "; " + base.problems.front().way_out + "\n";
  }
  text += "predicted: " + (a.predicted ? format_number(*a.predicted) + "x, " : std::string{}) +
          percent(a.predicted_communication) + " of a step of " + format(base.estimate.step) +
          " is exposed communication; " + base.verdict + "\n";
  if (!a.predicted) {
    text += "  no predicted speed-up: the strategy does not run on " + count_text(a.measured.of) + " GPUs\n";
  }
  // Half of what was measured is beyond the width of any class of questions.
  constexpr double unexplained = 0.5;
  if (a.predicted_communication < unexplained * a.communication) {
    text +=
        "  the fabric as described explains less than half of it: is the traffic on the link that you think? Judge a "
        "measured bus bandwidth with 'headroom collective all-reduce --measured-busbw RATE'\n";
  }
  return text;
}

std::string cures_table(const SpeedupAnswer& a) {
  Table table{{"cures, each priced anew", "gain", "step", "exposed comm.", "speed-up then", "set", ""}};
  table.left(5);
  table.left(6);
  for (const Cure& cure : a.cures) {
    const bool priced = cure.step > Seconds{};
    table.row({cure.what, priced ? percent(cure.gain) : "", priced ? format(cure.step) : "",
               priced ? percent(cure.communication) : "", cure.speedup ? format_number(*cure.speedup) + "x" : "",
               joined(texts_of(cure.changes)), cure.verdict == "fits" ? "" : cure.verdict});
  }
  return table.text();
}

}  // namespace

std::string scaling_text(const Scenario& scenario, const Curve& curve) {
  std::string text = head_text(scenario, kind_text(train_of(scenario), curve.request.kind)) +
                     points_table(scenario, curve) + outlook_table(curve) + "\n";
  const Point* const smallest = curve.smallest();
  if (smallest == nullptr) {
    const Strategy& s = train_of(scenario).strategy;
    return text +
           "no count fits: counts must be multiples of tp x pp x cp = " + std::to_string(int{s.tp} * s.pp * s.cp) +
           " and hold the model\n" + unanswered_text(scenario, curve);
  }
  if (!curve.is_series()) {
    text += "no series: of " + count_text(static_cast<std::int64_t>(curve.points.size())) +
            (curve.points.size() == 1 ? " count" : " counts") + " one alone can be answered, " +
            count_text(smallest->gpus) + " GPUs, which says nothing of scaling\n";
    return text + unanswered_text(scenario, curve) + budget_text(curve) +
           (scenario.money.price ? price_text(scenario.money) : "") + confidence_text(curve);
  }
  text += "efficiency: tokens/s per GPU over that of " + count_text(smallest->gpus) +
          " GPUs; marginal: tokens/s per added GPU over that of a GPU before\n";
  text += fit_text("Amdahl 1 / ((1 - f) + f / N)", curve.amdahl, smallest->gpus);
  text += fit_text("Gustafson (1 - f) + f N", curve.gustafson, smallest->gpus);
  return text + knee_text(curve) + budget_text(curve) + (scenario.money.price ? price_text(scenario.money) : "") +
         confidence_text(curve);
}

std::string scaling_json(const Scenario& scenario, const Curve& curve) {
  JsonWriter json;
  json.begin_object();
  head_members(json, "headroom.scale/1", scenario);
  json.member("scaling", scaling::kind_names[static_cast<std::size_t>(curve.request.kind)]);
  json.key("points");
  json.begin_array();
  for (const Point& point : curve.points) {
    json.begin_object();
    point_members(json, point, curve.request.budget, scenario.money.price.has_value());
    json.end_object();
  }
  json.end_array();
  if (scenario.money.price) {
    json.member("price_usd_per_gpu_s", scenario.money.price->raw());
    json.member("price_source", std::string_view{scenario.money.source});
  }
  fit_member(json, "amdahl", curve.amdahl);
  fit_member(json, "gustafson", curve.gustafson);
  json.member("threshold", curve.request.least);
  count_member(json, "knee_gpus", curve.knee);
  count_member(json, "stop_gpus", curve.stop);
  if (curve.request.budget.run || curve.request.budget.rate) {
    count_member(json, "most_useful_gpus", curve.most_useful);
    json.member("least_sequences_per_usd", curve.least_per_dollar);
  }
  if (const Point* const smallest = curve.smallest()) {
    json.member("confidence", run_class_names[static_cast<std::size_t>(smallest->plan->confidence->run_class)]);
    json.member("width_80", smallest->plan->confidence->width);
  }
  json.end_object();
  return json.take();
}

std::string scaling_csv(const Curve& curve) {
  std::string text =
      "gpus,global_batch,answered,verdict,dp,micro_batch,recompute,step_time_s,step_time_low_s,step_time_high_s,"
      "tokens_per_s,tokens_per_s_per_gpu,efficiency,exposed_communication_share,marginal_efficiency,"
      "cost_per_million_tokens_usd\n";
  for (const Point& p : curve.points) {
    text += std::to_string(p.gpus) + ',' + std::to_string(p.global_batch) + (p.answered ? ",1," : ",0,") +
            csv_field(p.verdict);
    if (!p.answered) {
      text += std::string(12, ',') + '\n';
      continue;
    }
    const TrainPlan& plan = p.train();
    text += ',' + std::to_string(plan.strategy.dp) + ',' + std::to_string(plan.strategy.micro_batch) + ',' +
            std::string{recompute_name(plan.strategy)};
    for (const double value : {plan.step.mid.raw(), plan.step.low.raw(), plan.step.high.raw(), plan.tokens_per_s.mid,
                               plan.tokens_per_s_per_gpu.mid, p.efficiency, p.communication}) {
      text += ',' + csv_number(value);
    }
    text += ',' + (p.marginal ? csv_number(*p.marginal) : "");
    text += ',' + (p.samples_per_dollar > 0.0 ? csv_number(plan.cost_per_million_tokens.mid.raw()) : "") + '\n';
  }
  return text;
}

std::string speedup_text(const Scenario& scenario, const SpeedupAnswer& a) {
  const scaling::MeasuredSpeedup& m = a.measured;
  const double ratio = static_cast<double>(m.gpus) / static_cast<double>(m.of);
  std::string text = head_text(scenario, "a measured speed-up");
  text += "measured: " + format_number(m.speedup) + "x on " + count_text(m.gpus) + " GPUs over " + count_text(m.of) +
          "\n1 / " + format_number(m.speedup) + " = 1 / " + format_number(ratio) +
          " + c: communication and waiting take " + percent(a.communication) + " of the step\n" + prediction_text(a);
  if (a.cures.empty()) {
    return text;
  }
  text += "\n" + cures_table(a);
  return text +
         "\ngain: sequences/s over those of the scenario, both predicted; speed-up then: the measured one where its "
         "communication and\nits compute change as the predicted ones do\n";
}

std::string speedup_json(const Scenario& scenario, const SpeedupAnswer& a) {
  JsonWriter json;
  json.begin_object();
  head_members(json, "headroom.speedup/1", scenario);
  json.member("measured_speedup", a.measured.speedup);
  json.member("gpus", a.measured.gpus);
  json.member("over_gpus", a.measured.of);
  json.member("communication_share", a.communication);
  const auto& base = std::get<TrainPlan>(a.base.answer);
  json.member("verdict", std::string_view{base.problems.empty() ? base.verdict : base.problems.front().text});
  if (a.predicted) {
    json.member("predicted_speedup", *a.predicted);
  }
  if (base.estimate.step > Seconds{}) {
    json.member("predicted_step_time_s", base.estimate.step.raw());
    json.member("predicted_communication_share", a.predicted_communication);
  }
  json.key("cures");
  json.begin_array();
  for (const Cure& cure : a.cures) {
    json.begin_object();
    json.member("what", std::string_view{cure.what});
    json.key("changes");
    json.compact_next();
    json.begin_array();
    for (const Change& change : cure.changes) {
      json.text(text_of(change));
    }
    json.end_array();
    json.member("answered", cure.answered);
    json.member("verdict", std::string_view{cure.verdict});
    if (cure.step > Seconds{}) {
      json.member("gain", cure.gain);
      json.member("step_time_s", cure.step.raw());
      json.member("sequences_per_s", cure.samples_per_second);
      json.member("exposed_communication_share", cure.communication);
    }
    if (cure.speedup) {
      json.member("speedup_then", *cure.speedup);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headroom
