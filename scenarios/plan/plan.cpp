// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/model/train/step/step_trace.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/plan/narrowing.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/plan/remedy.hpp>
#include <headroom/scenarios/plan/serve_plan.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/training/data_feed.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>
#include <headroom/scenarios/training/train_answer.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

namespace headroom {
namespace {

/// The largest memory term: what to attack when it does not fit.
std::string largest_memory(const MemoryBreakdown& memory) {
  const auto largest = std::max_element(memory.bytes.begin(), memory.bytes.end());
  const auto index = static_cast<std::size_t>(largest - memory.bytes.begin());
  return std::string{memory_term_names[index]} + " " + format(*largest);
}

/// How an open axis was closed.
std::string choice_text(const Estimate& e, std::string_view among) {
  return e.verdict == Verdict::feasible ? " (the fastest" + std::string{among} + " that fits)"
                                        : " (the least memory; none surely fits)";
}

/// "6, 7 x 2, 4 layers"
std::string stages_text(const StageLayers& split, const Strategy& s) {
  return format_count(split.first) + ", " +
         (s.pp > 2 ? format_count(split.middle) + " x " + std::to_string(s.pp - 2) + ", " : "") +
         format_count(split.last) + " layers";
}

/// What was chosen for the user, and what follows from it.
void note_choices(const TrainScenario& t, const TrainPlan& answer, Plan& plan) {
  const Strategy& s = answer.strategy;
  if (t.micro_batch_open) {
    plan.notes.push_back("strategy.micro_batch = " + std::to_string(s.micro_batch) +
                         choice_text(answer.estimate, " of 1, 2, 4, 8"));
  }
  if (t.recompute_open) {
    plan.notes.push_back("strategy.recompute = " + std::string{recompute_names[static_cast<std::size_t>(s.recompute)]} +
                         choice_text(answer.estimate, ""));
  }
  const std::int64_t apart = groups_of(s.order, degrees_of(s)).tensor.stride;
  if (s.tp > 1 && s.tp * apart > t.domain) {
    plan.notes.push_back(
        "tp " + std::to_string(s.tp) +
        (apart > 1 ? ", " + std::to_string(apart) + " GPUs apart in the order " + std::string{name_of(s.order)} + ","
                   : "") +
        " leaves the scale-up domain of " + std::to_string(t.domain) + " GPUs: its collectives cross the network");
  }
  const std::int64_t stages = std::int64_t{s.pp} * s.vpp;
  if (states_stages(s)) {
    plan.notes.push_back("pipeline stages of " + stages_text(split_stages(real(t.architecture.layers), s, 0.0), s) +
                         (s.stages_open ? ": the step is then the shortest (" + t.software.id +
                                              " takes any number; strategy.first_stage_layers and last_stage_layers "
                                              "state others)"
                                        : ", as stated"));
  } else if (t.architecture.layers > 0 && t.architecture.layers % stages != 0) {
    plan.notes.push_back(std::to_string(t.architecture.layers) + " layers do not divide by pp x vpp " +
                         std::to_string(stages) +
                         ": the early stages take one more, and the largest stage sets the pace");
  }
}

/// Where the batch does not divide by dp x micro-batch and dp follows the GPUs: ", or 56 or 64 GPUs".
std::string other_counts(const TrainScenario& t, const Strategy& s, const Legality& rule) {
  if (rule.verdict != Verdict::batch_not_divisible || t.stated.strategy.dp) {
    return {};
  }
  const auto [below, above] = usable_counts(t.architecture, t.work.shape, s);
  std::string text = below > 0 ? ", or " + std::to_string(below) : "";
  text += above > 0 ? (text.empty() ? ", or " : " or ") + std::to_string(above) : "";
  return text.empty() ? text : text + " GPUs";
}

/// What the scenario asks beside the plan.
void advise(const TrainScenario& t, const Plan& plan, TrainPlan& answer) {
  const TrainQuestions& asked = t.asked;
  if (asked.batch) {
    answer.advice.batch =
        advise_batch(*asked.batch, t.work.shape.global_batch, real(t.work.shape.seq_len), t.stated.optimizer);
  }
  const bool timed = plan.part == PlanPart::all;
  if (asked.sweep && timed) {
    const bool priced = answer.cost.mid > Dollars{};
    answer.advice.sweep = plan_sweep(
        *asked.sweep, {answer.calendar, answer.gpu_hours, priced ? std::optional{answer.cost} : std::nullopt});
  }
  const double width = timed ? plan.confidence->width : 0.0;
  for (const std::int64_t gpus : asked.elastic) {
    answer.advice.elastic.push_back(
        replan(t, {answer.strategy, answer.estimate.step, plan.part, plan.without, width}, gpus));
  }
}

/// "needs 82.1 GiB of 79.2 GiB per GPU (78.0 GiB to 90.3 GiB)"
std::string device_text(const TrainPlan& answer, Bytes capacity) {
  return format(answer.memory.mid) + " of " + format(capacity) + " per GPU (" + format(answer.memory.low) + " to " +
         format(answer.memory.high) + ")";
}

/// The host's side of the verdict, behind the device's own.
void judge_host(const TrainScenario& t, TrainPlan& answer) {
  if (!answer.offload || !answer.offload->short_of_room) {
    return;
  }
  const Bytes room = t.host_memory.value_or(Bytes{});
  Estimate& e = answer.estimate;
  const Bytes node = answer.offload->node;
  if (e.verdict == Verdict::feasible) {
    answer.verdict = verdict_text(Verdict::host_memory_too_small, node.raw(), room.raw());
  } else {
    answer.verdict += "; and offloading needs " + format(node) + " of host memory per node, which has " + format(room);
  }
  if (e.verdict != Verdict::out_of_memory) {
    e.verdict = Verdict::host_memory_too_small;
    e.broke = node.raw();
    e.limit = room.raw();
  }
}

/// What is said where find_remedies() has none.
std::string without_remedy(const TrainScenario& t, const TrainPlan& answer) {
  if (answer.offload && answer.offload->short_of_room) {
    return "offload less or to NVMe, use more GPUs or nodes with more host memory";
  }
  const bool tuning = is_tuning(t);
  const Changes wider = enough_gpus(t);
  std::string way = wider.empty() ? "more GPUs" : "";
  for (const Change& change : wider) {
    way += (way.empty() ? "" : ", ") + text_of(change);
  }
  return "no set of up to three changes of micro-batch, recompute, ZeRO, offload, optimizer, " +
         std::string{tuning ? "method, loss, length, " : ""} + "tp, pp" +
         std::string{t.architecture.moe ? ", cp, ep or etp" : " or cp"} + " at this GPU count surely fits: take " +
         way + " or more memory";
}

/// How much is said beside the answer: the record of terms, what would fit where this does not, the run played event by
/// event.
struct Told {
  bool terms = false;
  bool remedies = true;
  bool simulation = true;
  bool facts = true;  ///< that would narrow the interval
};

/// The verdict in words, and what would fit where this does not surely.
void judge_memory(
    const Scenario& scenario, const TrainScenario& t, Bytes capacity, TrainPlan& answer, PlanPart part, Told told) {
  Estimate& e = answer.estimate;
  // The low end may have come down with the loss left open.
  if (e.verdict == Verdict::out_of_memory && answer.memory.low <= capacity) {
    e.verdict = Verdict::may_not_fit;
    e.broke = answer.memory.high.raw();
  }
  if (e.verdict == Verdict::out_of_memory) {
    answer.verdict =
        "does not fit: needs " + device_text(answer, capacity) + "; most of it is " + largest_memory(e.memory);
  } else if (e.verdict == Verdict::may_not_fit) {
    answer.verdict = "may not fit: " + device_text(answer, capacity) + ", the upper end does not";
  }
  const bool short_of_device = e.verdict != Verdict::feasible;
  judge_host(t, answer);
  if (e.verdict == Verdict::feasible || !told.remedies) {
    return;
  }
  if (short_of_device) {
    answer.remedies = find_remedies(scenario, answer.strategy, part, 3);
  }
  answer.way_out = answer.remedies.empty() ? without_remedy(t, answer) : "";
}

/// Where the scenario does not say whether the loss is fused, the low end is the memory with it fused.
void leave_loss_open(const TrainScenario& t, const CompiledTraining& compiled, TrainPlan& answer, Plan& plan) {
  if (t.work.options.fused_loss || answer.estimate.memory[MemoryTerm::logits].raw() <= 0.0) {
    return;
  }
  MemoryOptions fused = t.work.options;
  fused.fused_loss = true;
  const CompiledMemory other = compile_memory(t.architecture, t.software, t.work.states, t.work.precision, fused,
                                              t.work.shape.seq_len, compiled.capacity);
  const MemoryTable table = tabulate_memory(other, key_of(answer.strategy));
  const FullestStage least = fullest_stage(other, table, answer.strategy, answer.estimate.micro_batches);
  const Interval<Bytes> low = device_interval(least.memory, t.software);
  if (low.low < answer.memory.low) {
    answer.memory.low = low.low;
    plan.notes.push_back("training.fused_loss: not stated; the low end of the memory is with a fused cross-entropy (" +
                         format(low.mid) + ")");
  }
}

/// Rates, days and dollars of a step, each as wide as the form has earned.
void price_run(
    const TrainScenario& t, const Money& money, const CompiledTraining& compiled, double width, TrainPlan& answer) {
  const Estimate& e = answer.estimate;
  const double gpus = real(t.work.shape.gpus);
  const double step_tokens = real(t.work.shape.global_batch) * compiled.seq_len;
  // What grows with the calendar time is as uncertain as that.
  const auto as_wide = [&](auto mid) {
    const Interval<Seconds>& run = answer.calendar;
    return answer.outlook ? Interval<decltype(mid)>{run.low / run.mid * mid, mid, run.high / run.mid * mid}
                          : widened(mid, width);
  };
  answer.step = widened(e.step, width);
  answer.tokens_per_s = widened(step_tokens / e.step.raw(), width);
  answer.tokens_per_s_per_gpu = widened(step_tokens / e.step.raw() / gpus, width);
  const FlopsPerSecond achieved = step_tokens * compiled.model_flops_per_token / e.step / gpus;
  answer.model_flops_per_gpu = widened(achieved.raw(), width);
  answer.mfu = widened(achieved / compiled.gemm_peak, width);
  answer.mfu.high = std::min(answer.mfu.high, 1.0);
  if (t.tokens > 0.0) {
    answer.duration = widened(t.tokens / step_tokens * e.step, width);
    answer.calendar = answer.outlook ? answer.outlook->calendar : answer.duration;
    answer.gpu_hours = as_wide(t.gpus_held() * (answer.calendar.mid / hour));
  }
  if (!money.price) {
    return;
  }
  answer.cost_per_million_tokens =
      widened(cost_per_million(gpus * *money.price, Hertz{answer.tokens_per_s.mid}), width);
  if (t.tokens > 0.0) {
    answer.cost = as_wide(rent(*money.price, t.gpus_held(), answer.calendar.mid));
    if (answer.outlook) {
      answer.cost_per_million_tokens = as_wide(1e6 / t.tokens * answer.cost.mid);
    }
  }
}

/// Rate that the plan keeps on the hosts that are left when one is away, where the run goes on so and the same batch
/// runs there; else the share of the hosts stands, and why.
std::optional<double> kept_without_host(const TrainScenario& t, const TrainPlan& answer, Plan& plan) {
  const goodput::Recovery& r = t.long_run->recovery;
  if (r.may_miss == 0 || r.kept) {
    return std::nullopt;
  }
  const std::int64_t left = t.work.shape.gpus - t.gpus_per_node;
  const ElasticCount fewer = replan(t, {answer.strategy, answer.estimate.step, plan.part, plan.without, 0.0}, left);
  const std::string key = "goodput.kept = ";
  if (fewer.why_not.empty() && fewer.kept > 0.0) {
    const double kept = std::min(1.0, fewer.kept);
    plan.notes.push_back(key + percent(kept, 2) + " (this plan on " + format_count(real(left)) +
                         " GPUs, its batch kept)");
    return kept;
  }
  plan.notes.push_back(key + percent(r.rate(1), 2) + " (hosts left over all; the batch cannot be kept on " +
                       format_count(real(left)) + " GPUs: " + fewer.why_not + ")");
  return std::nullopt;
}

/// What failures, saves and pauses make of the run, or that nobody counted them.
void look_ahead(const TrainScenario& t, bool simulates, TrainPlan& answer, Plan& plan) {
  if (!t.long_run) {
    if (t.tokens > 0.0) {
      plan.notes.push_back(uncounted_failures(t.work.shape.gpus));
    }
    return;
  }
  const std::optional<double> kept = kept_without_host(t, answer, plan);
  answer.outlook = outlook_of(t, {answer.estimate.step, plan.confidence->width, kept, simulates});
  if (const std::int64_t spares = t.long_run->recovery.spares; spares > 0) {
    plan.notes.push_back("spare hosts are paid for: " + format_count(t.gpus_held()) + " GPUs in GPU-hours and cost");
  }
  if (t.long_run->start && !answer.outlook->end) {
    plan.notes.emplace_back("the run ends beyond the year 9999: no date is told");
  }
}

/// How the run's numbers came about, behind those of its step.
void explain_run(const TrainScenario& t, bool asked, const TrainPlan& answer, Plan& plan) {
  const auto append = [&](std::vector<ExplainEntry> entries) {
    plan.explain.insert(plan.explain.end(), std::make_move_iterator(entries.begin()),
                        std::make_move_iterator(entries.end()));
  };
  if (asked && t.target) {
    append(explain_target(*t.target, real(t.work.shape.global_batch) * real(t.work.shape.seq_len)));
  }
  if (asked && answer.outlook) {
    append(explain_outlook(t, *answer.outlook));
  }
}

/// The bill of the calendar time and other ways to pay it.
void add_bill(const Scenario& scenario, const TrainScenario& t, TrainPlan& answer) {
  answer.bill = bill_of(scenario.money, t.gpus_held(), answer.calendar);
}

/// What the GPUs draw in the step, in the run, and while they are held beside it.
void add_energy(const EnergyQuestion& question, const TrainScenario& t, double width, TrainPlan& answer) {
  const std::optional<GpuPower> power =
      gpu_power(t.device, t.host ? &*t.host : nullptr, t.power_cap, power_form(*t.data));
  if (!power) {
    return;
  }
  EnergyWork work;
  work.gpus = real(t.work.shape.gpus);
  work.gpus_per_node = real(t.gpus_per_node);
  work.shares = shares_of(answer.estimate.time);
  work.step = answer.estimate.step;
  work.run = answer.outlook ? answer.outlook->run.work : answer.duration.mid;
  work.held = std::max(Seconds{}, answer.calendar.mid - work.run);
  work.items = t.tokens;
  work.spare_gpus = t.gpus_held() - work.gpus;
  work.rate = Hertz{answer.tokens_per_s.mid};
  work.width = width;
  answer.energy = energy_of(*power, t.work.clock, question, work);
}

/// What a GPU sends; whether data keeps up, what binds and what would not.
void note_traffic(
    const TrainScenario& t, TrainPlan& answer, const CompiledTraining& compiled, const StepTable& table, Plan& plan) {
  FedStep fed;
  if (t.work.feed) {
    const Estimate& e = answer.estimate;
    fed = compiled.step->time(table, answer.strategy, real(t.work.shape.global_batch), e.host).fed;
    answer.fed = fed;
  }
  if (compiled.step != nullptr) {
    const Strategy& s = answer.strategy;
    answer.sent_data = compiled.step->data_parallel_bytes(table, s, answer.estimate.micro_batches);
    answer.sent_tensor = compiled.step->tensor_parallel_bytes(key_of(s), s.pp, answer.estimate.micro_batches);
    answer.sent = compiled.step->axis_traffic(table, key_of(s), s, answer.estimate.micro_batches);
  }
  plan.notes.push_back(data_text(t.work.feed, fed));
}

/// The same plan in each narrower recipe that the SKU has, and less of it.
std::vector<Variant> variants_of(const Scenario& scenario, const TrainScenario& t, const TrainPlan& answer) {
  VariedPlan varied;
  varied.step = answer.estimate.step;
  if (answer.cost.mid > Dollars{}) {
    varied.cost = answer.cost.mid;
  }
  for (std::size_t i = 0; i < training_precision_names.size(); ++i) {
    if (precision_rows[i].weight_bytes >= row_of(t.work.precision).weight_bytes) {
      continue;
    }
    const std::string precision{training_precision_names[i]};
    try {
      const Plan other = price_plan(changed(scenario, Changes{{Knob::precision, i}}));
      const auto& train = std::get<TrainPlan>(other.answer);
      if (other.feasible() && other.part == PlanPart::all) {
        varied.recipes.push_back({precision, train.estimate.step});
      }
    } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch): the SKU or its curves lack the recipe.
    }
  }
  return cheaper_variants(varied);
}

/// What the user's own runs do to a step, and what would narrow its interval.
void weigh_runs(const TrainScenario& t, const TrainPlan& answer, bool facts, Plan& plan) {
  PlanConfidence& c = *plan.confidence;
  if (plan.without.has(Term::measured_level)) {  // runs move and narrow nothing
    c.narrowing = narrowing_facts(t, c, nullptr);
    return;
  }
  const std::shared_ptr<const OwnNumbers> runs = plan.own_runs ? plan.own_runs->own : nullptr;
  if (runs == nullptr && !facts) {
    return;
  }
  const std::shared_ptr<const OwnNumbers> own =
      runs != nullptr ? runs : std::make_shared<const OwnNumbers>(numbers_without_runs(t, c.run_class));
  const KnownStep step{*own, step_derivative(t, *own, answer.strategy, answer.groups, plan.without)};
  if (runs != nullptr) {
    plan.own_effect = own_effect(t, *own, step.derivative, answer.strategy, answer.groups, plan.without);
    const ClassErrors told = errors_beside_runs(c.errors, c.run_class, step_posterior(*t.data), measured_already(step));
    c.width = narrowed_width(c.errors.width_80, plan.own_effect->weight, told);
  }
  if (facts) {
    c.narrowing = narrowing_facts(t, c, &step);
  }
}

TrainPlan plan_training(const Scenario& scenario, const TrainScenario& t, Told told, Plan& plan) {
  const TrainQuestion question = compile_question(t, plan.part, nullptr, plan.without);
  const CompiledTraining& compiled = question.compiled;
  TrainPlan answer;
  answer.strategy = close_open_axes(compiled, open_strategy(t), FitRule::surely);
  const LayerTable table = table_for(compiled, answer.strategy);
  if (told.terms) {
    ExplainRecorder recorder;
    answer.estimate = explain(compiled, table, answer.strategy, recorder);
    plan.explain = recorder.entries();
  } else {
    answer.estimate = evaluate(compiled, table, answer.strategy);
  }
  if (!compiled.timed) {
    plan.part = PlanPart::memory;
  }
  if (compiled.timed) {
    answer.groups = compiled.step->shared_groups();
    plan.confidence =
        confidence_of(t, step_confidence(*t.data),
                      answer.groups != nullptr && exchanges_between_domains(answer.strategy, *answer.groups));
  }
  if (compiled.timed && states_network(t)) {
    const Sourced<double>& reach = *t.cluster->nic_reach;
    plan.notes.push_back("training's collectives reach " + format_number(reach.value, 3) +
                         " of the network's curve, as " + t.cluster->id + " states (" + reach.source +
                         "), in place of the fitted share");
  }
  plan.interval_source = plan.confidence ? plan.confidence->errors.source : t.software.interval_source;
  const Estimate& e = answer.estimate;
  answer.verdict = verdict_text(e.verdict, e.broke, e.limit, answer.strategy.schedule);
  for (const Legality& rule : broken_rules(t.architecture, t.work.shape, answer.strategy)) {
    answer.problems.push_back(problem_of(rule, answer.strategy.schedule));
    answer.problems.back().way_out += other_counts(t, answer.strategy, rule);
  }
  if (!answer.problems.empty()) {
    return answer;
  }
  if (compiled.timed && e.step > Seconds{}) {
    weigh_runs(t, answer, told.facts, plan);
  }
  answer.memory = e.device;
  answer.live = e.memory.allocated();
  answer.reserved = e.memory.total() - e.memory[MemoryTerm::framework];
  leave_loss_open(t, compiled, answer, plan);
  note_choices(t, answer, plan);
  answer.offload = plan_offload(t, e);
  if (t.checkpoint_form) {
    const ParameterCount count = count_parameters(t.architecture);
    const MemoryBreakdown& m = e.memory;
    answer.load = load_peak(*t.checkpoint_form, count.total + count.mtp, t.work.states,
                            m[MemoryTerm::weights] + m[MemoryTerm::gradients] + m[MemoryTerm::optimizer],
                            t.device.visible_capacity().value);
  }
  if (answer.offload) {
    answer.offload->exposed = compiled.timed ? answer.offload->exposed : std::nullopt;
    const std::vector<std::string> notes = offload_notes(*answer.offload);
    plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
  }
  judge_memory(scenario, t, compiled.capacity, answer, plan.part, told);
  if (compiled.timed) {
    note_traffic(t, answer, compiled, table.step, plan);
    answer.binds = what_binds(e.time);
    look_ahead(t, told.simulation, answer, plan);
    explain_run(t, told.terms, answer, plan);
    price_run(t, scenario.money, compiled, plan.confidence->width, answer);
    add_bill(scenario, t, answer);
    add_energy(scenario.energy, t, plan.confidence->width, answer);
    if (told.remedies && scenario.money.what_if) {
      answer.variants = variants_of(scenario, t, answer);
    }
  }
  advise(t, plan, answer);
  return answer;
}

}  // namespace

bool Plan::feasible() const noexcept {
  const auto answered = [](Verdict verdict) { return verdict == Verdict::feasible || verdict == Verdict::may_not_fit; };
  if (const auto* train = std::get_if<TrainPlan>(&answer)) {
    return answered(train->estimate.verdict);
  }
  const auto* serve = std::get_if<ServePlan>(&answer);
  return serve != nullptr && answered(serve->estimate.verdict);
}

std::optional<double> Plan::chance_to_fit() const noexcept {
  if (const auto* const train = std::get_if<TrainPlan>(&answer)) {
    const Bytes device = std::get<TrainScenario>(scenario.question).device.visible_capacity().value;
    return train->problems.empty() ? std::optional{chance_of_at_most(train->memory, device)} : std::nullopt;
  }
  const auto& served = std::get<ServePlan>(answer);
  if (!served.problems.empty()) {
    return std::nullopt;
  }
  const ServingMemory& held = served.estimate.memory;
  const Bytes wide = std::get<ServeScenario>(scenario.question).engine.memory.uncertainty;
  // Normal on both sides: a pool may be short by more than it is.
  const Interval<double> missing{(held.sequence - held.pool - wide).raw(), (held.sequence - held.pool).raw(),
                                 (held.sequence - held.pool + wide).raw()};
  return chance_of_at_most(missing, 0.0);
}

Plan make_plan(Scenario scenario, bool explain, PlanPart part, TermSet without, std::optional<OwnRuns> own_runs) {
  Plan plan;
  plan.part = part;
  plan.without = without;
  plan.notes = scenario.assumptions;
  if (own_runs) {
    auto& train = std::get<TrainScenario>(scenario.question);
    train.work.measured = own_runs->level;
    if (!without.has(Term::measured_level)) {
      train.own = own_runs->own;
    }
    plan.notes.insert(plan.notes.end(), own_runs->assumed.begin(), own_runs->assumed.end());
    plan.own_runs = std::move(own_runs);
  }
  if (const auto* train = std::get_if<TrainScenario>(&scenario.question)) {
    plan.answer = plan_training(scenario, *train, {explain, true, true, true}, plan);
  } else {
    const auto& serve = std::get<ServeScenario>(scenario.question);
    if (part == PlanPart::all) {
      refuse_untimed_weights(serve);
      refuse_open_load(serve);
    }
    plan.answer = plan_serving(serve, {scenario.money, scenario.energy}, explain, part, plan);
  }
  const auto* const trained = std::get_if<TrainScenario>(&scenario.question);
  if ((scenario.money.storage || scenario.money.egress) && (trained == nullptr || trained->tokens <= 0.0)) {
    plan.notes.emplace_back(
        "money.storage, money.egress: not billed; a bill is of a training run, whose tokens are stated");
  }
  plan.scenario = std::move(scenario);
  return plan;
}

Plan price_plan(Scenario scenario) {
  const auto* const train = std::get_if<TrainScenario>(&scenario.question);
  if (train == nullptr) {
    return make_plan(std::move(scenario), false);
  }
  Plan plan;
  plan.notes = scenario.assumptions;
  plan.answer = plan_training(scenario, *train, {false, false, false, false}, plan);
  plan.scenario = std::move(scenario);
  return plan;
}

std::string trace_of(const Plan& plan) {
  const auto* scenario = std::get_if<TrainScenario>(&plan.scenario.question);
  const auto* train = std::get_if<TrainPlan>(&plan.answer);
  if (scenario == nullptr || train == nullptr) {
    throw ConfigError{"--trace draws the pipeline of a training step; this scenario serves"};
  }
  if (plan.part == PlanPart::memory) {
    throw ConfigError{"--trace needs the step's time; this plan answers memory alone"};
  }
  if (train->estimate.step <= Seconds{}) {
    throw ConfigError{"--trace: no step to draw: " + train->verdict};
  }
  const TrainQuestion question = compile_question(*scenario, plan.part, nullptr, plan.without);
  const StepModel& model = *question.compiled.step;
  return step_trace(model, model.tabulate(key_of(train->strategy)), train->strategy,
                    real(scenario->work.shape.global_batch));
}

}  // namespace headroom
