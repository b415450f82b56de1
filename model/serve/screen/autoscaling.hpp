// SPDX-License-Identifier: Apache-2.0
// A fleet that follows its load, compared with a fleet sized for the peak.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/rate_curve.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/screen/screened_size.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A rate in requests/s, linear between points in order of time, constant before the first and after the last. Two
/// points at one time are a jump.
struct LoadCurve {
  Seconds period{86400.0};
  std::vector<RateCurve::Point> points;  ///< points with `rate` in requests/s
  /// The period comes again and again; false: it comes once, after a long time at its first rate.
  bool repeats = true;
  [[nodiscard]] Hertz at(Seconds time) const noexcept;  ///< rate at a time in [0, period]
  [[nodiscard]] Hertz peak() const noexcept;
};

/// The fewest units that keep the objectives at a rate.
struct KnownNeed {
  Hertz rate{};
  std::int64_t units = 0;
};

/// How units are added and removed. At each step the autoscaler wants enough units to put the rate of the previous step
/// at `target` of their saturation.
struct ScalingPolicy {
  /// Desired rate over saturation.
  double target = 0.7;
  /// Time from ordering a unit to its first request: machine, image, weights, graphs. From one period on, no ordered
  /// unit is ready in time.
  Seconds cold_start{};
  Seconds keep{};  ///< time that a unit stays after it was last wanted; from one period on: for ever
  /// Bounds on the number of units.
  std::int64_t least = 1;
  std::int64_t most = 4096;
  /// Units of the fixed fleet; 0: as many as the screen finds for the peak, or `most` if it finds none.
  std::int64_t fixed = 0;
  /// Rates whose least number of units is known better than by the screen, in order of rate, units not falling.
  std::vector<KnownNeed> known;
  double most_load = 1.0;  ///< the floor's units are loaded below this share of their saturation, in (0, 1]
  Seconds step{};          ///< time between two decisions; 0: a 1,440th of the period
};

/// Every problem of the question, with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(const LoadCurve& curve, const ScalingPolicy& policy);

struct ScaledFleet {
  double gpu_hours = 0.0;   ///< GPU-hours of units that serve or start
  double missed = 0.0;      ///< share (0 to 1) of the requests that miss an objective
  double overloaded = 0.0;  ///< share (0 to 1) of the requests that arrive while the fleet is slower than its load
  Seconds longest_wait{};   ///< longest wait behind a backlog, beyond the waits of a steady state
  std::int64_t least = 0, most = 0;  ///< smallest and largest number of serving units
  std::vector<std::int64_t> units;   ///< serving units by step
  std::vector<std::int64_t> paid;    ///< units that serve or start, by step
};

struct Autoscaling {
  ScaledFleet fixed;  ///< a constant number of units
  ScaledFleet scaled;
  /// In each step the fewest units that keep the objectives at its rate, as if units came and went at once: what no
  /// autoscaler goes below. Absent: no number of units keeps them in some step.
  std::optional<ScaledFleet> floor;
  Seconds step{};           ///< length of a step
  double requests = 0.0;    ///< requests per period
  Hertz unit_saturation{};  ///< saturation of one unit by the screen
  /// Whether the scaled fleet takes fewer GPU-hours than the fixed one.
  [[nodiscard]] bool saves() const noexcept { return scaled.gpu_hours < fixed.gpu_hours; }
  /// Hours of the fixed fleet that the scaled one does not pay, and hours that the scaled fleet pays beyond the fixed
  /// one, each summed over the steps. The saving is the first minus the second; it may be negative.
  [[nodiscard]] double freed_gpu_hours() const noexcept;
  [[nodiscard]] double above_gpu_hours() const noexcept;
};

/// One of many equal periods, so that the fleet starts in the state in which the previous period ended; of a curve that
/// does not repeat the fleet that its first rate asks for. Each step's
/// rate is treated as steady; the share of missed requests is the screen's, with independent objectives. Load beyond
/// saturation waits in a backlog (a fluid queue: Newell 1982, chapter 2); requests that wait there longer than an
/// objective on first tokens or answers miss it. `traffic.rate` is ignored; the gaps keep their cv. `gpus` is the
/// number per unit. Precondition: all problems() are empty.
[[nodiscard]] Autoscaling autoscale(const ServingFleet& unit,
                                    std::int64_t gpus,
                                    const ScreenTraffic& traffic,
                                    std::span<const TailObjective> objectives,
                                    const LoadCurve& curve,
                                    const ScalingPolicy& policy);

/// The least units at a rate: the screen's with a load below `most_load`, no fewer than are known at a lower rate and
/// no more than at a higher one, and no fewer than `least`; 0: no number keeps the objectives. Never falls as the rate
/// rises. Precondition: as of autoscale().
[[nodiscard]] std::int64_t least_units(const ServingFleet& unit,
                                       const ScreenTraffic& traffic,
                                       std::span<const TailObjective> objectives,
                                       const ScalingPolicy& policy,
                                       Hertz rate);

/// A rise of the load that is over before a unit ordered at its beginning serves.
struct LateBurst {
  Seconds at{}, length{};    ///< the time in which the units that serve at its begin are fewer than the floor
  Hertz before{}, peak{};    ///< rates before it, and the highest in it
  std::int64_t serving = 0;  ///< units that serve when it begins
  std::int64_t needed = 0;   ///< the floor's most in it
  double requests = 0.0;     ///< that come while too few serve
};
/// Of the rises no longer than the cold start the one in which most requests come. Nothing where there is none, or no
/// floor.
[[nodiscard]] std::optional<LateBurst> worst_late_burst(const Autoscaling& followed,
                                                        const LoadCurve& curve,
                                                        Seconds cold_start);

struct BurstNeed {
  std::int64_t before = 0;    ///< units that serve the rate outside the burst
  std::int64_t warm = 0;      ///< units that must be running when the burst starts
  std::int64_t peak = 0;      ///< units that serve the burst itself
  bool none_in_time = false;  ///< a unit ordered at the start of the burst is ready only after its end
};
/// Until ordered units are ready, T = min(cold start, length), a backlog of (peak - w r) T builds up. w warm units of
/// rate r keep its wait, backlog / (w r), within `wait`: w = ceil(peak T / (r (T + wait))), at most ceil(peak / r).
/// Precondition: rates and length above 0, factor >= 1.
[[nodiscard]] BurstNeed burst_need(
    Hertz base, double factor, Seconds length, Seconds cold_start, Hertz unit_rate, Seconds wait = {}) noexcept;

}  // namespace headroom
