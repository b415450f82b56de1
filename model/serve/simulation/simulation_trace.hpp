// SPDX-License-Identifier: Apache-2.0
// A recorded simulation as a trace that Perfetto and chrome://tracing open.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/simulation_record.hpp>

#include <string>

namespace headroom {

/// Trace-event JSON (Google, "Trace Event Format"); times in microseconds from the start of the simulation.
/// - a process for each replica, of a prefill pool first; thread i is its i-th lane, with complete events "X" for
///   iterations: "prefill", "decode" or "mixed", "decode x 17" where 17 iterations follow each other without a change;
/// - counters "C" of each engine: sequences in the iteration, KV blocks in use, requests that wait;
/// - a nestable async event "b" and "e" for each request in each process that it visits, its phases inside; those that
///   are nowhere yet, and queues that all replicas share, are in a process "router".
/// `otherData` says how much was kept and how much was left out. `load` is the one that was simulated.
[[nodiscard]] std::string simulation_trace(const SimulationRecord& record, const RequestLoad& load);

}  // namespace headroom
