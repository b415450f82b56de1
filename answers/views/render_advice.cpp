// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_advice.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>

#include <cmath>

namespace headroom {
namespace {

std::string count(std::int64_t value) {
  return format_count(real(value));
}

/// As people write it: "8", "2.83", "0.00015"; from a thousand on with its digits grouped.
std::string plain(double value) {
  constexpr double grouped = 1000.0;
  if (value >= grouped) {
    return value == std::floor(value) ? format_count(value) : format_number(value, 4);
  }
  return general_text(value, 3);
}

// ---- batch ----

std::string rate_text(const BatchAdvice& a) {
  const bool linear = a.rule == RateRule::linear;
  std::string text = "x" + plain(a.rate_factor);
  if (a.rate) {
    text = plain(*a.base_rate) + " -> " + plain(*a.rate) + " (" + text + ")";
  }
  text += linear ? ", linear in the batch (Goyal et al. 2017, section 2.1)"
                 : ", by its square root (Krizhevsky 2014; Malladi et al. 2022)";
  if (a.adam && a.factor != 1.0) {
    const std::string k = plain(a.factor), root = plain(a.rate_factor);
    text += "; 1 - beta1 and 1 - beta2 x" + k + " while both stay below 1, epsilon / " + root;
  }
  return text;
}

std::string warm_up_text(const BatchAdvice& a) {
  if (!a.warm_up) {
    return "as before: the rate does not rise";
  }
  std::string text = "on: from ";
  text += a.base_rate ? plain(*a.base_rate) : std::string{"the old rate"};
  text += " in equal steps over five epochs";
  text +=
      a.warm_up_steps ? ", " + format_count(*a.warm_up_steps) + " steps" : "; training.epoch_samples gives the steps";
  return text + " (Goyal et al. 2017, section 2.2)";
}

std::string critical_text(const BatchAdvice& a) {
  if (!a.critical) {
    return "not known: no warning can be given; training.critical_batch in sequences, or training.target_loss";
  }
  return plain(*a.critical) + " sequences (" +
         (a.from_loss ? "2e8 / loss^(1/0.21) tokens: Kaplan et al. 2020, equation 5.3, of WebText2)" : "stated)");
}

std::string batch_text(const BatchAdvice& a) {
  Table table{{"", "<"}};
  table.row({"learning rate", rate_text(a)});
  table.row({"warm-up", warm_up_text(a)});
  table.row({"critical batch", critical_text(a)});
  std::string text =
      "\nbatch " + count(a.base) + " -> " + count(a.batch) + " sequences (x" + plain(a.factor) + ")\n" + table.text();
  if (a.critical) {
    text += std::string{a.above ? "warning: the batch is above the critical batch: " : ""} + "to the same loss x" +
            plain(a.change.steps) + " of the steps and x" + plain(a.change.samples) +
            " of the samples (McCandlish et al. 2018, section 2.3)\n";
  }
  return text;
}

// ---- sweep ----

std::string sweep_text(const SweepPlan& s, std::int64_t gpus) {
  const SweepQuestion& q = s.question;
  std::string text = "\nsweep of " + count(q.configurations) + " configurations by successive halving: one of " +
                     count(q.eta) + " goes on, a whole run is " + count(q.most) + " units" +
                     (q.resume ? ", resumed from checkpoints" : "") + "\n";
  Table rungs{{"rung", "configurations", "units each", "units", "GPU-hours", "time"}};
  for (std::size_t i = 0; i < s.rungs.size(); ++i) {
    const Rung& r = s.rungs[i];
    rungs.row({std::to_string(i + 1), count(r.configurations), plain(r.resource), plain(r.units),
               plain(s.gpu_hours.mid * r.units / s.units), format(r.duration)});
  }
  text += rungs.text();
  text += "  " + plain(s.units) + " units instead of " + plain(s.full_units) + " for all in full" +
          (q.resume ? "; anew on each rung " + plain(s.anew_units)
                    : "; resumed from checkpoints " + plain(s.resumed_units)) +
          "\n";
  Table answer{{"", "<"}};
  answer.row({"GPU-hours", interval_text(s.gpu_hours)});
  answer.row(
      {"time", interval_text(s.duration) + ", " + count(q.parallel) + " at a time on " + count(gpus) + " GPUs each"});
  if (s.cost) {
    answer.row({"cost", interval_text(*s.cost)});
  }
  return text + answer.text() + "Jamieson and Talwalkar 2016; Li et al. 2018, algorithm 1\n";
}

// ---- elastic ----

std::string refusal_text(const ElasticCount& e) {
  std::string text = e.why_not;
  std::string ways;
  for (const std::int64_t nearest : e.nearest_batches) {
    ways += (ways.empty() ? "use global_batch " : " or ") + count(nearest);
  }
  if (e.usable_gpus > 0) {
    ways += (ways.empty() ? "run on " : ", or run on ") + count(e.usable_gpus) + " of the GPUs";
  }
  return ways.empty() ? text : text + "; " + ways;
}

std::string elastic_text(const TrainScenario& t, const TrainPlan& p) {
  const bool timed = p.step.mid > Seconds{};
  Table table{
      timed ? std::vector<std::string>{"GPUs", "dp", "micro-batch", "accumulation", "step", "tokens/s", "kept", "<"}
            : std::vector<std::string>{"GPUs", "dp", "micro-batch", "accumulation", "<"}};
  const auto row = [&](std::int64_t gpus, const Strategy& s, std::int64_t accumulation, Seconds step, double rate,
                       double kept, const std::string& verdict) {
    std::vector<std::string> cells{std::to_string(gpus), std::to_string(s.dp), std::to_string(s.micro_batch),
                                   count(accumulation)};
    if (timed) {
      cells.insert(cells.end(), {format(step), format_number(rate), format_number(100.0 * kept) + " %"});
    }
    cells.push_back(verdict);
    table.row(std::move(cells));
  };
  row(t.work.shape.gpus, p.strategy, p.estimate.micro_batches, p.step.mid, p.tokens_per_s.mid, 1.0, "this plan");
  std::string refused;
  for (const ElasticCount& e : p.advice.elastic) {
    if (e.why_not.empty()) {
      row(e.gpus, e.strategy, e.accumulation, e.step.mid, e.tokens_per_s.mid, e.kept, e.verdict);
    } else {
      refused += "  " + count(e.gpus) + " GPUs: " + refusal_text(e) + "\n";
    }
  }
  return "\nother numbers of GPUs, global batch " + count(t.work.shape.global_batch) + " kept\n" + table.text() +
         refused;
}

Value batch_value(const BatchAdvice& a) {
  return object("base_batch"_m = a.base, "global_batch"_m = a.batch, "factor"_m = a.factor,
                "rule"_m = rate_rule_names[static_cast<std::size_t>(a.rule)], "learning_rate_factor"_m = a.rate_factor,
                "base_learning_rate"_m = when(a.rate.has_value(), a.base_rate), "learning_rate"_m = a.rate,
                "warm_up"_m = a.warm_up, "warm_up_steps"_m = a.warm_up_steps, "critical_batch"_m = a.critical,
                a.critical ? object("critical_batch_from"_m = a.from_loss ? "target_loss" : "scenario",
                                    "above_critical_batch"_m = a.above, "steps_factor"_m = a.change.steps,
                                    "samples_factor"_m = a.change.samples)
                           : Value{});
}

Value sweep_value(const SweepPlan& s) {
  return object("configurations"_m = s.question.configurations, "max_resource"_m = s.question.most,
                "eta"_m = s.question.eta, "parallel"_m = s.question.parallel, "resume"_m = s.question.resume,
                "units"_m = s.units, "anew_units"_m = s.anew_units, "resumed_units"_m = s.resumed_units,
                "full_units"_m = s.full_units, "gpu_hours"_m = s.gpu_hours, "duration_s"_m = s.duration,
                "cost_usd"_m = s.cost,
                "rungs"_m = list(s.rungs, [&](const Rung& r) {
                  return row("configurations"_m = r.configurations, "units_each"_m = r.resource, "units"_m = r.units,
                             "gpu_hours"_m = s.gpu_hours.mid * r.units / s.units, "duration_s"_m = r.duration);
                }));
}

Value elastic_value(const ElasticCount& e) {
  const bool runs = e.why_not.empty();
  const bool timed = runs && e.step.mid > Seconds{};
  return object(
      "gpus"_m = e.gpus, "usable_gpus"_m = e.usable_gpus, "why_not"_m = when(!runs, e.why_not),
      "nearest_global_batches"_m = when(!runs && !e.nearest_batches.empty(), e.nearest_batches),
      runs ? object("dp"_m = e.strategy.dp, "micro_batch"_m = e.strategy.micro_batch, "accumulation"_m = e.accumulation,
                    "verdict"_m = name_of(e.estimate.verdict), "verdict_text"_m = e.verdict)
           : Value{},
      "step_time_s"_m = when(timed, e.step), "tokens_per_s"_m = when(timed, per_second(e.tokens_per_s)),
      "throughput_kept"_m = when(timed, share(e.kept)));
}

}  // namespace

std::string advice_text(const TrainScenario& t, const TrainPlan& p) {
  const TrainAdvice& a = p.advice;
  std::string text = a.batch ? batch_text(*a.batch) : "";
  text += a.sweep ? sweep_text(*a.sweep, t.work.shape.gpus) : "";
  text += t.asked.sweep && !a.sweep ? "\nsweep: not priced, for memory alone is answered\n" : "";
  return text + (a.elastic.empty() ? "" : elastic_text(t, p));
}

Value advice(const TrainAdvice& advice) {
  return object("batch_change"_m = advice.batch ? batch_value(*advice.batch) : Value{},
                "sweep"_m = advice.sweep ? sweep_value(*advice.sweep) : Value{},
                "elastic"_m = when(!advice.elastic.empty(), list(advice.elastic, elastic_value)));
}

}  // namespace headroom
