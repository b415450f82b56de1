// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/answers/views/render_scaling.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <array>
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

std::string_view recomputed(const Strategy& s) {
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

/// "fits: over 99.9 %", or what is broken or open.
std::string sure_text(const Point& p) {
  const std::optional<double> chance = p.plan->chance_to_fit();
  return p.fits ? "fits: " + probability_text(chance.value_or(0.0))
                : p.verdict + (chance ? ": fits " + probability_text(*chance) : std::string{});
}

std::string points_table(const Scenario& scenario, const Curve& curve) {
  const bool priced = scenario.money.price.has_value();
  Table table{{"GPUs", "dp", "batch", "micro", "<recompute", "<step", "tokens/s", "per GPU", "efficiency",
               "exposed comm.", "marginal", priced ? "$ per M tokens" : "", "<with probability"}};
  for (const Point& p : curve.points) {
    const std::string batch = p.global_batch > 0 ? count_text(p.global_batch) : "-";
    if (!p.answered) {
      table.row({count_text(p.gpus), "", batch, "", "", "", "", "", "", "", "", "", p.verdict});
      continue;
    }
    const TrainPlan& plan = p.train();
    table.row({count_text(p.gpus), count_text(plan.strategy.dp), batch, std::to_string(plan.strategy.micro_batch),
               std::string{recomputed(plan.strategy)}, interval_text(plan.step), format_number(plan.tokens_per_s.mid),
               format_number(plan.tokens_per_s_per_gpu.mid), percent(p.efficiency), percent(p.communication),
               p.marginal ? percent(*p.marginal) : "", priced ? format(plan.cost_per_million_tokens.mid) : "",
               sure_text(p)});
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
std::string knee_text(std::int64_t knee, std::optional<std::int64_t> stop, double least) {
  std::string text = "knee: " + count_text(knee) + " GPUs, the most whose added GPUs bring at least " + percent(least) +
                     " of what each brought before";
  text += stop ? "; " + count_text(*stop) + " is the first that brings less\n" : "; no count here brings less\n";
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
  std::string text = "confidence: expect times within +/- " + percent(c.errors.width_80) +
                     ", as 8 of 10 measured runs were (" + c.classes() +
                     "); counts share most of their error, so that ratios are surer than times\n";
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

Value point_value(const Point& p, const scaling::Budget& budget, bool priced) {
  const Value asked =
      object("gpus"_m = p.gpus, "global_batch"_m = p.global_batch, "answered"_m = p.answered, "verdict"_m = p.verdict);
  if (!p.answered) {
    return asked;
  }
  const TrainPlan& plan = p.train();
  return object(asked, "fits_probability"_m = share(p.plan->chance_to_fit().value_or(0.0)), "dp"_m = plan.strategy.dp,
                "micro_batch"_m = plan.strategy.micro_batch, "recompute"_m = recomputed(plan.strategy),
                "step_time_s"_m = plan.step, "tokens_per_s"_m = per_second(plan.tokens_per_s),
                "tokens_per_s_per_gpu"_m = per_second(plan.tokens_per_s_per_gpu), "efficiency"_m = share(p.efficiency),
                "exposed_communication_share"_m = share(p.communication),
                "marginal_efficiency"_m = p.marginal ? share(*p.marginal) : Value{},
                "usd_per_million_tokens"_m = when(priced, plan.cost_per_million_tokens),
                "sequences_per_usd"_m = when(priced, per_usd(p.samples_per_dollar)),
                "too_dear"_m = when(budget.run || budget.rate, p.too_dear),
                "cost_usd"_m = when(budget.run.has_value(), p.cost),
                "goodput"_m = plan.outlook ? share(plan.outlook->ratio.mid) : Value{},
                "calendar_s"_m = when(plan.outlook.has_value(), plan.calendar.mid));
}

Value fit_value(const std::optional<scaling::LawFit>& fit) {
  return fit ? row("f"_m = fit->f, "misfit"_m = share(fit->misfit)) : Value{};
}

Value head_value(std::string_view schema, const Scenario& scenario) {
  const TrainScenario& t = train_of(scenario);
  return object("schema"_m = schema, "name"_m = scenario.name, "model"_m = t.architecture.id, "gpu"_m = t.device.id);
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
  Table table{{"cures, each priced anew", "gain", "step", "exposed comm.", "speed-up then", "<set", "<"}};
  for (const Cure& cure : a.cures) {
    const bool priced = cure.step > Seconds{};
    table.row({cure.what, priced ? percent(cure.gain) : "", priced ? format(cure.step) : "",
               priced ? percent(cure.communication) : "", cure.speedup ? format_number(*cure.speedup) + "x" : "",
               joined(texts_of(cure.changes)), cure.fits ? "" : cure.verdict});
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
  return text + knee_text(*curve.knee, curve.stop, curve.request.least) + budget_text(curve) +
         (scenario.money.price ? price_text(scenario.money) : "") + confidence_text(curve);
}

Value scaling_document(const Scenario& scenario, const Curve& curve) {
  const Point* const smallest = curve.smallest();
  const scaling::Budget& budget = curve.request.budget;
  const bool limited = budget.run || budget.rate;
  const bool priced = scenario.money.price.has_value();
  return object(
      head_value("headroom.scale/1", scenario),
      "scaling"_m = scaling::kind_names[static_cast<std::size_t>(curve.request.kind)],
      "points"_m = list(curve.points, [&](const Point& point) { return point_value(point, budget, priced); }),
      price(scenario.money), "amdahl"_m = fit_value(curve.amdahl), "gustafson"_m = fit_value(curve.gustafson),
      "threshold"_m = share(curve.request.least), "knee_gpus"_m = or_null(curve.knee),
      "stop_gpus"_m = or_null(curve.stop), "most_useful_gpus"_m = when(limited, or_null(curve.most_useful)),
      "least_sequences_per_usd"_m = when(limited, per_usd(curve.least_per_dollar)),
      smallest != nullptr
          ? object("confidence"_m = run_class_names[static_cast<std::size_t>(smallest->plan->confidence->run_class)],
                   "width_80"_m = share(smallest->plan->confidence->width))
          : Value{});
}

std::string scaling_csv(const Scenario& scenario, const Curve& curve) {
  constexpr std::array columns{Column{"gpus", "gpus"},
                               Column{"global_batch", "global_batch"},
                               Column{"answered", "answered"},
                               Column{"verdict", "verdict"},
                               Column{"dp", "dp"},
                               Column{"micro_batch", "micro_batch"},
                               Column{"recompute", "recompute"},
                               Column{"step_time_s", "step_time_s/mid"},
                               Column{"step_time_low_s", "step_time_s/low"},
                               Column{"step_time_high_s", "step_time_s/high"},
                               Column{"tokens_per_s", "tokens_per_s/mid"},
                               Column{"tokens_per_s_per_gpu", "tokens_per_s_per_gpu/mid"},
                               Column{"efficiency", "efficiency"},
                               Column{"exposed_communication_share", "exposed_communication_share"},
                               Column{"marginal_efficiency", "marginal_efficiency"},
                               Column{"usd_per_million_tokens", "usd_per_million_tokens/mid"}};
  return csv_text(*scaling_document(scenario, curve).find("points"), columns);
}

std::string measured_series_text(const MeasuredSeries& m) {
  const scaling::SeriesLaws told = scaling::laws_of(m.series, m.least);
  const std::int64_t smallest = m.series.front().gpus;
  Table table{{"GPUs", "per second", "per GPU", "speed-up", "efficiency", "marginal"}};
  for (std::size_t i = 0; i < m.series.size(); ++i) {
    const scaling::Output& here = m.series[i];
    table.row({count_text(here.gpus), format_number(here.per_second),
               format_number(here.per_second / static_cast<double>(here.gpus)), format_number(told.speedup[i]) + "x",
               percent(told.efficiency[i]), i > 0 ? percent(told.marginal[i]) : ""});
  }
  std::string text = "measured scaling, " + quoted(m.file) + "\n\n" + table.text() +
                     "\nspeed-up and efficiency: over " + count_text(smallest) +
                     " GPUs; marginal: what an added GPU brings over what a GPU brought before\n";
  text += fit_text("Amdahl 1 / ((1 - f) + f / N)", told.amdahl, smallest);
  if (told.amdahl && told.amdahl->f < 1.0) {
    text += "  by it no count is more than " + format_number(1.0 / (1.0 - told.amdahl->f)) + "x as fast\n";
  }
  text += fit_text("Gustafson (1 - f) + f N", told.gustafson, smallest);
  return text + knee_text(*told.knee, told.stop, m.least);
}

Value measured_series_document(const MeasuredSeries& m) {
  const scaling::SeriesLaws told = scaling::laws_of(m.series, m.least);
  Value points = Value::empty_list();
  for (std::size_t i = 0; i < m.series.size(); ++i) {
    points.push(row("gpus"_m = m.series[i].gpus, "per_s"_m = m.series[i].per_second, "speedup"_m = told.speedup[i],
                    "efficiency"_m = share(told.efficiency[i]),
                    "marginal_efficiency"_m = when(i > 0, share(told.marginal[i]))));
  }
  return object("schema"_m = "headroom.measured_scale/1", "version"_m = version(), "file"_m = m.file,
                "points"_m = std::move(points), "amdahl"_m = fit_value(told.amdahl),
                "gustafson"_m = fit_value(told.gustafson), "threshold"_m = share(m.least),
                "knee_gpus"_m = or_null(told.knee), "stop_gpus"_m = or_null(told.stop));
}

std::string law_text(const scaling::LawCurve& curve) {
  const scaling::LawRequest& r = curve.request;
  Table table{{"workers", "same work", "efficiency", "another doubling", "grown work", "efficiency"}};
  for (const scaling::LawPoint& p : curve.points) {
    table.row({count_text(p.workers), format_number(p.amdahl, 4) + "x", percent(p.amdahl_efficiency()),
               percent(p.doubling), format_number(p.gustafson, 4) + "x", percent(p.gustafson_efficiency())});
  }
  const scaling::LawPoint& last = curve.points.back();
  const std::string workers = counted(last.workers, "worker") + (last.workers == 1 ? " does" : " do");
  std::string text = "laws of scaling alone: " + percent(r.parallel) + " of the work divides\n\n" + table.text() +
                     "\nsame work: " + workers + " it " + format_number(last.amdahl, 4) +
                     "x as fast as one by Amdahl's law, 1 / ((1 - f) + f / N)" +
                     (curve.limit ? ", and no count does it more than " + format_number(*curve.limit, 4) + "x as fast"
                                  : ", which has no limit where all of it divides") +
                     "\ngrown work: " + workers + " " + format_number(last.gustafson, 4) +
                     "x the work in the same time by Gustafson's law, (1 - f) + f N\n";
  text += curve.last_doubling ? "another doubling: it gains less than " + percent(r.least) + " at the same work from " +
                                    format_count(*curve.last_doubling) +
                                    (*curve.last_doubling == 1.0 ? " worker" : " workers") + " on\n"
                              : "another doubling: it gains 100 % at any count\n";
  if (const auto& m = curve.measured) {
    text += "measured: " + format_number(m->speedup) + "x on " + counted(m->workers, "worker") +
            ", where the law has " + format_number(m->amdahl, 4) + "x; " + percent(m->serial) +
            " of the work did not divide (Karp and Flatt: (1/S - 1/N) / (1 - 1/N)), where " +
            percent(1.0 - r.parallel) + " was asked\n";
  }
  return text;
}

Value law_document(const scaling::LawCurve& curve) {
  const scaling::LawRequest& r = curve.request;
  const auto& m = curve.measured;
  return object("schema"_m = "headroom.laws/1", "version"_m = version(), "parallel_share"_m = share(r.parallel),
                "points"_m = list(curve.points,
                                  [](const scaling::LawPoint& p) {
                                    return row("workers"_m = p.workers, "amdahl_speedup"_m = p.amdahl,
                                               "amdahl_efficiency"_m = share(p.amdahl_efficiency()),
                                               "doubling_gain"_m = share(p.doubling),
                                               "gustafson_speedup"_m = p.gustafson,
                                               "gustafson_efficiency"_m = share(p.gustafson_efficiency()));
                                  }),
                "amdahl_limit"_m = or_null(curve.limit), "threshold"_m = share(r.least),
                "poor_doubling_workers"_m = or_null(curve.last_doubling),
                m ? object("measured_speedup"_m = m->speedup, "measured_workers"_m = m->workers,
                           "measured_amdahl_speedup"_m = m->amdahl, "karp_flatt_serial_share"_m = share(m->serial))
                  : Value{});
}

std::string law_csv(const scaling::LawCurve& curve) {
  constexpr std::array columns{Column{"workers", "workers"},
                               Column{"amdahl_speedup", "amdahl_speedup"},
                               Column{"amdahl_efficiency", "amdahl_efficiency"},
                               Column{"doubling_gain", "doubling_gain"},
                               Column{"gustafson_speedup", "gustafson_speedup"},
                               Column{"gustafson_efficiency", "gustafson_efficiency"}};
  return csv_text(*law_document(curve).find("points"), columns);
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

Value speedup_document(const Scenario& scenario, const SpeedupAnswer& a) {
  const auto& base = std::get<TrainPlan>(a.base.answer);
  const bool timed = base.estimate.step > Seconds{};
  return object(head_value("headroom.speedup/1", scenario), "measured_speedup"_m = a.measured.speedup,
                "gpus"_m = a.measured.gpus, "over_gpus"_m = a.measured.of,
                "communication_share"_m = share(a.communication),
                "verdict"_m = base.problems.empty() ? base.verdict : base.problems.front().text,
                "predicted_speedup"_m = a.predicted, "predicted_step_time_s"_m = when(timed, base.estimate.step),
                "predicted_communication_share"_m = when(timed, share(a.predicted_communication)),
                "cures"_m = list(a.cures, [](const Cure& cure) {
                  const bool priced = cure.step > Seconds{};
                  return object("what"_m = cure.what, "changes"_m = Value{texts_of(cure.changes)}.on_one_line(),
                                "answered"_m = cure.answered, "verdict"_m = cure.verdict,
                                "gain"_m = when(priced, share(cure.gain)), "step_time_s"_m = when(priced, cure.step),
                                "sequences_per_s"_m = when(priced, per_second(cure.samples_per_second)),
                                "exposed_communication_share"_m = when(priced, share(cure.communication)),
                                "speedup_then"_m = cure.speedup);
                }));
}

}  // namespace headroom
