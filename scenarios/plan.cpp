// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/money.hpp>
#include <headroom/scenarios/plan.hpp>
#include <headroom/scenarios/remedy.hpp>
#include <headroom/scenarios/serve_plan.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom {
namespace {

double count(std::int64_t n) {
  return static_cast<double>(n);
}

std::string percent(double fraction) {
  return format_number(100.0 * fraction, 2) + " %";
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : std::string{between}) + part;
  }
  return text;
}

/// "GEMMs 71 %, attention 12 %, bubble 9 %": the three largest terms.
std::string what_binds(const Estimate& e) {
  std::array<std::pair<double, std::string_view>, term_count> shares{};
  for (std::size_t i = 0; i < term_count; ++i) {
    shares[i] = {e.time.exposed[i] / e.step, term_names[i]};
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < 3 && shares[i].first > 0.005; ++i) {
    parts.push_back(std::string{shares[i].second} + " " + percent(shares[i].first));
  }
  return joined(parts, ", ");
}

/// The largest memory term: what to attack when it does not fit.
std::string largest_memory(const MemoryBreakdown& memory) {
  const auto largest = std::max_element(memory.bytes.begin(), memory.bytes.end());
  const auto index = static_cast<std::size_t>(largest - memory.bytes.begin());
  return std::string{memory_term_names[index]} + " " + format(*largest);
}

/// What was chosen for the user, and what the rough form does not see.
void note_choices(const TrainScenario& t, const CompiledTraining& compiled, const Strategy& s, Plan& plan) {
  if (t.micro_batch_open) {
    plan.notes.push_back("strategy.micro_batch = " + std::to_string(s.micro_batch) +
                         " (the fastest of 1, 2, 4, 8 that fits)");
  }
  if (t.recompute_open) {
    plan.notes.push_back("strategy.recompute = " + std::string{recompute_names[static_cast<std::size_t>(s.recompute)]} +
                         " (the fastest that fits)");
  }
  if (s.tp > t.domain) {
    plan.notes.push_back("tp " + std::to_string(s.tp) + " leaves the scale-up domain of " + std::to_string(t.domain) +
                         " GPUs: the rough form does not price what that costs");
  }
  const std::int64_t stages = std::int64_t{s.pp} * s.vpp;
  if (compiled.layers > 0 && t.architecture.layers % stages != 0) {
    plan.notes.push_back(std::to_string(t.architecture.layers) + " layers do not divide by pp x vpp " +
                         std::to_string(stages) +
                         ": the early stages take one more, and the largest stage sets the pace");
  }
}

/// Where offloaded bytes go, whether there is room, and what the way there costs before any overlap.
void judge_offload(const TrainScenario& t, TrainPlan& answer, Plan& plan) {
  const Bytes each = answer.estimate.host;
  if (each.raw() <= 0.0) {
    return;
  }
  const Bytes node = count(std::min(t.gpus_per_node, t.work.shape.gpus)) * each;
  const std::string place = t.offload_to_nvme ? "NVMe" : "host memory";
  std::string note = "offload: " + format(each) + " of " + place + " per GPU, " + format(node) + " per node";
  const bool short_of_it = !t.offload_to_nvme && t.host_memory && node > *t.host_memory;
  if (!t.offload_to_nvme) {
    note += !t.host_memory ? "; whether the host has it is not known: state hardware.host_memory"
            : short_of_it  ? ", more than the " + format(*t.host_memory) + " the host has"
                           : " of the host's " + format(*t.host_memory);
  }
  plan.notes.push_back(note);
  if (t.work.options.offload_optimizer && !t.work.options.offload_activations && t.device.pcie.rate) {
    // 16-bit gradients go, 16-bit weights come back.
    const Bytes way{2.0 * each.raw() / t.work.states.optimizer};
    plan.notes.push_back("offload: " + format(way) + " cross PCIe each way and step, " +
                         format(offload_time(way, t.device.pcie.rate->value)) + " before any overlap, not in the step");
  }
  if (short_of_it) {
    answer.estimate.verdict = Verdict::out_of_memory;
    answer.verdict = "does not fit: offloading needs " + format(node) + " of host memory per node, which has " +
                     format(*t.host_memory);
    answer.way_out = "offload less or to NVMe, use more GPUs or nodes with more host memory";
  }
}

void judge_memory(const TrainScenario& t, const CompiledTraining& compiled, TrainPlan& answer, Plan& plan) {
  const Estimate& e = answer.estimate;
  if (e.verdict == Verdict::out_of_memory) {
    answer.verdict += "; most of it is " + largest_memory(e.memory);
    answer.remedies = find_remedies(compiled, answer.strategy, t.domain, 3);
    answer.way_out =
        "no change of micro-batch, recompute, ZeRO, tp or pp at this GPU count fits: more GPUs or more memory";
  } else if (answer.memory.high > compiled.capacity) {
    plan.notes.emplace_back("memory: the upper end of the interval does not fit; keep a fallback such as recompute");
  }
}

/// The software's interval belongs to the number that its logs print. What lies beyond that number was seen to differ
/// by up to this factor between runs (reserve 1.03 to 1.09 of live, 2.4 to 6.75 GiB outside the allocator).
Interval<Bytes> device_interval(const MemoryBreakdown& memory, const MemoryStack& software) {
  constexpr double beyond = 1.5;
  const Bytes slack = memory[MemoryTerm::fragmentation];
  const Bytes outside = memory[MemoryTerm::framework];
  const Bytes live = memory.allocated();
  const Bytes printed = software.measured == MemoryKind::live       ? live
                        : software.measured == MemoryKind::reserved ? live + slack
                                                                    : live + slack + outside;
  const Bytes rest = memory.total() - printed;
  const Interval<Bytes> known = widened(printed, software.interval);
  return {known.low + rest / beyond, memory.total(), known.high + beyond * rest};
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
  const Interval<Bytes> low = device_interval(least.memory.bytes, t.software);
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
  const double gpus = count(t.work.shape.gpus);
  const double step_tokens = count(t.work.shape.global_batch) * compiled.seq_len;
  answer.step = widened(e.step, width);
  answer.tokens_per_s = widened(step_tokens / e.step.raw(), width);
  answer.tokens_per_s_per_gpu = widened(step_tokens / e.step.raw() / gpus, width);
  const FlopsPerSecond achieved = step_tokens * compiled.model_flops_per_token / e.step / gpus;
  answer.model_flops_per_gpu = widened(achieved.raw(), width);
  answer.mfu = widened(achieved / compiled.gemm_peak, width);
  answer.mfu.high = std::min(answer.mfu.high, 1.0);
  if (t.tokens > 0.0) {
    answer.duration = widened(t.tokens / step_tokens * e.step, width);
    answer.gpu_hours = widened(gpus * (answer.duration.mid / hour), width);
  }
  if (!money.price) {
    return;
  }
  answer.cost_per_million_tokens =
      widened(cost_per_million(gpus * *money.price, Hertz{answer.tokens_per_s.mid}), width);
  if (t.tokens > 0.0) {
    answer.cost = widened(rent(*money.price, gpus, answer.duration.mid), width);
  }
}

TrainPlan plan_training(const TrainScenario& t, const Money& money, bool explained, Plan& plan) {
  const RoughStack stack = find_rough_stack("rough-train");
  const CompiledTraining compiled = compile(t.architecture, t.device, stack, t.software, t.work);
  TrainPlan answer;
  answer.strategy = close_open_axes(compiled, t.strategy, t.micro_batch_open, t.recompute_open);
  const LayerTable table = tabulate(compiled, key_of(answer.strategy));
  if (explained) {
    ExplainRecorder recorder;
    answer.estimate = explain(compiled, table, answer.strategy, recorder);
    plan.explain = recorder.entries();
  } else {
    answer.estimate = evaluate(compiled, table, answer.strategy);
  }
  plan.interval_source = stack.interval_source;
  const Estimate& e = answer.estimate;
  answer.verdict = verdict_text(e.verdict, e.broke, e.limit);
  for (const Legality& rule : broken_rules(t.architecture, t.work.shape, answer.strategy)) {
    answer.problems.push_back(problem_of(rule));
  }
  if (!answer.problems.empty()) {
    return answer;
  }
  answer.binds = what_binds(e);
  answer.memory = device_interval(e.memory, t.software);
  answer.live = e.memory.allocated();
  answer.reserved = e.memory.total() - e.memory[MemoryTerm::framework];
  leave_loss_open(t, compiled, answer, plan);
  note_choices(t, compiled, answer.strategy, plan);
  judge_memory(t, compiled, answer, plan);
  judge_offload(t, answer, plan);
  price_run(t, money, compiled, stack.interval, answer);
  return answer;
}

}  // namespace

bool Plan::feasible() const noexcept {
  if (const auto* train = std::get_if<TrainPlan>(&answer)) {
    return train->estimate.verdict == Verdict::feasible;
  }
  const auto* serve = std::get_if<ServePlan>(&answer);
  return serve != nullptr && serve->estimate.verdict == Verdict::feasible;
}

Strategy close_open_axes(const CompiledTraining& compiled,
                         Strategy strategy,
                         bool micro_batch_open,
                         bool recompute_open) noexcept {
  constexpr std::array<std::uint16_t, 4> micro_batches{1, 2, 4, 8};
  constexpr std::array modes{Recompute::none, Recompute::selective, Recompute::full};
  Strategy best = strategy;
  Seconds best_time{1e300};
  Strategy smallest = strategy;
  Bytes least{1e300};
  for (const std::uint16_t micro_batch : micro_batches) {
    for (const Recompute mode : modes) {
      Strategy s = strategy;
      s.micro_batch = micro_batch_open ? micro_batch : strategy.micro_batch;
      s.recompute = recompute_open ? mode : strategy.recompute;
      const Estimate e = evaluate(compiled, tabulate(compiled, key_of(s)), s);
      if (e.verdict == Verdict::feasible && e.step < best_time) {
        best_time = e.step;
        best = s;
      } else if (e.verdict == Verdict::out_of_memory && e.memory.total() < least) {
        least = e.memory.total();
        smallest = s;
      }
    }
  }
  return best_time.raw() < 1e300 ? best : smallest;
}

Plan make_plan(Scenario scenario, bool explain, PlanPart part) {
  Plan plan;
  plan.part = part;
  plan.notes = scenario.assumptions;
  if (const auto* train = std::get_if<TrainScenario>(&scenario.question)) {
    plan.answer = plan_training(*train, scenario.money, explain, plan);
  } else {
    plan.answer = plan_serving(std::get<ServeScenario>(scenario.question), scenario.money, explain, part, plan);
  }
  plan.scenario = std::move(scenario);
  return plan;
}

}  // namespace headroom
