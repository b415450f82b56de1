// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/screen/screened_size.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

bool screen_keeps(const ServingScreen& s, std::span<const TailObjective> objectives) noexcept {
  if (s.overloaded) {
    return false;
  }
  for (const TailObjective& one : objectives) {
    const TimeDistribution& times = one.metric == LatencyMetric::ttft   ? s.ttft
                                    : one.metric == LatencyMetric::tpot ? s.tpot
                                                                        : s.e2e;
    const double reached = one.quantile == TailObjective::mean ? times.mean() : times.quantile(one.quantile);
    if (reached > one.limit.raw()) {  // false for NaN: answers of one token have no time between tokens
      return false;
    }
  }
  return true;
}

}  // namespace

ServingFleet fleet_of(const ServingFleet& unit, std::int64_t units) noexcept {
  ServingFleet fleet = unit;
  fleet.pool.replicas *= units;
  if (fleet.prefill) {
    fleet.prefill->replicas *= units;
  }
  return fleet;
}

ScreenedSize screened_size(const ServingFleet& unit,
                           const ScreenTraffic& traffic,
                           std::span<const TailObjective> objectives,
                           std::int64_t most_units) noexcept {
  ScreenedSize out;
  const double least = std::floor(traffic.rate / screened_saturation(unit, traffic)) + 1.0;
  if (!(least <= real(most_units))) {
    return out;
  }
  // Searches upwards in growing steps from the smallest number that is not overloaded, then bisects.
  std::int64_t fails = static_cast<std::int64_t>(least) - 1;
  std::int64_t keeps = 0;
  for (std::int64_t step = 1; keeps == 0; step *= 2) {
    const std::int64_t next = std::min(fails + step, most_units);
    ServingScreen s = screen(fleet_of(unit, next), traffic);
    if (screen_keeps(s, objectives)) {
      keeps = next;
      out.screen = s;
    } else if (next == most_units) {
      return out;
    } else {
      fails = next;
    }
  }
  while (keeps - fails > 1) {
    const std::int64_t middle = fails + (keeps - fails) / 2;
    ServingScreen s = screen(fleet_of(unit, middle), traffic);
    if (screen_keeps(s, objectives)) {
      keeps = middle;
      out.screen = s;
    } else {
      fails = middle;
    }
  }
  out.units = keeps;
  return out;
}

}  // namespace headroom
