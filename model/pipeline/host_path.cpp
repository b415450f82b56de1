// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/pipeline/host_path.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

Seconds copy_time(Bytes bytes, double copies, Seconds each, BytesPerSecond link) noexcept {
  return copies * each + bytes / link;
}

SharedLink shared_link(double gpus, double links, double busy) noexcept {
  const double others = std::ceil(gpus / std::min(links, gpus)) - 1.0;
  SharedLink shared;
  shared.at_once = 1.0 + others;
  const double p = std::clamp(busy, 0.0, 1.0);
  if (p >= 1.0) {
    shared.p99 = shared.at_once;
    return shared;
  }
  double term = std::pow(1.0 - p, others), below = term;  // none of the others
  double beside = 0.0;
  while (below < 0.99 && beside < others) {
    term *= (others - beside) / (beside + 1.0) * p / (1.0 - p);
    beside += 1.0;
    below += term;
  }
  shared.p99 = 1.0 + beside;
  return shared;
}

BytesPerSecond CachedReads::over(double epochs) const noexcept {
  return BytesPerSecond{epochs / (1.0 / first.raw() + (epochs - 1.0) / later.raw())};
}

CachedReads cached_reads(Bytes set, Bytes cache, BytesPerSecond storage, BytesPerSecond cached) noexcept {
  CachedReads reads;
  reads.hit = std::min(1.0, cache / set);
  reads.first = storage;
  const double time = (cached > BytesPerSecond{} ? reads.hit / cached.raw() : 0.0) + (1.0 - reads.hit) / storage.raw();
  reads.later = BytesPerSecond{time > 0.0 ? 1.0 / time : std::numeric_limits<double>::infinity()};
  return reads;
}

Bytes host_memory_traffic(Bytes stored, Bytes fed, bool worked_on, bool direct) noexcept {
  return direct ? Bytes{} : (worked_on ? 2.0 : 1.0) * (stored + fed);
}

}  // namespace headroom
