// SPDX-License-Identifier: Apache-2.0
// The one process between clients and engine: requests pass it one after the other, and so do answers.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <vector>

namespace headroom {

/// A server of one process that works first come, first served: a request takes `intake` of it, and what the engine
/// gives back waits for the requests that came before (a single-server queue with a constant service; Kleinrock 1975,
/// chapter 1). Work for each token is the engine's `sequence` (engine_terms.hpp). Of open loads; in closed ones no more
/// requests are under way than clients, and the queue is left out.
class FrontEnd {
 public:
  /// The load must outlive it.
  FrontEnd(const RequestLoad& load, Picoseconds intake);
  /// The load as the engine meets it.
  [[nodiscard]] RequestLoad behind() const;
  /// Times as the client sees them: arrivals are its own again.
  void show(FleetResult& result) const noexcept;

 private:
  [[nodiscard]] Picoseconds seen(Picoseconds time) const noexcept;
  const RequestLoad& load_;
  std::vector<Picoseconds> done_;  ///< when each request has passed; empty: nobody waits
};

}  // namespace headroom
