// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/post_training/post_train_plan.hpp>

namespace headroom {

std::vector<PhaseMemory> phase_memory(const PostTrainQuestion& q, const PostTrainWay& way) {
  std::vector<PhaseMemory> all;
  const bool apart = way.flow.placement == PostTrainPlacement::split;
  const MemoryBreakdown& trainer = way.trainer.memory;
  const Bytes engine = way.engine_memory.total(), engine_weights = way.engine_memory[MemoryTerm::weights];
  // Between its phases a trainer keeps weights and states. A pass without a backward one adds what a layer needs and
  // the logits; gradients and saved activations are training's.
  const Bytes kept = trainer[MemoryTerm::weights] + trainer[MemoryTerm::optimizer] + trainer[MemoryTerm::framework];
  const Bytes pass =
      kept + trainer[MemoryTerm::logits] + trainer[MemoryTerm::workspace] + trainer[MemoryTerm::gather_buffers];
  const Bytes reference = q.reference ? trainer[MemoryTerm::weights] : Bytes{};
  const Bytes waiting = q.reference && !q.software.reference_on_host ? reference : Bytes{};
  const auto on = [&](Phase phase, bool samples, Bytes of_engine, Bytes of_policy, Bytes of_reference) {
    all.push_back({phase, samples, of_engine, of_policy, of_reference});
  };
  for (std::size_t i = 0; i < phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (way.phases.of[i] <= Seconds{} || phase == Phase::other || phase == Phase::swap) {
      continue;
    }
    const bool samples = phase == Phase::rollout;
    const bool sends = phase == Phase::sync;
    if (way.engine_tp > 0 && (apart || samples || sends)) {
      on(phase, true, samples || apart ? engine : engine_weights, !apart && sends ? kept : Bytes{}, Bytes{});
    }
    if (apart || !(samples || sends)) {
      const bool waits = samples || sends;
      on(phase, false, Bytes{},
         phase == Phase::train ? trainer.total()
         : waits               ? kept
                               : pass,
         phase == Phase::reference ? reference : waiting);
    }
  }
  return all;
}

}  // namespace headroom
