// SPDX-License-Identifier: Apache-2.0
// Writes a recorded simulation as a trace for Perfetto and chrome://tracing.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>

#include <string>

namespace headroom {

/// Trace-event JSON (Google, "Trace Event Format") with times in microseconds from the start of the simulation:
/// @code
/// - one process per replica, prefill pool first; thread i is its lane i, with complete events "X" for iterations:
///   "prefill", "decode" or "mixed"; "decode x 17" for 17 iterations without a change between them
/// - counters "C" of each engine: sequences in the iteration, KV blocks in use, waiting requests
/// - a nestable async event "b"/"e" for each request in each process it visits, with its phases inside; requests that
///   are not routed yet, and queues that all replicas share, are in a process "router"
/// @endcode
/// `otherData` states how much was kept and how much was left out. `load` is the simulated load.
[[nodiscard]] std::string simulation_trace(const SimulationRecord& record, const RequestLoad& load);

}  // namespace headroom
