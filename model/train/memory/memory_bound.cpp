// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/memory_bound.hpp>

#include <algorithm>
#include <limits>
#include <span>

namespace headroom {
namespace {

/// Layers that the first rank holds at least: folded pipelines give up a layer at either end to embedding and head.
double fewest_first_layers(const CompiledMemory& c, std::int64_t stages) noexcept {
  return real(std::max<std::int64_t>(0, std::min(c.layers / stages, (c.layers + 2) / stages - 2)));
}

/// States of some layers of a rank.
class StateBound {
 public:
  StateBound(const CompiledMemory& c, const Strategy& s) noexcept : bytes_{c.states}, zero_{s.zero} {
    bytes_.gradients = c.stack.gradients_are_late ? 0.0 : bytes_.gradients;
    bytes_.optimizer = c.options.offload_optimizer ? 0.0 : (1.0 - c.paged_share) * bytes_.optimizer;
    bytes_ = c.options.offload_parameters ? StateBytes{0.0, 0.0, 0.0} : bytes_;
    const double all = real(s.dp) * s.cp;
    ranks_ = s.shard_ranks > 0 ? std::min(all, real(s.shard_ranks)) : all;
    expert_ranks_ = std::max(1.0, ranks_ * s.tp / (real(s.ep) * s.etp));
  }
  [[nodiscard]] Bytes of(double layers, const MemoryTable::LayerShare& layer) const noexcept {
    return state_memory(layers * layer.dense, bytes_, zero_, ranks_).total() +
           state_memory(layers * layer.experts, bytes_, zero_, expert_ranks_).total();
  }

 private:
  StateBytes bytes_;
  int zero_;
  double ranks_ = 1.0, expert_ranks_ = 1.0;
};

/// Mean over the stages of min(m, p - i), micro-batches in flight under 1F1B; no other schedule has fewer.
double mean_in_flight(double micro_batches, double stages) noexcept {
  const double m = std::min(micro_batches, stages);
  return m * (stages - m) / stages + m * (m + 1.0) / (2.0 * stages);
}

/// The same times the layers of each stage, where the ends hold other numbers than the stages between them.
double mean_layers_in_flight(const CompiledMemory& c, const Strategy& s, double micro_batches) noexcept {
  const double stages = s.pp;
  const double first = s.first_stage_layers;
  const double last = s.last_stage_layers;
  const double each = s.pp > 2 ? (real(c.layers) - first - last) / (stages - 2.0) : 0.0;
  const double all = stages * mean_in_flight(micro_batches, stages);
  const double at_first = std::min(micro_batches, stages);
  const double at_last = std::min(micro_batches, 1.0);
  return (first * at_first + each * (all - at_first - at_last) + last * at_last) / stages;
}

}  // namespace

LeastHolding least_holding(const CompiledMemory& c, const MemoryTable& t, const Strategy& s, double of_step) noexcept {
  const double micro_batches = micro_batches_a_flush(s, of_step);
  LeastHolding held;
  if ((states_stages(s) && !s.stages_open) || c.options.method != Method::full) {
    return held;
  }
  held.known = true;
  const bool full = s.recompute == Recompute::full;
  const bool away = c.options.offload_activations || (full && c.options.offload_checkpoints);
  const double kept = away ? 0.0 : full ? t.saved_input / s.recompute_block : t.least_activations;
  held.first = s.stages_open ? s.first_stage_layers : fewest_first_layers(c, s.pp);
  held.at_first = Bytes{std::min(micro_batches, real(s.pp)) * held.first * kept};
  // The fullest stage holds no less than the mean one.
  held.mean = real(c.layers) / real(s.pp);
  const double crossed =
      s.stages_open ? mean_layers_in_flight(c, s, micro_batches) : mean_in_flight(micro_batches, s.pp) * held.mean;
  held.at_mean = Bytes{crossed * kept};
  return held;
}

Bytes least_device(const CompiledMemory& c,
                   const MemoryTable& t,
                   const Strategy& s,
                   std::span<const LeastHolding> splits) noexcept {
  constexpr double rounding = 1.0 - 1e-9;
  const StateBound states{c, s};
  Bytes least{std::numeric_limits<double>::infinity()};
  Bytes mean_states{};
  double mean = 0.0;  // layers that they are of: the splits of one strategy share them
  for (const LeastHolding& held : splits) {
    if (!held.known) {
      return {};
    }
    if (held.mean != mean) {
      mean = held.mean;
      mean_states = states.of(mean, t.mean);
    }
    const Bytes at_first = states.of(held.first, t.least) + held.at_first;
    const Bytes at_mean = mean_states + held.at_mean;
    least = std::min(least, rounding * ((1.0 + c.stack.interval) * std::max(at_first, at_mean) + c.stack.outside -
                                        c.stack.communicators));
  }
  return least;
}

Bytes least_device(const CompiledMemory& c, const MemoryTable& t, const Strategy& s, double micro_batches) noexcept {
  const LeastHolding held = least_holding(c, t, s, micro_batches);
  return least_device(c, t, s, {&held, 1});
}

}  // namespace headroom
