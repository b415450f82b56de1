// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/question/stated_training.hpp>

#include <algorithm>
#include <cassert>
#include <type_traits>

namespace headroom {
namespace {

template <class T>
void set(const Change& change, std::optional<T>& field) {
  if constexpr (std::is_same_v<T, bool>) {
    field = std::get<bool>(change.value);
  } else {
    field = static_cast<T>(std::get<std::int64_t>(change.value));
  }
}

/// What a stack keeps of each parameter in a recipe, as far as nobody states it.
StateBytes states_of(const TrainScenario& t) {
  StateBytes states = adam_states(t.work.precision);
  if (states.weights < 4.0) {
    states = t.software.states_of(t.work.precision, t.device.generation);
  }
  states.gradients = t.stated.gradients.value_or(states.gradients);
  if (t.work.options.sent_gradients && t.work.options.sent_gradients->leaves_residuals()) {
    states.buckets += residual_bytes;  // a lone data rank sends nothing
  }
  if (t.stated.optimizer) {
    const double master = std::max(0.0, states.optimizer - moment_bytes(Optimizer::adamw));
    states.optimizer = moment_bytes(*t.stated.optimizer) + master;
    states.apart = moments_apart(*t.stated.optimizer);
  }
  return states;
}

}  // namespace

std::string_view default_software(std::int64_t zero) noexcept {
  return zero >= 3 ? "torchtitan" : "megatron-core-te";
}

Strategy resolve_strategy(const StatedStrategy& stated,
                          const Architecture& architecture,
                          const StackDefaults& software,
                          std::int64_t gpus) noexcept {
  Strategy s;
  for_each_strategy_field([&](const auto& field) { field.of(s) = field.of(stated).value_or(field.of(s)); });
  const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
  s.dp = stated.dp.value_or(static_cast<std::uint32_t>(std::max<std::int64_t>(1, gpus / model_ranks)));
  s.etp_open = !stated.etp;
  s.etp = stated.etp.value_or(architecture.moe ? software.expert_tensor_ranks(s.tp, s.ep) : s.etp);
  s.zero = stated.zero.value_or(static_cast<std::uint8_t>(software.zero));
  s.sequence_parallel = s.tp > 1 && stated.sequence_parallel.value_or(software.sequence_parallel);
  s.cp_form = stated.cp_form.value_or(software.cp_form);
  s.overlap_experts = stated.overlap_experts.value_or(model_of(s.schedule).overlaps_passes && s.ep > 1);
  return s;
}

ExpertHabits expert_habits_of(const TrainScenario& t) {
  return expert_habits_of(t.software, t.work, t.architecture, t.device);
}

bool overlap_is_in_the_way(const TrainScenario& train, int tp, int cp) noexcept {
  const std::string& capability = train.device.compute_capability;
  const bool one_or_several =
      capability.starts_with("7.") || capability.starts_with("8.") || capability.starts_with("9.");
  return train.software.overlap_alone && one_or_several && (tp > 1 || cp > 1);
}

bool runs_overlapped(const TrainScenario& train, const Strategy& s) noexcept {
  const MemoryStack& software = train.software;
  const bool chunked = s.pp == 1 || s.vpp > 1 || model_of(s.schedule).overlaps_passes;
  return (chunked || !software.overlap_needs_chunks) &&
         (s.recompute != Recompute::full || !software.overlap_keeps_inputs) &&
         !overlap_is_in_the_way(train, s.tp, s.cp);
}

Strategy resolve_strategy(const StatedStrategy& stated, const TrainScenario& t) noexcept {
  Strategy s = resolve_strategy(stated, t.architecture, t.software.defaults, t.work.shape.gpus);
  if (!stated.overlap_experts && s.ep > 1 && !s.overlap_experts && runs_overlapped(t, s)) {
    s.overlap_experts = expert_habits_of(t).overlaps;
  }
  return s;
}

void resolve_training(TrainScenario& t) {
  const StatedTraining& stated = t.stated;
  const bool one_card = t.work.options.method != Method::full && t.work.shape.gpus == 1;
  const std::string id = stated.software.value_or(
      std::string{one_card ? one_card_software : default_software(stated.strategy.zero.value_or(0))});
  if (t.software.id.empty() || t.software.id != id) {
    t.software = memory_stacks(*t.data).find(id);
  }
  const StackDefaults& defaults = t.software.defaults;
  t.strategy = resolve_strategy(stated.strategy, t);
  t.micro_batch_open = !stated.strategy.micro_batch;
  t.recompute_open = !stated.strategy.recompute;
  t.work.options.optimizer = stated.optimizer;
  t.work.options.flash_attention = stated.flash_attention.value_or(defaults.flash_attention);
  t.work.options.vocab_multiple = stated.vocab_multiple.value_or(defaults.vocab_multiple);
  t.work.options.offload_checkpoints = !stated.offload && defaults.offload_checkpoints;
  t.work.states = states_of(t);
}

void state(const Change& change, StatedStrategy& s) {
  switch (change.knob) {
    case Knob::order: return set(change, s.order);
    case Knob::tp: return set(change, s.tp);
    case Knob::pp: return set(change, s.pp);
    case Knob::vpp: return set(change, s.vpp);
    case Knob::dp: return set(change, s.dp);
    case Knob::cp: return set(change, s.cp);
    case Knob::ep: return set(change, s.ep);
    case Knob::etp: return set(change, s.etp);
    case Knob::micro_batch: return set(change, s.micro_batch);
    case Knob::recompute: return set(change, s.recompute);
    case Knob::recompute_block: return set(change, s.recompute_block);
    case Knob::zero: return set(change, s.zero);
    case Knob::shard_ranks: return set(change, s.shard_ranks);
    case Knob::sequence_parallel: return set(change, s.sequence_parallel);
    case Knob::cp_form: return set(change, s.cp_form);
    case Knob::schedule: return set(change, s.schedule);
    case Knob::overlap_experts: return set(change, s.overlap_experts);
    case Knob::cuda_graphs: return set(change, s.cuda_graphs);
    default: assert(false);
  }
}

std::optional<TrainScenario> resolved_with(const TrainScenario& train, std::span<const Change> changes) {
  TrainScenario t = train;
  for (const Change& change : changes) {
    if (change.knob == Knob::optimizer) {
      set(change, t.stated.optimizer);
    } else if (change.knob == Knob::offload) {
      const auto& what = std::get<std::vector<Offload>>(change.value);
      const auto holds = [&](Offload one) { return std::find(what.begin(), what.end(), one) != what.end(); };
      t.stated.offload = true;
      t.work.options.offload_optimizer = holds(Offload::optimizer);
      t.work.options.offload_activations = holds(Offload::activations);
      t.work.options.offload_parameters = holds(Offload::parameters);
    } else if (change.knob == Knob::dispatcher) {
      set(change, t.work.options.experts.dispatcher);
    } else if (change.knob == Knob::recompute_parts) {
      t.work.options.recompute_parts = std::get<RecomputeParts>(change.value);
    } else if (change.knob == Knob::method) {
      t.work.options.method = static_cast<Method>(std::get<std::int64_t>(change.value));
    } else if (change.knob == Knob::fused_loss) {
      set(change, t.work.options.fused_loss);
    } else if (change.knob == Knob::seq_len) {
      t.stated.seq_len = t.work.shape.seq_len = std::get<std::int64_t>(change.value);
    } else {
      state(change, t.stated.strategy);
    }
  }
  resolve_training(t);
  if (t.software.id != train.software.id) {
    t.work.measured = {};  // what the user's own runs say is of one software
    t.own = nullptr;
  }
  if (t.architecture.patches) {
    std::vector<std::string> told;
    t.work.shape.seq_len = t.stated.seq_len;
    if (settle_image_tokens(t.architecture, t.strategy, t.work.shape.seq_len, told)) {
      return std::nullopt;
    }
  }
  return t;
}

}  // namespace headroom
