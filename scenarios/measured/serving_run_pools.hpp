// SPDX-License-Identifier: Apache-2.0
// The replicas of a simulated run: one pool, or prefilling and decoding workers apart.
#pragma once

#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/measured/serving_place.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>

namespace headroom {

/// Gives a question of decoding workers the prefilling ones of its row and the transfer between them; false, with the
/// reason in `refusal`, where the row does not state them.
[[nodiscard]] bool add_prefilling(const ServingConfiguration& run,
                                  ServingPlaces& places,
                                  SimulatedQuestion& question,
                                  RowPrediction& refusal);

/// The fleet of a run with its client's facts. The engines must outlive it; `prefill`: nullptr where one pool does
/// both.
[[nodiscard]] ServingFleet run_fleet(const SimulatedQuestion& question,
                                     const SimulatedReplica& engine,
                                     const IterationStack& stack,
                                     const SimulatedReplica* prefill);

}  // namespace headroom
