// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/traffic/availability.hpp>

#include <cmath>

namespace headroom {

double FleetFailures::up(std::int64_t gpus) const noexcept {
  double rate = 0.0;
  rate += mtbf_per_gpu ? real(gpus) / mtbf_per_gpu->raw() : 0.0;
  rate += preemptions_every ? 1.0 / preemptions_every->raw() : 0.0;
  return 1.0 / (1.0 + rate * back.raw());
}

double enough_up(std::int64_t needed, std::int64_t all, double up) noexcept {
  if (up >= 1.0) {
    return all >= needed ? 1.0 : 0.0;
  }
  double sum = 0.0;
  for (std::int64_t k = needed; k <= all; ++k) {
    const double ways = std::lgamma(real(all) + 1.0) - std::lgamma(real(k) + 1.0) - std::lgamma(real(all - k) + 1.0);
    sum += std::exp(ways + real(k) * std::log(up) + real(all - k) * std::log1p(-up));
  }
  return sum;
}

std::int64_t spare_for(std::int64_t needed, double up, double availability) noexcept {
  std::int64_t spare = 0;
  while (enough_up(needed, needed + spare, up) < availability) {
    ++spare;
  }
  return spare;
}

}  // namespace headroom
