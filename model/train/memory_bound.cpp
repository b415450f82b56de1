// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory_bound.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Layers that the first rank holds at least: folded pipelines give up a layer at either end to embedding and head.
double fewest_first_layers(const CompiledMemory& c, std::int64_t stages) noexcept {
  return real(std::max<std::int64_t>(0, std::min(c.layers / stages, (c.layers + 2) / stages - 2)));
}

struct LeanestKind {
  double dense = 1e300, experts = 1e300, activations = 1e300;
};

LeanestKind leanest_kind(const CompiledMemory& c, const MemoryTable& t) noexcept {
  LeanestKind least;
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    least.dense = std::min(least.dense, t.kinds[k].dense);
    least.experts = std::min(least.experts, t.kinds[k].experts);
    least.activations = std::min(least.activations, t.kinds[k].activations);
  }
  return least;
}

}  // namespace

Bytes least_device(const CompiledMemory& c, const MemoryTable& t, const Strategy& s, double micro_batches) noexcept {
  constexpr double rounding = 1.0 - 1e-9;
  if (s.first_stage_layers > 0 || s.last_stage_layers > 0 || c.options.method != Method::full) {
    return {};
  }
  const double layers = fewest_first_layers(c, s.pp);
  const LeanestKind kind = leanest_kind(c, t);
  StateBytes bytes = c.states;
  bytes.gradients = c.stack.gradients_are_late ? 0.0 : bytes.gradients;
  bytes.optimizer = c.options.offload_optimizer ? 0.0 : bytes.optimizer;
  const double all = real(s.dp) * s.cp;
  const double ranks = s.shard_ranks > 0 ? std::min(all, real(s.shard_ranks)) : all;
  const double expert_ranks = std::max(1.0, ranks * s.tp / (real(s.ep) * s.etp));
  const Bytes states = state_memory(layers * kind.dense, bytes, s.zero, ranks).total() +
                       state_memory(layers * kind.experts, bytes, s.zero, expert_ranks).total();
  const bool full = s.recompute == Recompute::full;
  const bool away = c.options.offload_activations || (full && c.options.offload_checkpoints);
  const double in_flight = std::min(micro_batches, real(s.pp));
  const double pass = full ? layers / s.recompute_block * t.saved_input : layers * kind.activations;
  const Bytes activations{away ? 0.0 : in_flight * pass};
  return rounding * ((1.0 + c.stack.interval) * (states + activations) + c.stack.outside - c.stack.communicators);
}

}  // namespace headroom
