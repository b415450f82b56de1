// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/goodput/interval.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::goodput {

Seconds young_interval(Seconds stall, Seconds mtbf) noexcept {
  return Seconds{std::sqrt(2.0 * stall.raw() * mtbf.raw())};
}

Seconds daly_interval(Seconds stall, Seconds mtbf) noexcept {
  if (stall >= 2.0 * mtbf) {
    return mtbf;
  }
  const double half = stall / (2.0 * mtbf);
  return young_interval(stall, mtbf) * (1.0 + std::sqrt(half) / 3.0 + half / 9.0) - stall;
}

double WallFactor::value() const noexcept {
  return mtbf / interval * std::exp((recovery + lag) / mtbf) * std::expm1((interval + stall) / mtbf);
}

Seconds best_interval(const CheckpointTime& save, Seconds mtbf) noexcept {
  const Seconds write = save.mode == SaveMode::asynchronous ? save.write : Seconds{};
  const double stall = save.stall(write) / mtbf;
  double low = 0.0, high = 1.0;  // bounds of tau / M; the slope changes sign once between them
  while (high - low > 1e-12 * high) {
    const double middle = (low + high) / 2.0;
    (std::log1p(-middle) + middle + stall > 0.0 ? low : high) = middle;
  }
  return std::max(high * mtbf, write);
}

}  // namespace headroom::goodput
