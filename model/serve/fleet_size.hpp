// SPDX-License-Identifier: Apache-2.0
// How many replicas keep what was promised: the screen brackets, the simulation decides.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/request_load.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A promise: the share `quantile` of the requests stays within `limit`. Requests that are refused never do.
struct TailObjective {
  enum class Metric : std::uint8_t { ttft, tpot, e2e };
  Metric metric = Metric::ttft;
  double quantile = 0.95;
  Seconds limit{};
  std::int32_t service_class = -1;  ///< index of the traffic class that it holds for; -1: all together
};

/// What a fleet has to answer, and how closely that is looked at.
struct FleetDemand {
  std::vector<TrafficClass> classes;
  std::vector<TailObjective> objectives;
  std::int64_t spare = 0;          ///< units beyond those that the load needs; 1: N + 1
  std::int64_t requests = 20'000;  ///< counted in a simulation; more where a quantile asks for it: 200 / (1 - q)
  std::uint64_t seed = 1;
  std::int64_t most_units = 4096;
  bool knee = true;  ///< look for the knee too
};

/// What makes the question meaningless, each with its value and the way out; empty when it can be answered.
[[nodiscard]] std::vector<std::string> problems(const ServingFleet& unit, const FleetDemand& demand);

/// An objective that no fleet of such units keeps: a request that has a unit for itself misses it.
struct ObjectiveMiss {
  std::size_t objective = 0;
  Seconds alone{};  ///< the quantile of requests that never meet another
};

/// Units as the screen counts them, without a simulation.
struct ScreenedSize {
  std::int64_t units = 0;  ///< 0: not up to `most_units`
  ServingScreen screen;    ///< of that many, when there are
};
/// Objectives of single classes are taken of all requests together: the screen knows no classes. About ten screens, no
/// heap. Precondition: no problems().
[[nodiscard]] ScreenedSize screened_size(const ServingFleet& unit,
                                         const ScreenTraffic& traffic,
                                         std::span<const TailObjective> objectives,
                                         std::int64_t most_units = 4096) noexcept;

/// A fleet of `units` copies of a unit: its replicas, and its prefill replicas, so many times.
[[nodiscard]] ServingFleet fleet_of(const ServingFleet& unit, std::int64_t units) noexcept;

/// One simulation of the demand.
struct FleetTrial {
  bool keeps = false;            ///< every objective, and answers as fast as is asked
  std::vector<Seconds> reached;  ///< by objective, the quantile; infinite when that many were refused
  ServingMetrics metrics;
};

/// The least number of units that keeps the objectives: with one unit less the same requests miss one, or overload it.
struct FleetSize {
  std::int64_t units = 0;      ///< 0: none, see `miss`; nullopt there means more than `most_units`
  std::int64_t deployed = 0;   ///< with the spare ones
  std::int64_t screened = 0;   ///< what the screen said
  FleetTrial trial;            ///< of `units`
  Hertz rate{}, saturation{};  ///< asked, and the most that `units` answer
  double utilisation = 0.0;    ///< rate over saturation
  Hertz knee{};                ///< the most requests/s at which `units` keep the objectives, within 2 %
  std::optional<ObjectiveMiss> miss;
  std::int64_t simulations = 0;
};

/// Sizes fleets of one unit for one demand: requests are drawn once, so that every fleet gets the same.
class FleetSizer {
 public:
  /// Tables of the unit must outlive it. Precondition: no problems().
  FleetSizer(const ServingFleet& unit, const FleetDemand& demand);

  [[nodiscard]] FleetSize size();
  /// The demand on so many units, its gaps `faster` times as short. Nothing keeps a promise on no unit.
  [[nodiscard]] FleetTrial attempt(std::int64_t units, double faster = 1.0);
  /// Of one unit.
  [[nodiscard]] Hertz saturation() const noexcept { return saturation_; }

 private:
  void draw_requests();
  /// Looks for a miss of requests that are alone; their mean stay in seconds.
  double find_alone(const RequestLoad& load, const FleetResult& result);
  [[nodiscard]] std::int64_t search(std::int64_t guess, FleetTrial& found);
  [[nodiscard]] double knee(std::int64_t units);
  [[nodiscard]] bool kept(const FleetTrial& trial) const noexcept;
  void reach(const RequestLoad& load, const FleetResult& result, FleetTrial& trial) const;

  ServingFleet unit_;
  FleetDemand demand_;
  ScreenTraffic traffic_;
  Hertz saturation_{};
  ScreenedSize screened_;
  std::optional<ObjectiveMiss> miss_;
  std::int64_t warm_up_ = 0, counted_ = 0;
  RequestLoad load_;      ///< warm-up, the counted, and those that keep the fleet busy behind them
  RequestLoad measured_;  ///< without the last
  std::int64_t simulations_ = 0;
};

}  // namespace headroom
