// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/strategy/strategy.hpp>

namespace headroom {
namespace {

bool divides(std::int64_t divisor, std::int64_t number) noexcept {
  return divisor > 0 && number % divisor == 0;
}

Legality broken(Verdict verdict, std::int64_t number, std::int64_t limit) noexcept {
  return {verdict, static_cast<double>(number), static_cast<double>(limit)};
}

/// Rules of experts: ep divides their number, and their width splits evenly over etp ranks, which divide tp. Returns
/// false if `report` wants no more.
template <class Report>
bool walk_expert_rules(const Architecture& arch, const Strategy& s, Report& report) {
  const std::int64_t experts = arch.moe ? arch.moe->experts : 1;
  if (s.ep > 1 && !divides(s.ep, experts) && !report(broken(Verdict::experts_not_divisible, experts, s.ep))) {
    return false;
  }
  const std::int64_t width = arch.moe ? arch.moe->expert_ffn_hidden : 0;
  if (s.etp > 1 && (width == 0 || !divides(s.etp, width)) &&
      !report(broken(Verdict::expert_width_not_divisible, width, s.etp))) {
    return false;
  }
  return width == 0 || divides(s.etp, s.tp) || report(broken(Verdict::tensor_ranks_not_divisible, s.tp, s.etp));
}

Verdict verdict_of(ScheduleRule rule) noexcept {
  switch (rule) {
    case ScheduleRule::stages_multiple: return Verdict::schedule_stages_odd;
    case ScheduleRule::micro_batches_multiple: return Verdict::schedule_micro_batches_odd;
    case ScheduleRule::micro_batches_a_stage: return Verdict::schedule_micro_batches_too_few;
    case ScheduleRule::chunks_fixed: return Verdict::schedule_has_no_chunks;
    case ScheduleRule::counts_positive:
    case ScheduleRule::none: break;
  }
  return Verdict::feasible;
}

/// What the schedule asks of its chunks, stages and micro-batches. A whole batch alone has a number of micro-batches.
template <class Report>
bool walk_schedule_rules(const Strategy& s, std::int64_t micro_batches, Report& report) {
  if (s.vpp > 1 && !model_of(s.schedule).takes_chunks() &&
      !report(broken(verdict_of(ScheduleRule::chunks_fixed), s.vpp, 1))) {
    return false;
  }
  for (const BrokenRule& rule : order_rules(s.schedule, s.pp, micro_batches)) {
    if (rule.rule != ScheduleRule::none && !report(broken(verdict_of(rule.rule), rule.number, rule.limit))) {
      return false;
    }
  }
  return true;
}

/// The batch is whole micro-batches of every replica, whole local batches where the pipeline flushes after each, and
/// what it works off between two flushes obeys the schedule.
template <class Report>
bool walk_batch_rules(const TrainingShape& shape, const Strategy& s, Report& report) {
  const std::int64_t batch_ranks = std::int64_t{s.dp} * s.micro_batch;
  const bool whole = divides(batch_ranks, shape.global_batch);
  if (!whole && !report(broken(Verdict::batch_not_divisible, shape.global_batch, batch_ranks))) {
    return false;
  }
  const std::int64_t of_replica = whole ? shape.global_batch / s.dp : 0;
  const std::int64_t local = s.pp > 1 && s.local_batch > 0 ? s.local_batch : of_replica;
  const bool flushes = local == of_replica || !whole || (divides(local, of_replica) && divides(s.micro_batch, local));
  if (!flushes && !report(divides(local, of_replica) ? broken(Verdict::local_batch_of_parts, local, s.micro_batch)
                                                     : broken(Verdict::local_batch_misfit, of_replica, local))) {
    return false;
  }
  const std::int64_t micro_batches = whole && flushes ? local / s.micro_batch : 0;
  if (micro_batches > 0 && s.vpp > 1 && !divides(s.pp, micro_batches) &&
      !report(broken(Verdict::micro_batches_too_few, micro_batches, s.pp))) {
    return false;
  }
  return walk_schedule_rules(s, micro_batches, report);
}

/// Rules of stages with stated layers: they must leave the same whole number of layers to each other stage.
template <class Report>
bool walk_stage_rules(const Architecture& arch, const Strategy& s, Report& report) {
  // Embedding and loss may stand for a layer each on the end stages, as in Megatron's uneven splits; a folded network
  // runs as several parts on a stage.
  const bool folded = placement_of(s.schedule, s.pp) == StagePlacement::folded;
  const std::int64_t stages = std::int64_t{s.pp} * (folded ? chunks_of(s.schedule, s.vpp) : s.vpp);
  if (stages > arch.layers + 2 && !report(broken(Verdict::layers_too_few, arch.layers, stages))) {
    return false;
  }
  if (!states_stages(s)) {
    return true;
  }
  const std::int64_t left = std::int64_t{arch.layers} - s.first_stage_layers - s.last_stage_layers;
  const std::int64_t others = s.pp - (s.first_stage_layers > 0 ? 1 : 0) - (s.last_stage_layers > 0 ? 1 : 0);
  const bool whole = others > 0 ? left >= others && divides(others, left) : others == 0 && left == 0;
  return whole || report(broken(Verdict::stage_layers_misfit, left, others));
}

/// Rules of unusual orders: shares of the data ranks consist of whole runs or parts of one, and the experts' grid does
/// not cut through stages. Returns false if `report` wants no more.
template <class Report>
bool walk_order_rules(const Architecture& arch, const Strategy& s, Report& report) {
  if (s.order == RankOrder::tp_cp_dp_pp) {
    return true;
  }
  const Degrees degrees = degrees_of(s);
  const GroupForm data = groups_of(s.order, degrees).data;
  if (s.shard_ranks > 0 && divides(s.shard_ranks, data.size()) && !shard_groups(data, s.shard_ranks) &&
      !report(broken(Verdict::shard_ranks_straddle, s.shard_ranks, data.ranks))) {
    return false;
  }
  const InsideStages inside = inside_stages(s.order, degrees);
  const bool sound = divides(std::int64_t{s.ep} * s.etp, std::int64_t{s.dp} * s.cp * s.tp);
  return !arch.moe || s.pp == 1 || !sound || inside.dense == inside.experts ||
         report(broken(Verdict::experts_straddle_stages, inside.experts, inside.dense));
}

/// Reports every broken rule until `report` returns false. Rules that need a valid tp or dp are skipped without one.
template <class Report>
void walk_rules(const Architecture& arch, const TrainingShape& shape, const Strategy& s, Report report) {
  const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
  const bool sound_dp = model_ranks * s.dp == shape.gpus;
  if (!sound_dp && !report(broken(Verdict::gpus_not_divisible, shape.gpus, model_ranks))) {
    return;
  }
  const bool sound_tp = divides(s.tp, arch.heads);
  if (!sound_tp && !report(broken(Verdict::heads_not_divisible, arch.heads, s.tp))) {
    return;
  }
  // With fewer KV heads than tp ranks, heads are replicated in whole copies.
  if (sound_tp && !divides(s.tp, arch.kv_heads) && !divides(arch.kv_heads, s.tp) &&
      !report(broken(Verdict::kv_heads_not_divisible, arch.kv_heads, s.tp))) {
    return;
  }
  // Every rank of the context group takes whole heads (Jacobs et al. 2023, section 3.1).
  const std::int64_t head_ranks = std::int64_t{s.tp} * s.cp;
  if (s.cp_form == CpForm::ulysses && s.cp > 1 && sound_tp && !divides(head_ranks, arch.heads) &&
      !report(broken(Verdict::context_heads_not_divisible, arch.heads, head_ranks))) {
    return;
  }
  if (!walk_stage_rules(arch, s, report)) {
    return;
  }
  const std::int64_t sequence_ranks = std::int64_t{s.cp} * (s.sequence_parallel && sound_tp ? s.tp : 1);
  if (!divides(sequence_ranks, shape.seq_len) &&
      !report(broken(Verdict::sequence_not_divisible, shape.seq_len, sequence_ranks))) {
    return;
  }
  if (!walk_expert_rules(arch, s, report) || !sound_dp) {
    return;
  }
  const std::int64_t data_ranks = std::int64_t{s.dp} * s.cp;
  if (s.shard_ranks > 0 && !divides(s.shard_ranks, data_ranks) &&
      !report(broken(Verdict::shard_ranks_misfit, data_ranks, s.shard_ranks))) {
    return;
  }
  if (!walk_batch_rules(shape, s, report)) {
    return;
  }
  const std::int64_t expert_ranks = std::int64_t{s.dp} * s.cp * s.tp;
  const std::int64_t expert_group = std::int64_t{s.ep} * s.etp;
  if (arch.moe && !divides(expert_group, expert_ranks) &&
      !report(broken(Verdict::expert_groups_misfit, expert_ranks, expert_group))) {
    return;
  }
  walk_order_rules(arch, s, report);
}

}  // namespace

Legality check(const Architecture& arch, const TrainingShape& shape, const Strategy& s) noexcept {
  Legality first;
  walk_rules(arch, shape, s, [&](const Legality& rule) {
    first = rule;
    return false;
  });
  return first;
}

std::vector<Legality> broken_rules(const Architecture& arch, const TrainingShape& shape, const Strategy& s) {
  std::vector<Legality> all;
  walk_rules(arch, shape, s, [&](const Legality& rule) {
    all.push_back(rule);
    return true;
  });
  return all;
}

}  // namespace headroom
