// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/scenarios/search/strategy_space.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

constexpr std::int64_t fewest_tokens_of_a_context_rank = 1024;
constexpr std::int64_t largest_micro_batch = 64;
constexpr std::int64_t gpus_of_an_unknown_host = 8;  // as its step is priced

bool divides(std::int64_t divisor, std::int64_t number) noexcept {
  return divisor > 0 && number % divisor == 0;
}

/// Divisors of `number` up to `most`, ascending.
std::vector<std::int32_t> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::int32_t> result;
  for (std::int64_t d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) {
      result.push_back(static_cast<std::int32_t>(d));
    }
  }
  return result;
}

/// The axis's own values, or `any` where it is open to them, or what stands when nobody frees it.
template <class Any>
std::vector<std::int32_t> values_or(const AxisValues& axis, std::int32_t fixed, Any any) {
  if (!axis.free) {
    return {fixed};
  }
  return axis.any ? any() : axis.values;
}

template <class Small>
std::vector<Small> narrowed(const std::vector<std::int32_t>& values) {
  std::vector<Small> result;
  for (const std::int32_t value : values) {
    result.push_back(static_cast<Small>(value));
  }
  return result;
}

}  // namespace

std::uint64_t Stages::under_form() const noexcept {
  // Without ZeRO nothing is sharded, in whatever groups.
  const std::uint64_t sharded = zeros.size() - (zeros.front() == 0 ? 1U : 0U);
  return schedules.size() * (sharded * shard_ranks.size() + (zeros.front() == 0 ? 1U : 0U));
}

std::uint64_t Stages::strategies() const noexcept {
  return std::uint64_t{micro_batches.size()} * forms.size() * under_form();
}

StrategySpace::StrategySpace(const TrainScenario& train, const StrategyAxes& axes)
    : train_{&train}, axes_{axes}, base_{train.strategy} {
  // Blank in a plan, both take the fastest value that fits.
  micro_batch_blank_ = train.micro_batch_open && !axes_[StrategyAxis::micro_batch].free;
  if (micro_batch_blank_) {
    const std::span<const std::uint16_t> blank = blank_micro_batches(train.architecture);
    axes_[StrategyAxis::micro_batch] = {true, false, {blank.begin(), blank.end()}};
  }
  if (train.recompute_open && !axes_[StrategyAxis::recompute].free) {
    axes_[StrategyAxis::recompute] = {true, true, {}};
  }
  // Where the recipe overlaps experts and nobody says otherwise, as far as the software does with a strategy.
  if (AxisValues& overlap = axes_[StrategyAxis::overlap_experts];
      !overlap.free && !train.stated.strategy.overlap_experts && expert_habits_of(train).overlaps) {
    overlap = {true, true, {}};
  }
  list_layouts();
}

Strategy StrategySpace::own(std::int64_t tp, std::int64_t cp, std::int64_t ep, std::int64_t pp) const noexcept {
  StatedStrategy stated = train_->stated.strategy;
  stated.tp = static_cast<std::uint16_t>(tp);
  stated.cp = static_cast<std::uint16_t>(cp);
  stated.ep = static_cast<std::uint16_t>(ep);
  stated.pp = static_cast<std::uint16_t>(pp);
  return resolve_strategy(stated, train_->architecture, train_->software.defaults, train_->work.shape.gpus);
}

std::vector<std::int32_t> StrategySpace::tensor_ranks() const {
  const std::int64_t heads = train_->architecture.heads;
  const std::int64_t kv = train_->architecture.kv_heads;
  return values_or(axes_[StrategyAxis::tp], base_.tp, [&] {
    // Beyond the scale-up domain each layer's all-reduces cross the network: for whom lists such ranks.
    const std::int64_t domain = train_->host ? train_->domain : std::max(train_->domain, gpus_of_an_unknown_host);
    std::vector<std::int32_t> all = divisors(heads, std::min(domain, train_->work.shape.gpus));
    std::erase_if(all, [&](std::int32_t t) {
      return !divides(t, train_->work.shape.gpus) || (!divides(t, kv) && !divides(kv, t));
    });
    return all;
  });
}

std::vector<std::int32_t> StrategySpace::context_ranks(std::int64_t tp) const {
  const TrainingShape& shape = train_->work.shape;
  return values_or(axes_[StrategyAxis::cp], base_.cp, [&] {
    std::vector<std::int32_t> all =
        divisors(std::max<std::int64_t>(1, shape.gpus / tp), shape.seq_len / fewest_tokens_of_a_context_rank);
    std::erase_if(all, [&](std::int32_t c) { return !divides(c, shape.seq_len); });
    return all.empty() ? std::vector<std::int32_t>{1} : all;
  });
}

std::vector<std::int32_t> StrategySpace::expert_ranks(std::int64_t tp, std::int64_t cp) const {
  const auto& moe = train_->architecture.moe;
  return values_or(axes_[StrategyAxis::ep], base_.ep, [&] {
    if (!moe) {
      return std::vector<std::int32_t>{1};
    }
    std::vector<std::int32_t> all = divisors(moe->experts, train_->work.shape.gpus);
    std::erase_if(all, [&](std::int32_t e) {
      return !divides(e, train_->work.shape.gpus) && !divides(e, train_->work.shape.gpus * tp * cp);
    });
    return all;
  });
}

std::vector<std::int32_t> StrategySpace::expert_tensor_ranks(std::int64_t tp, std::int64_t cp, std::int64_t ep) const {
  const auto& moe = train_->architecture.moe;
  return values_or(axes_[StrategyAxis::etp], own(tp, cp, ep, base_.pp).etp, [&] {
    std::vector<std::int32_t> all = moe ? divisors(tp, tp) : std::vector<std::int32_t>{1};
    std::erase_if(all, [&](std::int32_t t) { return moe && !divides(t, moe->expert_ffn_hidden); });
    return all;
  });
}

std::vector<RankOrder> StrategySpace::orders() const {
  std::vector<RankOrder> all;
  for (const std::int32_t order : values_or(axes_[StrategyAxis::order], static_cast<std::int32_t>(base_.order),
                                            [&] { return std::vector<std::int32_t>{}; })) {
    all.push_back(static_cast<RankOrder>(order));
  }
  return all.empty() ? train_->software.orders : all;
}

void StrategySpace::list_layouts() {
  for (const RankOrder order : orders()) {
    list_layouts(order);
  }
}

void StrategySpace::list_layouts(RankOrder order) {
  for (const std::int32_t tp : tensor_ranks()) {
    for (const std::int32_t cp : context_ranks(tp)) {
      for (const std::int32_t ep : expert_ranks(tp, cp)) {
        for (const std::int32_t etp : expert_tensor_ranks(tp, cp, ep)) {
          layouts_.push_back({order, static_cast<std::uint16_t>(tp), static_cast<std::uint16_t>(cp),
                              static_cast<std::uint16_t>(ep), static_cast<std::uint16_t>(etp)});
        }
      }
    }
  }
}

std::vector<std::int32_t> StrategySpace::pipeline_stages(std::int64_t ranks) const {
  return values_or(axes_[StrategyAxis::pp], base_.pp, [&] {
    return divisors(std::max<std::int64_t>(1, train_->work.shape.gpus / ranks), train_->architecture.layers + 2);
  });
}

std::vector<std::uint16_t> StrategySpace::micro_batches(std::int64_t dp) const {
  const std::int64_t batch = train_->work.shape.global_batch;
  const std::int64_t replica = divides(dp, batch) ? batch / dp : 0;
  const AxisValues& axis = axes_[StrategyAxis::micro_batch];
  std::vector<std::int32_t> all = values_or(axis, base_.micro_batch, [&] {
    return replica > 0 ? divisors(replica, largest_micro_batch) : std::vector<std::int32_t>{1};
  });
  if (micro_batch_blank_ && replica > 0) {
    std::erase_if(all, [&](std::int32_t b) { return b > 1 && !divides(b, replica); });
  }
  return narrowed<std::uint16_t>(all);
}

/// Sets of parts that selective recomputation can be told to run again: all that the software and the network have of
/// those that cost little, and of latents the up-projection alone, as published recipes of experts do (Megatron-Bridge,
/// scripts/performance).
std::vector<RecomputeParts> StrategySpace::parts_again() const {
  const Architecture& arch = train_->architecture;
  const bool open = axes_[StrategyAxis::recompute].any && train_->work.open_recipe && arch.moe &&
                    !train_->work.options.recompute_parts.any();
  if (!open) {
    return {};
  }
  RecomputeParts all;
  RecomputeParts latents;
  for (const RecomputePart part : train_->software.recompute_parts) {
    const bool of_latents = part == RecomputePart::mla_up_proj;
    if (part == RecomputePart::core_attn || (of_latents && !arch.mla)) {
      continue;
    }
    all.add(part);
    if (of_latents) {
      latents.add(part);
    }
  }
  std::vector<RecomputeParts> sets;
  if (latents.any()) {
    sets.push_back(latents);
  }
  if (all.any() && !(all == latents)) {
    sets.push_back(all);
  }
  return sets;
}

std::vector<LayerSettings> StrategySpace::forms(const LayerRanks& l, std::int64_t pp) const {
  const Strategy own_form = own(l.tp, l.cp, l.ep, pp);
  const AxisValues& sequence = axes_[StrategyAxis::sequence_parallel];
  const std::vector<std::int32_t> sequences =
      l.tp == 1 ? std::vector<std::int32_t>{0} : values_or(sequence, own_form.sequence_parallel ? 1 : 0, [] {
        return std::vector<std::int32_t>{0, 1};
      });
  const std::vector<std::int32_t> modes =
      values_or(axes_[StrategyAxis::recompute], static_cast<std::int32_t>(base_.recompute), [&] {
        // Forming scores again is nothing where fused attention keeps none.
        const bool nothing =
            train_->software.selective == SelectiveRecompute::core_attention && train_->work.options.flash_attention;
        return nothing ? std::vector<std::int32_t>{0, 2} : std::vector<std::int32_t>{0, 1, 2};
      });
  const std::int64_t in_stage = (train_->architecture.layers + pp - 1) / std::max<std::int64_t>(1, pp);
  const std::vector<std::int32_t> blocks = values_or(axes_[StrategyAxis::recompute_block], base_.recompute_block, [&] {
    std::vector<std::int32_t> all{1, 2, 3, 4, 5, 6, 8};
    std::erase_if(all, [&](std::int32_t b) { return b > 1 && b > in_stage; });
    return all;
  });
  const auto own_context = static_cast<std::int32_t>(own_form.cp_form);
  const std::vector<std::int32_t> contexts =
      l.cp == 1 ? std::vector<std::int32_t>{own_context} : values_or(axes_[StrategyAxis::cp_form], own_context, [&] {
        std::vector<std::int32_t> all{0, 1, 2};
        std::erase_if(all, [&](std::int32_t form) {
          return form == static_cast<std::int32_t>(CpForm::ulysses) &&
                 !divides(std::int64_t{l.tp} * l.cp, train_->architecture.heads);
        });
        return all;
      });
  const std::vector<std::int32_t> overlaps =
      l.ep == 1 ? std::vector<std::int32_t>{0}
                : values_or(axes_[StrategyAxis::overlap_experts], own_form.overlap_experts ? 1 : 0, [&] {
                    return overlap_is_in_the_way(*train_, l.tp, l.cp) ? std::vector<std::int32_t>{0}
                                                                      : std::vector<std::int32_t>{0, 1};
                  });
  const std::vector<std::int32_t> graphs = values_or(axes_[StrategyAxis::cuda_graphs], base_.cuda_graphs ? 1 : 0, [] {
    return std::vector<std::int32_t>{0, 1};
  });
  const std::vector<RecomputeParts> parts = parts_again();
  std::vector<LayerSettings> all;
  for (const std::int32_t s : sequences) {
    for (const std::int32_t mode : modes) {
      for (const std::int32_t context : contexts) {
        for (const std::int32_t overlap : overlaps) {
          for (const std::int32_t graph : graphs) {
            LayerSettings form{s == 1,
                               static_cast<Recompute>(mode),
                               {},
                               base_.recompute_block,
                               static_cast<CpForm>(context),
                               overlap == 1,
                               graph == 1};
            if (form.recompute != Recompute::full) {
              all.push_back(form);
            }
            for (std::size_t p = 0; form.recompute == Recompute::none && p < parts.size(); ++p) {
              all.push_back(form);
              all.back().recompute = Recompute::selective;
              all.back().parts = parts[p];
            }
            for (std::size_t b = 0; form.recompute == Recompute::full && b < blocks.size(); ++b) {
              form.recompute_block = static_cast<std::uint8_t>(blocks[b]);
              all.push_back(form);
            }
          }
        }
      }
    }
  }
  return all;
}

/// Any: all data ranks, or those of one, two, four ... nodes.
std::vector<std::uint16_t> StrategySpace::shards(const LayerRanks& l, std::int64_t dp) const {
  const std::int64_t data = dp * l.cp;
  std::vector<std::int32_t> all = values_or(axes_[StrategyAxis::shard_ranks], base_.shard_ranks, [&] {
    std::vector<std::int32_t> groups{0};
    for (std::int64_t span = train_->gpus_per_node; span > 0 && span / l.tp < std::min<std::int64_t>(data, 65536);
         span *= 2) {
      const std::int64_t ranks = span / l.tp;
      if (ranks > 1 && divides(l.tp, span) && divides(ranks, data)) {
        groups.push_back(static_cast<std::int32_t>(ranks));
      }
    }
    return groups;
  });
  return narrowed<std::uint16_t>(all);
}

std::vector<ScheduleForm> StrategySpace::schedules(std::int64_t pp) const {
  const std::int64_t layers = train_->architecture.layers;
  if (pp == 1 && (!axes_[StrategyAxis::vpp].free || axes_[StrategyAxis::vpp].any)) {
    return {{axes_[StrategyAxis::schedule].free ? usual_schedule : base_.schedule, base_.vpp}};
  }
  const std::vector<std::int32_t> orders =
      values_or(axes_[StrategyAxis::schedule], static_cast<std::int32_t>(base_.schedule), [&] {
        std::vector<std::int32_t> known;
        for (const Schedule schedule : train_->software.schedules) {
          known.push_back(static_cast<std::int32_t>(schedule));
        }
        return known;
      });
  std::vector<ScheduleForm> all;
  for (const std::int32_t order : orders) {
    const auto schedule = static_cast<Schedule>(order);
    if (!model_of(schedule).takes_chunks()) {
      all.push_back({schedule, axes_[StrategyAxis::vpp].free ? std::uint16_t{1} : base_.vpp});
      continue;
    }
    for (const std::int32_t chunks : values_or(axes_[StrategyAxis::vpp], base_.vpp, [&] {
           std::vector<std::int32_t> whole;
           for (std::int64_t v = 1; v <= std::max<std::int64_t>(1, layers / pp); ++v) {
             if (v == 1 || divides(pp * v, layers) || divides(pp * v, layers + 2)) {
               whole.push_back(static_cast<std::int32_t>(v));
             }
           }
           return whole;
         })) {
      all.push_back({schedule, static_cast<std::uint16_t>(chunks)});
    }
  }
  return all;
}

std::vector<std::uint8_t> StrategySpace::zeros(std::int64_t pp) const {
  return narrowed<std::uint8_t>(values_or(axes_[StrategyAxis::zero], base_.zero, [&] {
    std::vector<std::int32_t> all{0, 1, 2, 3};
    std::erase_if(all, [&](std::int32_t z) { return !train_->software.shards(z, pp > 1); });
    return all;
  }));
}

/// Whether an order listed before puts the same ranks side by side: axes of one rank have no place.
bool StrategySpace::order_repeats(const LayerRanks& l, std::int64_t pp, std::int64_t dp) const {
  const auto several = [&](Axis axis) {
    return (axis == Axis::tp && l.tp > 1) || (axis == Axis::cp && l.cp > 1) || (axis == Axis::dp && dp > 1) ||
           (axis == Axis::pp && pp > 1);
  };
  const auto places = [&](RankOrder order) {
    AxisOrder kept;
    kept.axes.fill(Axis::count);
    const auto& axes = axes_of(order).axes;
    std::copy_if(axes.begin(), axes.end(), kept.axes.begin(), several);
    return kept.axes;
  };
  for (const RankOrder before : orders()) {
    if (before == l.order) {
      return false;
    }
    if (places(before) == places(l.order)) {
      return true;
    }
  }
  return false;
}

/// Takes overlapped experts out of the stages where the software runs them with some schedules or forms alone, and adds
/// stages of what it runs.
void StrategySpace::add_overlapped(Stages& stages, std::vector<Stages>& all) const {
  const MemoryStack& software = train_->software;
  const auto overlaps = [](const LayerSettings& form) { return form.overlap_experts; };
  if (software.overlap_keeps_inputs) {
    std::erase_if(stages.forms,
                  [&](const LayerSettings& form) { return overlaps(form) && form.recompute == Recompute::full; });
  }
  if (!software.overlap_needs_chunks || stages.pp == 1) {
    return;
  }
  Stages overlapped = stages;
  std::erase_if(stages.forms, overlaps);
  std::erase_if(overlapped.forms, [&](const LayerSettings& form) { return !overlaps(form); });
  std::erase_if(overlapped.schedules,
                [](const ScheduleForm& form) { return form.vpp == 1 && !model_of(form.schedule).overlaps_passes; });
  // Layers that no number of chunks divides are laid out chunk by chunk where the software takes any number.
  const auto& forms = overlapped.schedules;
  const bool chunks_known = std::any_of(forms.begin(), forms.end(), [](const ScheduleForm& f) { return f.vpp > 1; });
  const bool interleaves = std::any_of(stages.schedules.begin(), stages.schedules.end(),
                                       [](const ScheduleForm& f) { return f.schedule == usual_schedule; });
  if (!chunks_known && interleaves && axes_[StrategyAxis::vpp].any && software.defaults.balances_stages) {
    for (const std::uint16_t chunks : {std::uint16_t{2}, std::uint16_t{4}}) {
      if (std::int64_t{chunks} * stages.pp <= train_->architecture.layers) {
        overlapped.schedules.push_back({usual_schedule, chunks});
      }
    }
  }
  if (!overlapped.forms.empty() && !overlapped.schedules.empty()) {
    all.push_back(std::move(overlapped));
  }
}

std::vector<Stages> StrategySpace::stages(const LayerRanks& l) const {
  const std::int64_t ranks = std::int64_t{l.tp} * l.cp;
  const bool open_experts = axes_[StrategyAxis::ep].any || axes_[StrategyAxis::etp].any;
  std::vector<Stages> all;
  for (const std::int32_t pp : pipeline_stages(ranks)) {
    Stages s;
    s.pp = static_cast<std::uint16_t>(pp);
    s.dp = own(l.tp, l.cp, l.ep, pp).dp;
    if (order_repeats(l, pp, s.dp)) {
      continue;
    }
    if (open_experts && !divides(std::int64_t{l.ep} * l.etp, ranks * s.dp)) {
      continue;
    }
    s.micro_batches = micro_batches(s.dp);
    s.forms = forms(l, pp);
    s.shard_ranks = shards(l, s.dp);
    s.schedules = schedules(pp);
    s.zeros = zeros(pp);
    if (axes_[StrategyAxis::overlap_experts].any) {
      add_overlapped(s, all);
    }
    all.push_back(std::move(s));
  }
  return all;
}

std::uint64_t StrategySpace::strategies() const {
  std::uint64_t sum = 0;
  for (const LayerRanks& layout : layouts_) {
    for (const Stages& s : stages(layout)) {
      sum += s.strategies();
    }
  }
  return sum;
}

Strategy StrategySpace::strategy(const LayerRanks& l,
                                 const Stages& stages,
                                 std::uint16_t micro_batch,
                                 const LayerSettings& form,
                                 std::uint16_t shard_ranks,
                                 const ScheduleForm& schedule,
                                 std::uint8_t zero) const noexcept {
  Strategy s = base_;
  s.order = l.order;
  s.tp = l.tp;
  s.cp = l.cp;
  s.ep = l.ep;
  s.etp = l.etp;
  // Without ranks to divide there is nothing to state.
  const bool undivided = l.tp == 1 && l.ep == 1 && l.etp == 1;
  s.etp_open =
      !train_->stated.strategy.etp && (!axes_[StrategyAxis::etp].free || !train_->architecture.moe || undivided);
  s.pp = stages.pp;
  s.local_batch = s.pp > 1 ? base_.local_batch : std::uint16_t{0};
  s.dp = stages.dp;
  s.micro_batch = micro_batch;
  s.sequence_parallel = form.sequence_parallel;
  s.recompute = form.recompute;
  s.parts = form.parts;
  s.recompute_block = form.recompute_block;
  s.cp_form = form.cp_form;
  s.overlap_experts = form.overlap_experts;
  s.cuda_graphs = form.cuda_graphs;
  s.shard_ranks = shard_ranks;
  s.schedule = schedule.schedule;
  s.vpp = schedule.vpp;
  s.zero = zero;
  return s;
}

int kinds_of_parallelism(const Strategy& s) noexcept {
  return (s.tp > 1 ? 1 : 0) + (s.pp > 1 ? 1 : 0) + (s.cp > 1 ? 1 : 0) + (s.ep > 1 ? 1 : 0);
}

}  // namespace headroom
