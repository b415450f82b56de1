// SPDX-License-Identifier: Apache-2.0
// Divergence of a warp: it runs every path that one of its threads takes, with the others idle (CUDA C++ Programming
// Guide, SIMT architecture).
#pragma once

#include <span>

namespace headroom {

/// A branch as warps meet it. Times are relative: of one path against another.
struct Divergence {
  double any_taker = 0.0;  ///< probability that a warp has at least one thread on the first path; 1 for stated paths
  double mixed = 0.0;      ///< probability that its threads part
  double time = 0.0;       ///< mean of a warp
  double converged = 0.0;  ///< mean, were the threads sorted so that each warp takes one path
  /// Useful over issued thread time, and time after over before of sorting.
  [[nodiscard]] double efficiency() const noexcept { return converged / time; }
};

/// Every warp has threads on each of the paths, as many on each: time = sum l, converged = mean l, so that n paths give
/// 1 / n whatever their lengths are. Precondition: `lengths` is not empty and its sum is positive.
[[nodiscard]] Divergence divergence_of_paths(std::span<const double> lengths) noexcept;

/// Each of w threads takes the first path with probability p, independently; else the second. With P(taken) = 1 -
/// (1-p)^w and P(other) = 1 - p^w:
/// @code
/// mixed     = P(taken) + P(other) - 1 = 1 - (1-p)^w - p^w
/// time      = P(taken) l1 + P(other) l2
/// converged = p l1 + (1-p) l2
/// @endcode
/// Precondition: 0 <= p <= 1, w >= 1, a length is positive that can be met.
[[nodiscard]] Divergence divergence_of_threads(double p, double w, double taken, double other) noexcept;

}  // namespace headroom
