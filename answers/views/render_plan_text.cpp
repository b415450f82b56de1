// SPDX-License-Identifier: Apache-2.0
// The text of a plan leads with the answer and what binds it; items, assumptions and the confession follow.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_advice.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// What the run keeps other than by habit: method, optimizer, offloading.
std::string recipe_text(const TrainScenario& t) {
  const MemoryOptions& o = t.work.options;
  std::string text;
  if (o.method != Method::full) {
    text += ", " + std::string{method_names[static_cast<std::size_t>(o.method)]} + " of rank " +
            std::to_string(o.lora_rank);
    text += o.method == Method::qlora && doubly_quantised(t.software, o) ? " on a doubly quantised base" : "";
  }
  if (t.stated.optimizer) {
    text += ", " + std::string{optimizer_names[static_cast<std::size_t>(*t.stated.optimizer)]};
  }
  std::string offloaded;
  for (const auto& [flag, name] :
       {std::pair{o.offload_optimizer, "optimizer"}, std::pair{o.offload_activations, "activations"},
        std::pair{o.offload_parameters, "parameters"}}) {
    offloaded += flag ? (offloaded.empty() ? "" : " and ") + std::string{name} : "";
  }
  if (!offloaded.empty()) {
    text += ", offload " + offloaded + (t.offload_to_nvme ? " to NVMe" : " to the host");
  }
  return text + stated_recipe_text(t.work.options);
}

}  // namespace

std::string memory_table(const MemoryBreakdown& memory, Bytes capacity) {
  Table table{{"memory of the fullest GPU", "", "share"}};
  const bool slack = memory[MemoryTerm::fragmentation].raw() > 0.0;
  for (std::size_t i = 0; i < memory_term_count; ++i) {
    const Bytes bytes = memory.bytes[i];
    // Three numbers that logs print: what tensors take, what the allocator holds, what the device shows.
    if (slack && i == static_cast<std::size_t>(MemoryTerm::fragmentation)) {
      table.row({"live", format(memory.allocated()), percent(memory.allocated() / capacity)});
    }
    if (slack && i == static_cast<std::size_t>(MemoryTerm::framework)) {
      const Bytes reserved = memory.total() - memory[MemoryTerm::framework];
      table.row({"reserved", format(reserved), percent(reserved / capacity)});
    }
    if (bytes.raw() > 0.0) {
      std::string name{memory_term_names[i]};
      std::replace(name.begin(), name.end(), '_', ' ');
      table.row({name, format(bytes), percent(bytes / capacity)});
    }
  }
  table.row({slack ? "device" : "total", format(memory.total()), percent(memory.total() / capacity)});
  table.row({"capacity", format(capacity), ""});
  return table.text();
}

std::string time_table(const Breakdown& time) {
  const Seconds step = time.total();
  Table table{{"time of a step", "", "share"}};
  for (std::size_t i = 0; i < term_count; ++i) {
    constexpr double visible = 1e-6;  // of the step
    if (std::abs(time.exposed[i] / step) > visible) {
      table.row({std::string{term_names[i]}, format(time.exposed[i]), percent(time.exposed[i] / step)});
    }
  }
  table.row({"step", format(step), ""});
  return table.text();
}

std::string notes_text(const Plan& plan) {
  std::string text;
  if (!plan.notes.empty()) {
    text += "\nassumed\n";
    for (const std::string& note : plan.notes) {
      text += "  " + note + "\n";
    }
  }
  return text;
}

/// Every broken rule and its way out, a line each.
std::string problems_text(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    text += "impossible: " + problem.text + "; " + problem.way_out + "\n";
  }
  return text;
}

namespace {

/// "fits", or the numbers that break it or may, with the smallest changes.
std::string train_verdict_text(const TrainPlan& p, Bytes capacity, bool timed, double chance) {
  if (p.estimate.verdict == Verdict::feasible) {
    return "fits: " + format(p.memory.mid) + " of " + format(capacity) + " per GPU (" + format(p.memory.low) + " to " +
           format(p.memory.high) + "), with probability " + probability_text(chance) + "\n";
  }
  std::string text =
      p.verdict +
      (p.estimate.verdict == Verdict::may_not_fit ? "; it fits with probability " + probability_text(chance) : "") +
      "\n";
  for (const Remedy& remedy : p.remedies) {
    text += &remedy == &p.remedies.front() ? "smallest change that fits:  " : "                       or:  ";
    text += joined(texts_of(remedy.changes)) + "  (" + format(remedy.memory) +
            (timed ? ", step " + format(remedy.step) : "") + ")\n";
  }
  if (p.remedies.empty()) {
    text += p.way_out + "\n";
  }
  return text;
}

/// "a step: 64 micro-batches on each of 16 replicas, 16 384 of a sequence's 131 072 tokens on a GPU, 9 GiB sent ...".
std::string work_text(const TrainScenario& t, const TrainPlan& p) {
  const Strategy& s = p.strategy;
  const auto tokens = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  std::string text = "a step: " + counted(p.estimate.micro_batches, "micro-batch", "micro-batches") +
                     (s.dp > 1 ? " on each of " + counted(s.dp, "replica") : "");
  if (s.cp > 1) {
    const std::int64_t all = t.work.shape.seq_len;
    text += ", " + tokens(all / s.cp) + " of a sequence's " + tokens(all) + " tokens on a GPU";
  }
  const auto over = [&](TrafficAxis axis) { return p.sent[static_cast<std::size_t>(axis)].step; };
  std::string sent;
  for (const auto& [bytes, what] :
       {std::pair{p.sent_data, "data"}, std::pair{p.sent_tensor, "tensor"}, std::pair{over(TrafficAxis::cp), "context"},
        std::pair{over(TrafficAxis::ep), "expert"}, std::pair{over(TrafficAxis::pp), "pipeline"}}) {
    if (bytes > Bytes{}) {
      sent += ", " + format(bytes) + (sent.empty() ? " sent by a GPU for " : " for ") + what + " parallelism";
    }
  }
  return text + sent + "\n" + (p.load ? load_text(*p.load) + "\n" : "");
}

/// What a host that reads back and ranks that differ take of the step.
std::string conduct_text(const TrainScenario& t, const TrainPlan& p) {
  const RankConduct& stated = t.work.conduct;
  const ConductCost cost = conduct_cost(stated, p.estimate.time);
  std::string text;
  if (stated.sync_every > 0.0) {
    const std::string often =
        stated.sync_every > 1.0 ? "every " + format_count(stated.sync_every) + " steps" : "every step";
    text += "the host reads back " + often + ": " + format(cost.sync) + " a step on average, throughput " +
            percent(cost.sync_throughput, 3) + "; read every hundred steps, or copy without waiting\n";
  }
  if (stated.states_ranks()) {
    text += "the slowest rank takes " + percent(cost.slowest, 3) + " more than the mean, and the job with it\n";
  }
  return text;
}

/// Step, rates, days and dollars.
std::string train_time_text(const Plan& plan, const TrainScenario& t, const TrainPlan& p) {
  Table answer{{"", "<"}};
  answer.row({"step", interval_text(p.step)});
  answer.row({"tokens/s", interval_text(p.tokens_per_s)});
  answer.row({"tokens/s per GPU", interval_text(p.tokens_per_s_per_gpu)});
  if (t.architecture.patches) {
    const double batch = static_cast<double>(t.work.shape.global_batch);
    answer.row({"images/s", interval_text(Interval<double>{batch / p.step.high.raw(), batch / p.step.mid.raw(),
                                                           batch / p.step.low.raw()})});
  }
  answer.row({"MFU", interval_text(p.mfu, 100.0) + " %"});
  if (t.tokens > 0.0) {
    answer.row(
        {(t.tokens < 1e12 ? format_number(t.tokens / 1e9) + " G" : format_number(t.tokens / 1e12) + " T") + " tokens",
         interval_text(p.duration)});
    if (p.outlook) {
      answer.row({"with failures", interval_text(p.calendar)});
    }
    answer.row({"GPU-hours", interval_text(p.gpu_hours)});
  }
  if (plan.scenario.money.price) {
    if (t.tokens > 0.0) {
      answer.row({"cost", interval_text(p.cost)});
    }
    answer.row({"cost per M tokens", interval_text(p.cost_per_million_tokens)});
  }
  energy_row(answer, p.energy, "tokens");
  return answer.text() + "binds: " + p.binds + "\n" + work_text(t, p) + conduct_text(t, p) + outlook_text(t, p) + "\n" +
         time_table(p.estimate.time);
}

std::string number_of(const MovedNumber& number, double value) {
  constexpr int digits = 3;
  return number.time ? format(Seconds{value}) : format_number(value, digits);
}

std::string longer(double change) {
  return percent(std::abs(change)) + (change < 0.0 ? " shorter" : " longer");
}

/// What the user's runs say, what they do to this plan, and which numbers they moved.
std::string own_runs_text(const OwnRuns& own, const OwnEffect& effect, const PlanConfidence& c) {
  const auto runs = static_cast<std::int64_t>(own.level.runs);
  std::string text = counted(runs, "run") + " of yours on " + own.gpu + " under " + own.software +
                     (runs == 1 ? " says" : " say") + " that ours is " + percent(std::abs(own.slow())) +
                     (own.slow() < 0.0 ? " fast" : " slow") + "; this step is " + longer(effect.step - 1.0) +
                     " for it, " + longer(own.level.factor - 1.0) +
                     " by your cluster's level alone, and its interval narrows from " + percent(c.errors.width_80) +
                     " to " + percent(c.width) + "\n";
  for (const MovedNumber& number : effect.moved) {
    text += "  " + number.key + " of " + (number.owner == "all" ? "all steps" : number.owner) + " moves from " +
            number_of(number, number.was) + " to " + number_of(number, number.now) + ", which makes this step " +
            longer(number.step) + "\n";
  }
  for (const std::string& set : effect.alike) {
    text += "  your runs cannot tell apart what these do, only what they do together: " + set + "\n";
  }
  const auto add_weighed = [&](const OddRun& run, const std::string& verb) {
    text += "  " + run.file + ":" + std::to_string(run.line) + " " + verb + " " + format_number(run.weight, 2) +
            " of a run: ours stays " + percent(std::abs(run.slow)) + (run.slow < 0.0 ? " fast" : " slow") + " on it\n";
  };
  for (const OddRun& run : own.odd) {
    add_weighed(run, "contradicts your other runs and counts as");
  }
  constexpr double half = 0.5;
  for (const OddRun& run : own.less) {
    if (run.weight < half) {
      add_weighed(run, "is far from your other runs and counts as");
    }
  }
  for (const UnusedRuns& u : own.unused) {
    text += "  not used: " + counted(static_cast<std::int64_t>(u.rows), "row") + " on " + u.what + ": " + u.why + "\n";
  }
  return text;
}

}  // namespace

std::string nearest_text(const NearestRuns& nearest) {
  const std::string kind = nearest.with_own ? "measured or published" : "published";
  if (nearest.runs.empty()) {
    return "\nno " + kind + " run to hold this against\n";
  }
  const std::string radius = format_number(nearest.radius, 2) + "x";
  std::string text;
  if (nearest.within == 0) {
    text = "\nthe nearest " + kind + " runs differ by more than " + radius + " in size or hardware:\n";
  } else {
    text = "\n" + format_count(static_cast<double>(nearest.within)) + " " + kind + " " +
           (nearest.within == 1 ? "run" : "runs") + " within " + radius + " of this" +
           (nearest.within > nearest.runs.size() ? ", the nearest " + std::to_string(nearest.runs.size()) : "") + ":\n";
  }
  Table table{{"", "away", "GPUs", "<SKU", "<software", "theirs", "ours", "<", "ours is", "<source"}};
  for (const NearRun& run : nearest.runs) {
    table.row({run.model, format_number(run.distance) + "x", format_count(static_cast<double>(run.gpus)), run.gpu,
               run.framework, format_number(run.measured), format_number(run.predicted),
               run.metric == "mfu" ? "MFU" : run.unit,
               percent(std::abs(run.step_error)) + (run.step_error < 0.0 ? " fast" : " slow"),
               run.own ? "yours" : run.source});
  }
  return text + table.text();
}

namespace {

/// The class of the question, how wide its errors are, on what that rests, and what nobody measured.
std::string confidence_text(const PlanConfidence& c) {
  std::string text;
  for (const ClassBasis& each : c.basis) {
    text += (text.empty() ? "confidence: " : "  and ") + std::string{"expect the step within +/- "} +
            percent(each.errors.width_80) + ", as 8 of 10 measured runs lay within their intervals: " +
            std::string{run_class_texts[static_cast<std::size_t>(each.run_class)]} + ", " +
            format_count(static_cast<double>(each.errors.rows)) + " rows of " +
            format_count(static_cast<double>(each.errors.sources)) + " sources (" + each.errors.source + ")\n";
  }
  text += c.basis.size() > 1 ? "  of both the wider counts: " + percent(c.errors.width_80) + "\n" : "";
  for (const std::string& what : c.outside) {
    text += "  outside what was measured: " + what + "\n";
  }
  for (const NarrowingFact& fact : c.narrowing) {
    text += "  would narrow it to +/- " + percent(fact.width) + ": " + fact.what + "\n";
  }
  return text;
}

/// "recompute none fits today and is 29 % faster"
std::string today_text(const Choice& choice, const Strategy& now) {
  std::string text;
  if (choice.strategy.micro_batch != now.micro_batch) {
    text += "micro-batch " + std::to_string(choice.strategy.micro_batch) + " with ";
  }
  return text + "recompute " + std::string{recompute_names[static_cast<std::size_t>(choice.strategy.recompute)]} +
         " fits today and is " + format_number(100.0 * choice.faster, 2) + " % faster\n";
}

/// "matrix FLOP/s 6.4 % (micro-batch 2)": a part, by how much it makes the step faster or slower, and the plan that
/// then would be taken where it is another.
std::string sensitivity_text(const Sensitivity& s, const Strategy& now, const std::string& change) {
  std::string text = std::string{resource_texts[static_cast<std::size_t>(s.resource)]} + change;
  if (s.strategy.micro_batch != now.micro_batch) {
    text += " (micro-batch " + std::to_string(s.strategy.micro_batch) + ")";
  }
  if (s.strategy.recompute != now.recompute) {
    text += " (recompute " + std::string{recompute_names[static_cast<std::size_t>(s.strategy.recompute)]} + ")";
  }
  return text;
}

/// "If one part were 10 % better, the step would be faster by: NIC 1.20 %, ...; memory capacity: no change"
std::string sensitivities_text(const std::vector<Sensitivity>& all, const Strategy& now) {
  constexpr double visible = 5e-5;  // of the step
  std::string faster;
  std::string others;
  std::string same;
  std::string today;
  for (const Sensitivity& s : all) {
    today += s.today ? today_text(*s.today, now) : "";
    const std::string by = format_number(100.0 * std::abs(s.faster), 2) + " %";
    if (s.faster >= visible) {
      faster += (faster.empty() ? "" : ", ") + sensitivity_text(s, now, " " + by);
    } else if (s.faster <= -visible) {
      others += "; " + sensitivity_text(s, now, ": " + by + " slower");
    } else {
      same += (same.empty() ? "; " : ", ") + sensitivity_text(s, now, "");
    }
  }
  if (all.empty()) {
    return today;
  }
  return "If one part were " + format_number(100.0 * sensitivity_more, 2) + " % better, the step would be " +
         (faster.empty() ? "no faster" : "faster by: " + faster) + others + (same.empty() ? "" : same + ": no change") +
         "\n" + today;
}

std::string train_text(const Plan& plan, const TrainScenario& t, const TrainPlan& p) {
  const Bytes capacity = t.device.visible_capacity().value;
  std::string text = train_title(t) + "\n" + strategy_text(p.strategy) + recipe_text(t) + "\n\n";
  if (!p.problems.empty()) {
    return text + problems_text(p.problems) + notes_text(plan);
  }
  const bool whole = plan.part == PlanPart::all;
  text += train_verdict(plan);
  if (whole) {
    const bool open = p.estimate.verdict == Verdict::may_not_fit;
    text += std::string{p.estimate.verdict == Verdict::feasible ? "" : open ? "\nif it fits:\n" : "\nif it did fit:\n"};
    text += train_time_text(plan, t, p) + bill_text(p.bill, p.variants);
  }
  text += "\n" + memory_table(p.estimate.memory, capacity);
  text += "peak: " + std::string{peak_moment_names[static_cast<std::size_t>(p.estimate.moment)]} + ", stage " +
          std::to_string(p.estimate.stage) + " of " + std::to_string(p.strategy.pp) + ", " +
          format_number(p.estimate.in_flight, 3) + " micro-batches in flight\n";
  text += sensitivities_text(plan.sensitivities, p.strategy);
  text += advice_text(t, p);
  text += notes_text(plan);
  if (whole) {
    text += energy_text(p.energy) + price_text(plan.scenario.money) + "\n" + confidence_text(*plan.confidence);
    text += plan.own_runs && plan.own_effect ? own_runs_text(*plan.own_runs, *plan.own_effect, *plan.confidence) : "";
    text += plan.nearest ? nearest_text(*plan.nearest) + "\n" : "";
  }
  return text + (whole ? "" : "\n") + "memory: " + t.software.name + "; " + t.software.interval_source + "\n";
}

}  // namespace

std::string train_title(const TrainScenario& t) {
  return t.architecture.name + " on " + std::to_string(t.work.shape.gpus) + " x " + t.device.id + ", " +
         std::string{name_of(t.work.precision)} + ", sequence " +
         format_count(static_cast<double>(t.work.shape.seq_len)) + ", global batch " +
         format_count(static_cast<double>(t.work.shape.global_batch));
}

std::string train_verdict(const Plan& plan) {
  const auto& t = std::get<TrainScenario>(plan.scenario.question);
  return train_verdict_text(std::get<TrainPlan>(plan.answer), t.device.visible_capacity().value,
                            plan.part == PlanPart::all, plan.chance_to_fit().value_or(0.0));
}

std::string interval_text(const Interval<double>& interval, double scale) {
  return format_number(scale * interval.mid) + "  (" + format_number(scale * interval.low) + " to " +
         format_number(scale * interval.high) + ")";
}

std::string plan_text(const Plan& plan) {
  if (const auto* train = std::get_if<TrainScenario>(&plan.scenario.question)) {
    return train_text(plan, *train, std::get<TrainPlan>(plan.answer));
  }
  return serve_text(plan, std::get<ServeScenario>(plan.scenario.question), std::get<ServePlan>(plan.answer));
}

std::string explain_text(const Plan& plan) {
  return plan_text(plan) + explain_lines(plan.explain);
}

std::string explain_lines(const std::vector<ExplainEntry>& entries) {
  std::string text = "\nhow each number came about\n";
  double step = 0.0;
  for (const ExplainEntry& entry : entries) {
    step = entry.name == "step" ? entry.value : step;
  }
  for (const ExplainEntry& entry : entries) {
    text += "\n" + entry.name + " = " + shown_text(entry.value, entry.as);
    if (entry.as == Shown::seconds && step > 0.0 && entry.name != "step") {
      text += "  (" + percent(entry.value / step) + " of the step)";
    }
    text += "\n  = " + entry.formula + (entry.reference.empty() ? "" : "   [" + entry.reference + "]") + "\n";
    Table inputs{{"", "", "<"}};
    for (const ExplainEntry::Input& input : entry.inputs) {
      inputs.row({input.symbol, shown_text(input.value, input.as), input.source});
    }
    if (!entry.inputs.empty()) {
      text += inputs.text(4);
    }
  }
  return text;
}

}  // namespace headroom
