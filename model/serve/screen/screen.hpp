// SPDX-License-Identifier: Apache-2.0
// A fleet under open load in closed form: an approximation of the simulation in about a tenth of a millisecond, for
// searches whose result the simulation confirms.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/screen/time_distribution.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <span>

namespace headroom {

/// Moments of an open load with a constant rate.
struct ScreenTraffic {
  Hertz rate{1.0};
  double arrival_cv = 1.0;  ///< standard deviation over mean of the gaps between requests; 1: Poisson
  Moments prompt, output;   ///< tokens of prompts and of outputs
  /// Share (0 to 1) of the prompts' tokens that a prefix cache holds.
  double cached_share = 0.0;
};

/// Moments of several classes, weighted by their rates. Lengths from a trace use its sample; rate curves are ignored.
/// Precondition: problems() is empty, and the rate is finite.
[[nodiscard]] ScreenTraffic screen_traffic(std::span<const TrafficClass> classes);

struct PoolScreen {
  Hertz saturation{};        ///< most requests/s that the pool answers
  double utilisation = 0.0;  ///< rate over saturation
  double busy = 0.0;         ///< share of the time in which an engine iterates
  double batch = 0.0;        ///< mean number of decoding sequences per engine
  double most = 0.0;         ///< most sequences per engine, limited by places and KV blocks
  Seconds iteration{};       ///< mean length of an iteration
  double wait_share = 0.0;   ///< share of the requests that wait for a place
  Seconds wait{};            ///< mean wait of those that wait
};

struct ServingScreen {
  bool overloaded = false;   ///< the rate exceeds the saturation; no times are given
  Hertz saturation{};        ///< most requests/s that the fleet answers
  double utilisation = 0.0;  ///< rate over saturation
  PoolScreen pool;
  PoolScreen prefill;  ///< prefill pool of a disaggregated fleet
  TimeDistribution ttft, tpot, e2e;
};

/// Saturation and times of a fleet. Precondition: problems() of fleet and traffic are empty.
[[nodiscard]] ServingScreen screen(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept;
/// Only the saturation of a fleet, requests/s.
[[nodiscard]] Hertz screened_saturation(const ServingFleet& fleet, const ScreenTraffic& traffic) noexcept;

}  // namespace headroom
