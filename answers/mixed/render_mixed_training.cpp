// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/mixed/mixed_words.hpp>
#include <headroom/answers/mixed/render_mixed.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/mixed/mixed_training.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headroom {
namespace {

const TrainScenario& trained_alike(const MixedTraining& plan) {
  return std::get<TrainScenario>(plan.question.pools.front().alone.question);
}

std::string_view name_of_split(const SplitStep& split) {
  return batch_split_names[static_cast<std::size_t>(split.split)];
}

/// "at 5 micro-batches a rank of h100-sxm-80gb and 3 of a100-sxm-80gb".
std::string counts_text(const MixedTraining& plan, const SplitStep& split) {
  std::string text;
  for (std::size_t i = 0; i < split.pools.size(); ++i) {
    text += (i == 0                        ? ""
             : i + 1 == split.pools.size() ? " and "
                                           : ", ") +
            (i == 0 ? counted(split.pools[i].micro_batches, "micro-batch", "micro-batches") + " a rank of "
                    : std::to_string(split.pools[i].micro_batches) + " of ") +
            gpu_of(plan.question, i);
  }
  return text;
}

std::string training_verdict(const MixedTraining& plan) {
  if (!plan.feasible()) {
    return "the mix does not train: " + plan.why;
  }
  const SplitStep& best = *plan.best();
  std::string text = pools_text(plan.question) + " train " + format_number(best.tokens_per_s) + " tokens/s with " +
                     counts_text(plan, best) + "; " + percent(best.loss) +
                     " of what the pools do each at its own pace is lost";
  const SplitStep* const equal = plan.of(BatchSplit::equal);
  if (equal != nullptr && equal != &best && equal->why.empty()) {
    text += ", with as many to each rank " + percent(equal->loss);
  }
  if (const auto alone = plan.better_alone()) {
    text += "; the " + std::to_string(plan.question.pools[*alone].gpus) + " x " + gpu_of(plan.question, *alone) +
            " by themselves train faster, " + format_number(plan.pools[*alone].alone_tokens_per_s) + " tokens/s";
  }
  return text;
}

std::string splits_table(const MixedTraining& plan) {
  const bool run = plan.tokens > 0.0;
  const bool priced = plan.question.price().has_value();
  Table table{{"<split of the batch", "<step", "tokens/s", "lost", "<waits for", "idle micro-batches",
               run ? "time of the run" : "", run ? "lost GPU-hours" : "", priced ? "$ per M tokens" : "",
               run && priced ? "cost of the run" : ""}};
  for (const SplitStep& split : plan.splits) {
    if (!split.why.empty()) {
      table.row({std::string{name_of_split(split)}, split.why, "", "", "", "", "", "", "", ""});
      continue;
    }
    table.row(
        {std::string{name_of_split(split)}, interval_text(split.step), format_number(split.tokens_per_s),
         percent(split.loss), gpu_of(plan.question, split.slowest), std::to_string(split.idle_slots),
         split.duration ? format(*split.duration) : "", split.lost_gpu_hours ? format_count(*split.lost_gpu_hours) : "",
         split.per_million_tokens ? format(*split.per_million_tokens) : "", split.cost ? format(*split.cost) : ""});
  }
  return table.text();
}

std::string rank_text(const SplitStep* split, std::size_t pool) {
  return split == nullptr || !split->why.empty()
             ? std::string{}
             : std::to_string(split->pools[pool].micro_batches) + ", " + percent(split->pools[pool].idle);
}

std::string pools_table(const MixedTraining& plan) {
  Table table{{"pool", "<node", "GPUs", "dp", "memory per GPU", "fits", "equal: micro-batches, waits",
               "balanced: micro-batches, waits", "<the whole batch by itself"}};
  for (std::size_t i = 0; i < plan.pools.size(); ++i) {
    const TrainedPool& pool = plan.pools[i];
    table.row({gpu_of(plan.question, i), node_of(plan.question, i), std::to_string(plan.question.pools[i].gpus),
               std::to_string(pool.dp), format(pool.memory.mid), probability_text(pool.fits_probability),
               rank_text(plan.of(BatchSplit::equal), i), rank_text(plan.of(BatchSplit::balanced), i),
               pool.alone_verdict.empty()
                   ? format(pool.alone_step.mid) + " a step, " + format_number(pool.alone_tokens_per_s) + " tokens/s"
                   : pool.alone_verdict});
  }
  return table.text();
}

Value split_value(const MixedTraining& plan, const SplitStep& split) {
  const Value head = object("split"_m = name_of_split(split), "possible"_m = split.why.empty(),
                            "why"_m = when(!split.why.empty(), split.why));
  if (!split.why.empty()) {
    return head;
  }
  Value pools = Value::empty_list();
  for (std::size_t i = 0; i < split.pools.size(); ++i) {
    pools.push(row("gpu"_m = gpu_of(plan.question, i), "micro_batches"_m = split.pools[i].micro_batches,
                   "own_step_s"_m = split.pools[i].own, "idle_share"_m = share(split.pools[i].idle)));
  }
  return object(head, "step_time_s"_m = split.step, "tokens_per_s"_m = per_second(split.tokens_per_s),
                "loss_share"_m = share(split.loss), "slowest_gpu"_m = gpu_of(plan.question, split.slowest),
                "slowest_links_gpu"_m = gpu_of(plan.question, split.slowest_links),
                "idle_micro_batches"_m = split.idle_slots, "pools"_m = std::move(pools),
                "duration_s"_m = split.duration, "lost_gpu_hours"_m = split.lost_gpu_hours,
                "usd_per_million_tokens"_m = split.per_million_tokens, "cost_usd"_m = split.cost);
}

}  // namespace

std::string mixed_training_text(const MixedTraining& plan) {
  const TrainScenario& t = trained_alike(plan);
  std::string text = t.architecture.name + " on " + pools_text(plan.question) + ", " +
                     std::string{name_of(t.work.precision)} + ", sequence " +
                     format_count(static_cast<double>(t.work.shape.seq_len)) + ", global batch " +
                     format_count(static_cast<double>(plan.global_batch)) + "\n";
  const Strategy& s = plan.feasible() ? plan.strategy : t.strategy;
  text += "tp " + std::to_string(int{s.tp}) + ", pp " + std::to_string(int{s.pp}) + ", dp " + std::to_string(plan.dp) +
          ", ZeRO " + std::to_string(int{s.zero});
  if (plan.feasible()) {
    text += ", micro-batch " + std::to_string(int{s.micro_batch}) + ", recompute " +
            std::string{recompute_names[static_cast<std::size_t>(s.recompute)]};
  }
  text += "\n\n" + training_verdict(plan) + "\n";
  if (plan.feasible()) {
    text += "\n" + splits_table(plan) + "\n" + pools_table(plan) +
            "lost: of the rate that the pools would have side by side, each at its own pace with the equal split's "
            "micro-batches\n";
  }
  return text + mixed_notes_text(plan.question, plan.notes);
}

Value mixed_training_document(const MixedTraining& plan) {
  const TrainScenario& t = trained_alike(plan);
  const SplitStep* const best = plan.best();
  const auto alone = plan.better_alone();
  Value pools = Value::empty_list();
  for (std::size_t i = 0; i < plan.question.pools.size(); ++i) {
    if (plan.pools.empty()) {
      pools.push(object(pool_value(plan.question, i)));
      continue;
    }
    const TrainedPool& pool = plan.pools[i];
    const bool able = pool.alone_verdict.empty();
    pools.push(object(pool_value(plan.question, i), "dp"_m = pool.dp, "memory_bytes"_m = pool.memory,
                      "fits_probability"_m = share(pool.fits_probability),
                      "alone_step_time_s"_m = when(able, pool.alone_step),
                      "alone_tokens_per_s"_m = when(able, per_second(pool.alone_tokens_per_s)),
                      "alone_verdict"_m = when(!able, pool.alone_verdict)));
  }
  return object(
      "schema"_m = "headroom.mixed_training/1", "name"_m = plan.question.name, "model"_m = t.architecture.id,
      "feasible"_m = plan.feasible(), "verdict_text"_m = training_verdict(plan), "gpus"_m = plan.question.gpus,
      "global_batch"_m = plan.global_batch, "seq_len"_m = t.work.shape.seq_len, "dp"_m = plan.dp,
      "micro_batch"_m = when(plan.feasible(), plan.strategy.micro_batch),
      "recompute"_m = when(plan.feasible(), Value{recompute_names[static_cast<std::size_t>(plan.strategy.recompute)]}),
      "taken_split"_m = best != nullptr ? Value{name_of_split(*best)} : Value{nullptr},
      "faster_alone_gpu"_m = alone ? Value{gpu_of(plan.question, *alone)} : Value{nullptr},
      "splits"_m = list(plan.splits, [&](const SplitStep& split) { return split_value(plan, split); }),
      "pools"_m = std::move(pools), "price_usd_per_s"_m = plan.question.price(), "notes"_m = plan.notes,
      "assumed"_m = plan.question.assumptions);
}

}  // namespace headroom
