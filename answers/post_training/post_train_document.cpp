// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/post_training/post_train_words.hpp>
#include <headroom/answers/post_training/render_post_train.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <cstddef>
#include <string>

namespace headroom {
namespace {

std::string word(std::string_view name) {
  return std::string{name};
}

Value phases_value(const PostTrainWay& way) {
  Value phases = Value::empty_list();
  for (std::size_t i = 0; i < phase_count; ++i) {
    if (way.phases.of[i] > Seconds{}) {
      phases.push(row("phase"_m = word(phase_names[i]), "time_s"_m = way.phases.of[i]));
    }
  }
  return phases;
}

Value memory_terms(const MemoryBreakdown& memory, const char* side) {
  Value terms = Value::empty_list();
  for (std::size_t i = 0; i < memory_term_count; ++i) {
    if (memory.bytes[i] > Bytes{}) {
      terms.push(row("side"_m = word(side), "term"_m = word(memory_term_names[i]), "bytes"_m = memory.bytes[i]));
    }
  }
  return terms;
}

Value trained_by(const PostTrainWay& way) {
  const Strategy& s = way.trainer.strategy;
  return object("tp"_m = std::int64_t{s.tp}, "pp"_m = std::int64_t{s.pp}, "cp"_m = std::int64_t{s.cp},
                "ep"_m = std::int64_t{s.ep}, "dp"_m = std::int64_t{s.dp}, "micro_batch"_m = std::int64_t{s.micro_batch},
                "zero"_m = std::int64_t{s.zero},
                "recompute"_m = word(recompute_names[static_cast<std::size_t>(s.recompute)]));
}

Value post_way_value(const PostTrainWay& way) {
  return object("placement"_m = word(name_of(way.flow.placement)), "order"_m = word(name_of(way.flow.order)),
                "possible"_m = way.possible, "why_not"_m = when(!way.why_not.empty(), way.why_not),
                "rollout_gpus"_m = way.rollout_gpus, "train_gpus"_m = way.train_gpus,
                "engines"_m = when(way.engine_tp > 0, way.engines),
                "engine_tp"_m = when(way.engine_tp > 0, way.engine_tp),
                "engine_slots"_m = when(way.engine_tp > 0, way.slots), "strategy"_m = trained_by(way),
                "sync_way"_m = word(weight_sync_names[static_cast<std::size_t>(way.sync)]), "step_s"_m = way.step.step,
                "rollout_busy_s"_m = way.step.rollout_busy, "train_busy_s"_m = way.step.train_busy,
                "rollout_idle"_m = share(way.step.rollout_idle), "train_idle"_m = share(way.step.train_idle),
                "rollout_half_s"_m = when(way.engine_tp > 0, way.rollout.times.half),
                "rollout_p90_s"_m = when(way.engine_tp > 0, way.rollout.times.most), "phases"_m = phases_value(way));
}

Value events_value(const PostTrainWay& way) {
  return list(phase_events(way, 3), [](const PhaseEvent& each) {
    return row("phase"_m = word(phase_names[static_cast<std::size_t>(each.phase)]),
               "pool"_m = word(each.samples ? "rollout" : "train"), "from_s"_m = each.from, "to_s"_m = each.to);
  });
}

Value balance_value(const PostTrainPlan& plan) {
  Value stages = Value::empty_list();
  for (std::size_t i = 0; i < plan.question.stages.size(); ++i) {
    const StageShare& each = plan.balance->stages[i];
    stages.push(object("name"_m = plan.question.stages[i].name, "gpus"_m = each.gpus, "gpus_exact"_m = each.exact,
                       "units_per_s"_m = each.rate, "idle"_m = share(each.idle)));
  }
  return stages;
}

Value phase_memory_value(const PostTrainPlan& plan) {
  return list(phase_memory(plan.question, plan.ways[*plan.taken]), [](const PhaseMemory& each) {
    return row("phase"_m = word(phase_names[static_cast<std::size_t>(each.phase)]),
               "pool"_m = word(each.samples ? "rollout" : "train"), "engine_bytes"_m = each.engine,
               "policy_bytes"_m = each.policy, "reference_bytes"_m = each.reference, "bytes"_m = each.total());
  });
}

Value neighbours_value(const PostTrainPlan& plan) {
  return list(plan.neighbours, [](const PostTrainNeighbour& each) {
    return row("change"_m = each.change, "possible"_m = each.possible, "step_s"_m = when(each.possible, each.step),
               "why_not"_m = each.why_not);
  });
}

Value staleness_value(const PostTrainPlan& plan) {
  return list(plan.staleness, [](const PostTrainPlan::Staleness& each) {
    return row("staleness"_m = each.bound, "step_s"_m = each.step,
               "binds"_m = word(post_train_binds_names[static_cast<std::size_t>(each.binds)]));
  });
}

}  // namespace

Value post_train_document(const PostTrainPlan& plan) {
  const PostTrainQuestion& q = plan.question;
  const PostTrainWay* const way = plan.taken ? &plan.ways[*plan.taken] : nullptr;
  const bool step = !plan.balance;
  return object("schema"_m = "headroom.post-training/1", "name"_m = q.name, "gpu"_m = q.device.id, "gpus"_m = q.gpus,
                "model"_m = when(step, q.model), "software"_m = when(step, q.software.id),
                "algorithm"_m = when(step, word(post_train_algorithm_names[static_cast<std::size_t>(q.algorithm)])),
                "verdict"_m = plan.feasible() ? "feasible" : "infeasible", "verdict_text"_m = verdict_of(plan),
                "step_s"_m = way ? Value{way->step.step} : Value{},
                "step_low_s"_m = way ? Value{plan.low * way->step.step} : Value{},
                "step_high_s"_m = way ? Value{plan.high * way->step.step} : Value{},
                "samples_per_s"_m = when(way != nullptr, plan.samples_per_s),
                "tokens_per_s"_m = when(way != nullptr, plan.tokens_per_s),
                "samples_per_usd"_m = plan.samples_per_dollar, "tokens_per_usd"_m = plan.tokens_per_dollar,
                "usd_per_s"_m = plan.price, "step_usd"_m = plan.step_cost, "run_s"_m = plan.run,
                "run_usd"_m = plan.run_cost, "step_j"_m = plan.power ? Value{plan.power->step.mid} : Value{},
                "run_j"_m = plan.power && plan.run ? Value{plan.power->run.mid} : Value{},
                "tail_s"_m = when(way != nullptr, plan.tail),
                "partial_saves_s"_m = when(!plan.staleness.empty(), plan.partial_saves),
                "cut_answers"_m = when(way != nullptr, share(plan.cut)), "layouts_priced"_m = when(step, plan.priced),
                "plan"_m = way ? post_way_value(*way) : Value{}, "ways"_m = when(step, list(plan.ways, post_way_value)),
                "timeline"_m = way ? events_value(*way) : Value{},
                "train_memory"_m = way ? memory_terms(way->trainer.memory, "train") : Value{},
                "rollout_memory"_m = way && way->engine_tp > 0 ? memory_terms(way->engine_memory, "rollout") : Value{},
                "phase_memory"_m = way ? phase_memory_value(plan) : Value{},
                "neighbours"_m = when(!plan.neighbours.empty(), neighbours_value(plan)),
                "staleness"_m = when(!plan.staleness.empty(), staleness_value(plan)),
                "flow_units_per_s"_m = plan.balance ? Value{plan.balance->flow} : Value{},
                "stages"_m = plan.balance ? balance_value(plan) : Value{}, "stages_s"_m = plan.stage_time,
                "money"_m = money_value(q.money, Bill{}),
                "energy"_m = energy_value(plan.power, "j_per_million_samples"),
                "notes"_m = list(plan.notes, [](const std::string& each) { return each; }));
}

std::string post_train_csv(const PostTrainPlan& plan) {
  std::string text = "placement,order,possible,rollout_gpus,train_gpus,engine_tp,step_s";
  for (const std::string_view name : phase_names) {
    text += "," + std::string{name} + "_s";
  }
  text += ",rollout_idle,train_idle\n";
  for (const PostTrainWay& way : plan.ways) {
    text += word(name_of(way.flow.placement)) + "," + word(name_of(way.flow.order)) + "," + (way.possible ? "1" : "0") +
            "," + std::to_string(way.rollout_gpus) + "," + std::to_string(way.train_gpus) + "," +
            std::to_string(way.engine_tp) + "," + shortest_text(way.step.step.raw());
    for (const Seconds each : way.phases.of) {
      text += "," + shortest_text(each.raw());
    }
    text += "," + shortest_text(way.step.rollout_idle) + "," + shortest_text(way.step.train_idle) + "\n";
  }
  return text;
}

}  // namespace headroom
