// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/roof_cures.hpp>

#include <algorithm>

namespace headroom {

double share_of_roof(const RoofKernel& kernel) noexcept {
  return roofline(kernel.work, kernel.moved, kernel.limits.peak, kernel.limits.bandwidth).time / kernel.time;
}

std::vector<CuredKernel> roof_cures(const RoofKernel& kernel, const RoofChances& chances) {
  const double share = share_of_roof(kernel);
  const bool memory_bound =
      roofline(kernel.work, kernel.moved, kernel.limits.peak, kernel.limits.bandwidth).memory_bound;
  std::vector<CuredKernel> cures;
  const auto raise = [&](RoofCure cure, Bytes moved, FlopsPerSecond peak, BytesPerSecond bandwidth) {
    constexpr double least_gain = 0.999;
    const Seconds time = roofline(kernel.work, moved, peak, bandwidth).time / share;
    if (time < least_gain * kernel.time) {
      cures.push_back({cure, kernel.work, moved, time, time / kernel.time});
    }
  };
  if (share < chances.reachable) {
    const double ratio = share / chances.reachable;
    cures.push_back({RoofCure::best_measured, kernel.work, kernel.moved, ratio * kernel.time, ratio});
  }
  const BytesPerSecond bandwidth = kernel.limits.bandwidth;
  const FlopsPerSecond peak = kernel.limits.peak;
  if (!memory_bound && chances.tensor_peak > peak) {
    raise(RoofCure::faster_units, kernel.moved, chances.tensor_peak, bandwidth);
  }
  if (memory_bound) {
    raise(RoofCure::half_the_bytes, 0.5 * kernel.moved, peak, bandwidth);
  }
  if (memory_bound || chances.narrower_peak > peak) {
    raise(RoofCure::narrower, 0.5 * kernel.moved, std::max(peak, chances.narrower_peak), bandwidth);
  }
  if (memory_bound && chances.l2 > bandwidth) {
    raise(RoofCure::cached, kernel.moved, peak, chances.l2);
  }
  return cures;
}

}  // namespace headroom
