// SPDX-License-Identifier: Apache-2.0
// The single process between clients and engine, which requests and answers pass one after another.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <vector>

namespace headroom {

/// A single server, first come, first served: each request takes `intake`, and answers wait for requests that came
/// before them (a queue with constant service time; Kleinrock 1975, chapter 1). Before it, the event loop takes `parse`
/// for the chat template of each request: a pass does so for all that wait, before any of them gets on, because their
/// texts become tokens in other threads. Work per token is the engine's
/// `sequence` (engine_terms.hpp). Only for open loads; closed loads, whose clients bound the requests in flight, skip
/// it.
class FrontEnd {
 public:
  /// The load must outlive the object.
  FrontEnd(const RequestLoad& load, Picoseconds intake, Picoseconds parse = Picoseconds{0});
  /// The load with the arrivals that the engine sees.
  [[nodiscard]] RequestLoad behind() const;
  /// Converts times to those that the client sees, with its own arrivals.
  void show(FleetResult& result) const noexcept;

 private:
  [[nodiscard]] Picoseconds seen(Picoseconds time) const noexcept;
  const RequestLoad& load_;
  std::vector<Picoseconds> done_;  ///< time at which each request has passed; empty: no queue
};

}  // namespace headroom
