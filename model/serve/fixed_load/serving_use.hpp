// SPDX-License-Identifier: Apache-2.0
// What GPUs do while a replica serves a fixed load, for their power.
#pragma once

#include <headroom/model/power/power.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>

namespace headroom {

/// The iteration of decodes that a load runs most of the time.
[[nodiscard]] IterationMix decode_mix(const SteadyLoad& load) noexcept;

/// Shares of such an iteration, whose `terms` have the engine's numbers in, by kernels, exchanges between ranks, and
/// gaps and host; and the FLOP of `state`'s decodes and prompts over the peak, which one stage of the replica does.
[[nodiscard]] ServingUse serving_use(const IterationTerms& terms,
                                     const LeastIteration& least,
                                     const SteadyLoad& load,
                                     const SteadyState& state) noexcept;

/// While iterations of one kind run back to back: shares of `terms`, and the FLOP of `mix` over the peak in their time.
[[nodiscard]] ServingUse phase_use(const IterationTerms& terms,
                                   const LeastIteration& least,
                                   const IterationMix& mix) noexcept;

}  // namespace headroom
