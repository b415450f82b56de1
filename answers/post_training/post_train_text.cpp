// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/post_training/post_train_words.hpp>
#include <headroom/answers/post_training/render_post_train.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

std::string trainer_text(const PostTrainWay& way) {
  const Strategy& s = way.trainer.strategy;
  std::string text = "tp " + std::to_string(s.tp) + ", pp " + std::to_string(s.pp) + ", dp " + std::to_string(s.dp);
  text += s.cp > 1 ? ", cp " + std::to_string(s.cp) : std::string{};
  text += s.ep > 1 ? ", ep " + std::to_string(s.ep) : std::string{};
  return text + ", micro-batch " + std::to_string(s.micro_batch) + ", ZeRO " + std::to_string(s.zero) + ", recompute " +
         std::string{recompute_names[static_cast<std::size_t>(s.recompute)]};
}

std::string phases_text(const PostTrainWay& way) {
  Table table{{"phase", "time", "of the step"}};
  for (std::size_t i = 0; i < phase_count; ++i) {
    if (const Seconds time = way.phases.of[i]; time > Seconds{}) {
      table.row({std::string{phase_names[i]}, format(time), percent(time / way.step.step)});
    }
  }
  return table.text();
}

std::string ways_text(const PostTrainPlan& plan) {
  Table table{{"way", "<", "sample", "train", "rollout", "train side", "step", "engines idle", "trainers idle"}};
  for (const PostTrainWay& way : plan.ways) {
    const std::string name{name_of(way.flow.placement)};
    const std::string order{name_of(way.flow.order)};
    if (!way.possible) {
      table.row({name, order, std::to_string(way.rollout_gpus), std::to_string(way.train_gpus), "", "", "impossible",
                 "", ""});
      continue;
    }
    table.row({name, order, std::to_string(way.rollout_gpus), std::to_string(way.train_gpus),
               format(way.step.rollout_busy), format(way.step.train_busy), format(way.step.step),
               percent(way.step.rollout_idle), percent(way.step.train_idle)});
  }
  std::string text = table.text();
  for (const PostTrainWay& way : plan.ways) {
    if (!way.why_not.empty()) {
      text += "not " + way_words(way) + ": " + way.why_not + "\n";
    }
  }
  return text;
}

std::string figure_line(const std::string& name, const std::string& value) {
  constexpr std::size_t width = 26;
  return "  " + name + std::string(name.size() < width ? width - name.size() : 1, ' ') + value + "\n";
}

std::string figures_text(const PostTrainPlan& plan) {
  const PostTrainWay& way = plan.ways[*plan.taken];
  const Seconds step = way.step.step;
  std::string text =
      figure_line("step", format(step) + "  (" + format(plan.low * step) + " to " + format(plan.high * step) + ")");
  text += figure_line("samples/s", format_number(plan.samples_per_s));
  text += figure_line("tokens/s", format_number(plan.tokens_per_s) + ", " +
                                      format_number(plan.tokens_per_s / real(way.gpus)) + " a GPU");
  if (plan.samples_per_dollar) {
    text += figure_line("samples per $", format_number(*plan.samples_per_dollar) + ", " +
                                             format_number(*plan.tokens_per_dollar) + " tokens per $");
  }
  if (plan.run) {
    text += figure_line("run of " + format_count(plan.question.steps) + " steps",
                        format(*plan.run) + (plan.run_cost ? ", " + format(*plan.run_cost) : ""));
  }
  if (plan.power) {
    text += figure_line("energy of a step",
                        format(plan.power->step.mid) + ", " + format(plan.power->gpu) + " a GPU on the mean");
    if (plan.run) {
      text += figure_line("energy of the run",
                          format(plan.power->run.mid) +
                              (plan.power->dollars ? ", " + format(plan.power->dollars->mid) + " of electricity" : ""));
    }
  }
  return text;
}

/// What is resident on a GPU while each side works.
std::string memory_text(const PostTrainPlan& plan) {
  const PostTrainWay& way = plan.ways[*plan.taken];
  Table table{{"memory of a GPU", "trains", "samples"}};
  for (std::size_t i = 0; i < memory_term_count; ++i) {
    const Bytes trains = way.trainer.memory.bytes[i], samples = way.engine_memory.bytes[i];
    if (trains > Bytes{} || samples > Bytes{}) {
      std::string name{memory_term_names[i]};
      table.row({name, trains > Bytes{} ? format(trains) : "", samples > Bytes{} ? format(samples) : ""});
    }
  }
  table.row({"total", format(way.trainer.memory.total()), way.engine_tp > 0 ? format(way.engine_memory.total()) : ""});
  return table.text();
}

/// What of each side a GPU holds while each phase runs.
std::string residents_text(const PostTrainPlan& plan) {
  const PostTrainWay& way = plan.ways[*plan.taken];
  const bool split = way.flow.placement != PostTrainPlacement::colocated;
  Table table{{"resident while", "<on", "engine", "policy", "reference", "total"}};
  const auto bytes = [](Bytes of) { return of > Bytes{} ? format(of) : std::string{}; };
  for (const PhaseMemory& each : phase_memory(plan.question, way)) {
    table.row({std::string{phase_names[static_cast<std::size_t>(each.phase)]},
               !split         ? "all"
               : each.samples ? "rollout"
                              : "train",
               bytes(each.engine), bytes(each.policy), bytes(each.reference), format(each.total())});
  }
  return table.text();
}

std::string neighbours_text(const PostTrainPlan& plan) {
  std::string text;
  for (const PostTrainNeighbour& each : plan.neighbours) {
    text += "not " + each.change + ": " + each.why_not + "\n";
  }
  return text;
}

std::string tail_text(const PostTrainPlan& plan) {
  const PostTrainWay& way = plan.ways[*plan.taken];
  if (way.engine_tp == 0) {
    return {};
  }
  const RolloutTimes& times = way.rollout.times;
  std::string text = "rollout: " + counted(way.engines, "engine") + " of " + counted(way.engine_tp, "GPU") + " with " +
                     std::to_string(way.slots) + " answers at once; half of the answers are there after " +
                     percent(times.half / times.whole) + " of it, 90 % after " + percent(times.most / times.whole) +
                     (plan.tail > Seconds{} ? "; the last tenth takes " + format(plan.tail) + ", " : "; ") +
                     percent(times.empty) + " of the slots' time is empty, " + percent(plan.cut) +
                     " of the answers are cut\n";
  if (!plan.staleness.empty()) {
    text += "asynchrony: a step takes";
    for (const PostTrainPlan::Staleness& each : plan.staleness) {
      text += (&each == &plan.staleness.front() ? " " : ", ") + format(each.step) + " at an age of " +
              format_number(each.bound);
    }
    const auto bound = std::find_if(plan.staleness.rbegin(), plan.staleness.rend(),
                                    [](const auto& each) { return each.binds == PostTrainBinds::age; });
    text += " steps on the best split; ";
    text += bound == plan.staleness.rend()
                ? "the bound on age never binds by itself; "
                : "the bound itself binds up to an age of " + format_number(bound->bound) + "; ";
    text += "partial rollouts save " + format(plan.partial_saves) + " of a batch that is waited for\n";
  }
  return text;
}

std::string balance_text(const PostTrainPlan& plan) {
  const PostTrainQuestion& q = plan.question;
  std::int64_t all = 0;
  Table table{{"stage", "GPUs", "exact", "units/s", "idle"}};
  for (std::size_t i = 0; i < q.stages.size(); ++i) {
    const StageShare& share = plan.balance->stages[i];
    all += share.gpus;
    table.row({q.stages[i].name, std::to_string(share.gpus), format_number(share.exact), format_number(share.rate),
               percent(share.idle)});
  }
  std::string text = q.name + "\n" + counted(all, "GPU") + " carry " + format_number(plan.balance->flow) +
                     " units of the flow a second; " + q.stages[plan.balance->binds].name + " binds\n\n" + table.text();
  if (plan.stage_time) {
    text += format_count(q.stage_demand) + " units take " + format(*plan.stage_time) + "\n";
  }
  return text;
}

}  // namespace

std::string post_train_text(const PostTrainPlan& plan, bool explained) {
  const PostTrainQuestion& q = plan.question;
  if (plan.balance) {
    return balance_text(plan) + assumed_text(plan.notes);
  }
  std::string text = q.name + "\n" + verdict_of(plan) + "\n\n";
  if (plan.taken) {
    const PostTrainWay& way = plan.ways[*plan.taken];
    text += figures_text(plan) + "trainer: " + trainer_text(way) + "\n\n" + phases_text(way) + tail_text(plan) + "\n" +
            memory_text(plan) + "\n" + residents_text(plan) + "\n";
  }
  text += ways_text(plan) + neighbours_text(plan);
  for (std::size_t i = 0; explained && i < plan.ways.size(); ++i) {
    if (plan.taken != i && plan.ways[i].possible) {
      text += "\nphases of " + way_words(plan.ways[i]) + "\n" + phases_text(plan.ways[i]);
    }
  }
  text += q.money.price ? "\n" + price_text(q.money) : std::string{};
  text += energy_text(plan.power);
  return text + assumed_text(plan.notes);
}

}  // namespace headroom
