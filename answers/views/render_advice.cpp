// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_advice.hpp>
#include <headroom/core/real.hpp>

#include <array>
#include <charconv>
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
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 3).ptr;
  return {text.data(), end};
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
  Table table{{"", ""}};
  table.left(1);
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
  Table answer{{"", ""}};
  answer.left(1);
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
      timed ? std::vector<std::string>{"GPUs", "dp", "micro-batch", "accumulation", "step", "tokens/s", "kept", ""}
            : std::vector<std::string>{"GPUs", "dp", "micro-batch", "accumulation", ""}};
  table.left(timed ? 7 : 4);
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

void batch_members(JsonWriter& json, const BatchAdvice& a) {
  json.key("batch_change");
  json.begin_object();
  json.member("base_batch", a.base);
  json.member("global_batch", a.batch);
  json.member("factor", a.factor);
  json.member("rule", rate_rule_names[static_cast<std::size_t>(a.rule)]);
  json.member("learning_rate_factor", a.rate_factor);
  if (a.rate) {
    json.member("base_learning_rate", *a.base_rate);
    json.member("learning_rate", *a.rate);
  }
  json.member("warm_up", a.warm_up);
  if (a.warm_up_steps) {
    json.member("warm_up_steps", *a.warm_up_steps);
  }
  if (a.critical) {
    json.member("critical_batch", *a.critical);
    json.member("critical_batch_from", a.from_loss ? "target_loss" : "scenario");
    json.member("above_critical_batch", a.above);
    json.member("steps_factor", a.change.steps);
    json.member("samples_factor", a.change.samples);
  }
  json.end_object();
}

void sweep_members(JsonWriter& json, const SweepPlan& s) {
  json.key("sweep");
  json.begin_object();
  json.member("configurations", s.question.configurations);
  json.member("max_resource", s.question.most);
  json.member("eta", s.question.eta);
  json.member("parallel", s.question.parallel);
  json.member("resume", s.question.resume);
  json.member("units", s.units);
  json.member("anew_units", s.anew_units);
  json.member("resumed_units", s.resumed_units);
  json.member("full_units", s.full_units);
  interval(json, "gpu_hours", s.gpu_hours);
  interval(json, "duration_s", s.duration);
  if (s.cost) {
    interval(json, "cost_usd", *s.cost);
  }
  json.key("rungs");
  json.begin_array();
  for (const Rung& r : s.rungs) {
    json.compact_next();
    json.begin_object();
    json.member("configurations", r.configurations);
    json.member("units_each", r.resource);
    json.member("units", r.units);
    json.member("gpu_hours", s.gpu_hours.mid * r.units / s.units);
    json.member("duration_s", r.duration.raw());
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void count_members(JsonWriter& json, const ElasticCount& e) {
  json.member("gpus", e.gpus);
  json.member("usable_gpus", e.usable_gpus);
  if (!e.why_not.empty()) {
    json.member("why_not", std::string_view{e.why_not});
    if (!e.nearest_batches.empty()) {
      json.key("nearest_global_batches");
      json.begin_array();
      for (const std::int64_t batch : e.nearest_batches) {
        json.integer(batch);
      }
      json.end_array();
    }
    return;
  }
  json.member("dp", std::int64_t{e.strategy.dp});
  json.member("micro_batch", int{e.strategy.micro_batch});
  json.member("accumulation", e.accumulation);
  json.member("verdict", name_of(e.estimate.verdict));
  json.member("verdict_text", std::string_view{e.verdict});
  if (e.step.mid > Seconds{}) {
    interval(json, "step_time_s", e.step);
    interval(json, "tokens_per_s", e.tokens_per_s);
    json.member("throughput_kept", e.kept);
  }
}

}  // namespace

std::string advice_text(const TrainScenario& t, const TrainPlan& p) {
  const TrainAdvice& a = p.advice;
  std::string text = a.batch ? batch_text(*a.batch) : "";
  text += a.sweep ? sweep_text(*a.sweep, t.work.shape.gpus) : "";
  text += t.asked.sweep && !a.sweep ? "\nsweep: not priced, for memory alone is answered\n" : "";
  return text + (a.elastic.empty() ? "" : elastic_text(t, p));
}

void advice_members(JsonWriter& json, const TrainAdvice& advice) {
  if (advice.batch) {
    batch_members(json, *advice.batch);
  }
  if (advice.sweep) {
    sweep_members(json, *advice.sweep);
  }
  if (advice.elastic.empty()) {
    return;
  }
  json.key("elastic");
  json.begin_array();
  for (const ElasticCount& e : advice.elastic) {
    json.begin_object();
    count_members(json, e);
    json.end_object();
  }
  json.end_array();
}

}  // namespace headroom
