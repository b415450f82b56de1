// SPDX-License-Identifier: Apache-2.0
// A fleet that follows its load, against one that is sized for the peak.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/load/rate_curve.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/screen/screened_size.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A rate over one period in requests/s, straight between points by time; before the first and after the last it is
/// theirs. Two points at one time are a jump.
struct LoadCurve {
  Seconds period{86400.0};
  std::vector<RateCurve::Point> points;                 ///< `rate` in requests/s
  [[nodiscard]] Hertz at(Seconds time) const noexcept;  ///< from 0 to the period
  [[nodiscard]] Hertz peak() const noexcept;
};

/// How units come and go. At each step the autoscaler wants as many units as put the rate it sees, that of the step
/// before, at `target` of their saturation.
struct ScalingPolicy {
  double target = 0.7;
  /// From the order of a unit to its first request: machine, image, weights, graphs. Of a period and more: no unit that
  /// is ordered comes for what it was ordered for.
  Seconds cold_start{};
  Seconds keep{};  ///< that a unit stays after it was last wanted; of a period and more: for ever
  std::int64_t least = 1;
  std::int64_t most = 4096;
  std::int64_t fixed = 0;  ///< units of the fleet that does not follow; 0: as many as the screen finds for the peak,
                           ///< where it finds none `most`
  Seconds step{};          ///< between two looks; 0: a 1,440th of the period
};

/// What makes the question meaningless, each with its value and the way out.
[[nodiscard]] std::vector<std::string> problems(const LoadCurve& curve, const ScalingPolicy& policy);

/// One way to serve a period.
struct ScaledFleet {
  double gpu_hours = 0.0;            ///< of units that serve or start; GPUs of a unit times hours
  double missed = 0.0;               ///< share of the requests that miss an objective
  double overloaded = 0.0;           ///< share of the requests that come while the fleet is slower than its load
  Seconds longest_wait{};            ///< behind a backlog, beyond the waits of a steady state
  std::int64_t least = 0, most = 0;  ///< units that serve
  std::vector<std::int64_t> units;   ///< that serve, by step
  std::vector<std::int64_t> paid;    ///< that serve or start, by step
};

struct Autoscaling {
  ScaledFleet fixed;  ///< the same units all the time
  ScaledFleet scaled;
  double requests = 0.0;    ///< of the period
  Hertz unit_saturation{};  ///< as the screen says
  /// The fleet that follows takes fewer GPU-hours than the fixed one.
  [[nodiscard]] bool saves() const noexcept { return scaled.gpu_hours < fixed.gpu_hours; }
  /// Step by step: hours of the fixed fleet that the one that follows does not pay for, and hours that it pays for
  /// beyond the fixed fleet. What it saves is the first less the second, below 0 where it takes more.
  [[nodiscard]] double freed_gpu_hours() const noexcept;
  [[nodiscard]] double above_gpu_hours() const noexcept;
};

/// One of many equal periods, so that the fleet starts as the one before left it. Step by step each rate is taken as
/// steady: the share of the requests that miss is the screen's (objectives as if independent of each other). What comes
/// beyond saturation waits in a backlog of its own (a fluid queue: Newell 1982, chapter 2); who waits there longer than
/// an objective on first tokens or answers allows misses it. `traffic.rate` is not read; gaps keep their cv.
/// `gpus` of a unit. Precondition: no problems() of all.
[[nodiscard]] Autoscaling autoscale(const ServingFleet& unit,
                                    std::int64_t gpus,
                                    const ScreenTraffic& traffic,
                                    std::span<const TailObjective> objectives,
                                    const LoadCurve& curve,
                                    const ScalingPolicy& policy);

/// Units that must be warm before a burst.
struct BurstNeed {
  std::int64_t before = 0;    ///< that serve the rate outside the burst
  std::int64_t warm = 0;      ///< that must be there when it begins
  std::int64_t peak = 0;      ///< that serve the burst itself
  bool none_in_time = false;  ///< a unit ordered when the burst begins is there only after its end
};
/// Until ordered units come, T = min(cold start, length), a backlog of (peak - w r) T grows; w warm units of rate r
/// keep its wait, backlog / (w r), within `wait`: w = ceil(peak T / (r (T + wait))), and never more than ceil(peak /
/// r). Precondition: rates and length above 0, factor >= 1.
[[nodiscard]] BurstNeed burst_need(
    Hertz base, double factor, Seconds length, Seconds cold_start, Hertz unit_rate, Seconds wait = {}) noexcept;

}  // namespace headroom
