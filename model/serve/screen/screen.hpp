// SPDX-License-Identifier: Apache-2.0
// A fleet under open load in closed form: what the simulation finds, approximately, in about a tenth of a millisecond.
// For searches; the simulation confirms.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/screen/time_distribution.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <span>

namespace headroom {

/// An open load by its moments. Rates do not change over time.
struct ScreenTraffic {
  Hertz rate{1.0};
  double arrival_cv = 1.0;  ///< of the gaps between requests: standard deviation over mean; 1: Poisson
  Moments prompt, output;   ///< tokens
  double cached_share = 0.0;
};

/// Moments of classes together, by their rates. Lengths of a trace by its sample; a curve of the rate is not read.
/// Precondition: no problems(), a finite rate.
[[nodiscard]] ScreenTraffic screen_traffic(std::span<const TrafficClass> classes);

/// What the screen says of one pool.
struct PoolScreen {
  Hertz saturation{};        ///< requests/s of the pool that it answers at most
  double utilisation = 0.0;  ///< rate over saturation
  double busy = 0.0;         ///< share of the time that an engine iterates
  double batch = 0.0;        ///< sequences that decode, mean over the time, of an engine
  double most = 0.0;         ///< sequences that places and KV blocks of an engine hold
  Seconds iteration{};       ///< mean
  double wait_share = 0.0;   ///< of the requests that wait for a place
  Seconds wait{};            ///< of those, mean
};

struct ServingScreen {
  bool overloaded = false;   ///< no times then
  Hertz saturation{};        ///< of the fleet
  double utilisation = 0.0;  ///< rate over saturation
  PoolScreen pool;
  PoolScreen prefill;  ///< of a disaggregated fleet
  TimeDistribution ttft, tpot, e2e;
};

/// Saturation and times of a fleet. Precondition: no problems() of fleet and traffic.
[[nodiscard]] ServingScreen screen(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept;
/// Its saturation alone.
[[nodiscard]] Hertz screened_saturation(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept;

}  // namespace headroom
