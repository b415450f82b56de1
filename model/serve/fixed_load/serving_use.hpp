// SPDX-License-Identifier: Apache-2.0
// What GPUs do while a replica serves a fixed load, for their power.
#pragma once

#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>

namespace headroom {

/// The iteration of decodes that a load runs most of the time.
[[nodiscard]] IterationMix decode_mix(const SteadyLoad& load) noexcept;

/// Bytes of weights and cache that decodes of `state` read, FLOP of its decodes and prompts, as one stage of the
/// replica reads and does them, at most at the datasheet's rates; and the share of experts with block scales in an
/// iteration, whose `terms` have the engine's numbers in.
[[nodiscard]] ServingUse serving_use(const IterationTerms& terms,
                                     const LeastIteration& least,
                                     const SteadyLoad& load,
                                     const SteadyState& state) noexcept;

/// The same while iterations of one kind, of `mix`, run back to back.
[[nodiscard]] ServingUse phase_use(const IterationTerms& terms,
                                   const LeastIteration& least,
                                   const IterationMix& mix) noexcept;

}  // namespace headroom
