// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/saturation.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace headroom {

Hertz finish_rate(const FleetResult& result) {
  std::vector<Picoseconds> finishes;
  for (const RequestTimes& times : result.requests) {
    if (times.finished != never) {
      finishes.push_back(times.finished);
    }
  }
  if (finishes.empty()) {
    return Hertz{0.0};
  }
  std::sort(finishes.begin(), finishes.end());
  const std::size_t first = finishes.size() / 5;
  const std::size_t last = finishes.size() - 1 - first;
  if (finishes[last] == finishes[first]) {
    return Hertz{static_cast<double>(finishes.size()) / seconds_of(finishes.back())};
  }
  return Hertz{static_cast<double>(last - first) / seconds_of(finishes[last] - finishes[first])};
}

Hertz saturation(const ServingFleet& fleet,
                 std::span<const TrafficClass> classes,
                 std::int64_t count,
                 std::uint64_t seed) {
  RequestLoad load = open_load(classes, count, seed);
  for (Request& request : load.requests) {
    request.arrival = Picoseconds{0};
  }
  return finish_rate(simulate(fleet, load));
}

}  // namespace headroom
