// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/step/step_trace.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

namespace headroom {
namespace {

/// Whole layers a chunk, embedding and head counted as layers where only that is whole.
bool interleaves(std::int64_t layers, const Strategy& s) noexcept {
  const std::int64_t virtual_stages = std::int64_t{s.pp} * s.vpp;
  return s.pp > 1 && (layers % virtual_stages == 0 || (layers + 2) % virtual_stages == 0);
}

}  // namespace

std::shared_ptr<const JobGroups> groups_of(const TrainScenario& t) {
  return std::make_shared<const JobGroups>(*t.data, t.device, JobHosts{t.host, 0, std::nullopt, t.cluster},
                                           t.work.shape.gpus);
}

TrainingWorkload workload_of(const TrainScenario& t) {
  TrainingWorkload work = t.work;
  work.balances_stages = t.balances_stages;
  work.host_link = host_link_of(t.device, t.host ? &*t.host : nullptr);
  work.host_gpus = std::min(t.gpus_per_node, t.work.shape.gpus);
  if (t.host && t.host->host_bandwidth) {
    work.host_memory = t.host->host_bandwidth->value;
  }
  return work;
}

TrainQuestion compile_question(const TrainScenario& t,
                               PlanPart part,
                               std::shared_ptr<const JobGroups> groups,
                               TermSet without) {
  const bool memory_only = part == PlanPart::memory;
  try {
    std::optional<StepNumbers> stated;
    if (!t.own && states_network(t)) {
      stated = numbers_of(t);
    }
    const StepNumbers* const numbers = t.own ? &t.own->numbers : stated ? &*stated : nullptr;
    std::optional<MemoryStack> moved;
    if (numbers != nullptr) {
      moved = t.software;
      moved->time = numbers->time;
    }
    TrainQuestion question{compile(t.architecture, t.device, groups ? std::move(groups) : groups_of(t),
                                   moved ? *moved : t.software, workload_of(t),
                                   numbers != nullptr ? numbers->parameters : step_parameters(*t.data), without)};
    question.compiled.timed = !memory_only;
    return question;
  } catch (const ConfigError&) {
    if (!memory_only) {
      throw;
    }
  }
  return {compile_for_memory(t.architecture, t.device, t.software, t.work)};
}

OpenStrategy open_strategy(const TrainScenario& t) noexcept {
  return {t.strategy, t.micro_batch_open, t.recompute_open, false};
}

Strategy close_open_axes(const CompiledTraining& compiled, const OpenStrategy& open, FitRule rule) {
  const std::span<const std::uint16_t> micro_batches = blank_micro_batches(compiled.architecture);
  constexpr std::array<std::uint16_t, 7> chunks{1, 2, 3, 4, 5, 6, 8};
  constexpr std::array all_modes{Recompute::none, Recompute::selective, Recompute::full};
  const std::vector<Recompute>& habit = compiled.memory.stack.recompute_modes;
  const std::span<const Recompute> modes =
      habit.empty() ? std::span<const Recompute>{all_modes} : std::span<const Recompute>{habit};
  const Strategy asked = with_open_stages(open.strategy);
  Strategy best = asked;
  Seconds best_time{1e300};
  Strategy smallest = asked;
  Bytes least{1e300};
  const auto consider = [&](const Strategy& layout, const LayerTable& table) {
    const auto [s, e] = shortest(compiled, table, layout, compiled.capacity);
    if (e.step.raw() <= 0.0) {
      return;  // breaks a rule
    }
    const Bytes judged = rule == FitRule::surely ? e.device.high : e.device.mid;
    if (judged <= compiled.capacity && e.step < best_time) {
      best_time = e.step;
      best = s;
    } else if (judged > compiled.capacity && judged < least) {
      least = judged;
      smallest = s;
    }
  };
  for (std::size_t b = 0; b < (open.micro_batch ? micro_batches.size() : 1); ++b) {
    for (std::size_t r = 0; r < (open.recompute ? modes.size() : 1); ++r) {
      Strategy s = asked;
      s.micro_batch = open.micro_batch ? micro_batches[b] : s.micro_batch;
      s.recompute = open.recompute ? modes[r] : s.recompute;
      const LayerTable table = tabulate(compiled, key_of(s));
      consider(s, table);
      for (std::size_t v = 1; open.vpp && v < chunks.size(); ++v) {
        s.vpp = chunks[v];
        if (interleaves(compiled.architecture.layers, s)) {
          consider(s, table);
        }
      }
    }
  }
  return best_time.raw() < 1e300 ? best : smallest;
}

LayerTable table_for(const CompiledTraining& c, const Strategy& s) {
  constexpr double most_passes = 1e7;
  LayerTable table = tabulate(c, key_of(s));
  const double batch = real(c.work.shape.global_batch);
  const double passes = batch / (static_cast<double>(s.dp) * s.micro_batch) * s.pp * s.vpp;
  const bool simulates = c.timed && c.step && states_stages(s) && !s.stages_open && passes < most_passes;
  if (simulates && check(c.architecture, c.work.shape, s).verdict == Verdict::feasible) {
    table.step.passes = simulated_passes(*c.step, table.step, s, batch);
  }
  return table;
}

TrainAnswer answer_question(const CompiledTraining& compiled, const OpenStrategy& open) {
  TrainAnswer answer;
  answer.strategy = close_open_axes(compiled, open, FitRule::surely);
  answer.estimate = evaluate(compiled, table_for(compiled, answer.strategy), answer.strategy);
  return answer;
}

}  // namespace headroom
