// SPDX-License-Identifier: Apache-2.0
// What moves a kernel under the roofline (Williams et al. 2009): to its roof, and the roof itself, each cure priced.
#pragma once

#include <headroom/model/kernels/curve.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// A kernel as a profiler sees it, on a device's roofs.
struct RoofKernel {
  Flops work{};   ///< of the whole kernel, > 0
  Bytes moved{};  ///< with memory, > 0
  Seconds time{};
  KernelDevice limits;  ///< peak of the units that it may use in its format, and the memory
};

enum class RoofCure : std::uint8_t {
  best_measured,   ///< as near to its roof as measured kernels of that kind come
  faster_units,    ///< the tensor path in place of the vector units
  half_the_bytes,  ///< one pass less over the operands: fused with a neighbour
  narrower,        ///< operands of half the bits: half the bytes, and the rate of that format
  cached,          ///< operands that fit in L2 and are found there
};

/// The kernel after a cure.
struct CuredKernel {
  RoofCure cure{};
  Flops work{};
  Bytes moved{};
  Seconds time{};
  double ratio = 1.0;  ///< time after over before
};

/// What cures may count on; a rate of nought, or a share, is one that nobody has.
struct RoofChances {
  double reachable = 1.0;          ///< share of the roof above it that measured kernels of its kind reach
  FlopsPerSecond tensor_peak{};    ///< of the tensor path, where the kernel runs on vector units
  FlopsPerSecond narrower_peak{};  ///< of the format of half the bits
  BytesPerSecond l2{};             ///< bandwidth of L2
};

/// The share of the roof above it that a kernel reaches: min(P, I B) of Williams et al. 2009, over its rate.
[[nodiscard]] double share_of_roof(const RoofKernel& kernel) noexcept;

/// The cures that apply, in the order to try: first nearer to the roof, then the roof raised, each alone. A raised roof
/// is reached by the share that the kernel reaches now, so that no cure counts another's gain. Those that would change
/// nothing are left out.
[[nodiscard]] std::vector<CuredKernel> roof_cures(const RoofKernel& kernel, const RoofChances& chances);

}  // namespace headroom
