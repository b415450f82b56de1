// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/block_reduction.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

BlockReduction shared_reduction(double threads, double warp) noexcept {
  BlockReduction r;
  r.shared_accesses = std::ceil(threads / warp);  // each thread stores its number
  for (double half = threads / 2.0; half >= 1.0; half = std::floor(half / 2.0)) {
    r.steps += 1.0;
    r.barriers += 1.0;
    // Both numbers are loaded and the sum is stored by the warps that still take part.
    r.shared_accesses += 3.0 * std::ceil(half / warp);
  }
  return r;
}

BlockReduction shuffle_reduction(double threads, double warp) noexcept {
  const double warps = std::ceil(threads / warp);
  const double rounds = std::ceil(std::log2(warp));
  BlockReduction r{rounds, 0.0, 0.0, warps * rounds};
  if (warps > 1.0) {
    const double again = std::ceil(std::log2(std::min(warps, warp)));
    r.steps += 1.0 + again;
    r.barriers = 1.0;
    r.shared_accesses = warps + 1.0;
    r.shuffles += again;
  }
  return r;
}

}  // namespace headroom
