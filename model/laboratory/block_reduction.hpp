// SPDX-License-Identifier: Apache-2.0
// A sum over the threads of a block: through shared memory, or by shuffles within warps.
#pragma once

namespace headroom {

/// What one sum over a block costs.
struct BlockReduction {
  double steps = 0.0;            ///< one after another: a load or shuffle with its addition
  double barriers = 0.0;         ///< of the whole block
  double shared_accesses = 0.0;  ///< warp-wide loads and stores of shared memory, all warps together
  double shuffles = 0.0;         ///< warp-wide, all warps together
};

/// The tree of Harris 2007 (Optimizing Parallel Reduction in CUDA): each of log2(threads) steps halves the numbers in
/// shared memory behind a barrier. `threads` is a power of two of at least one warp.
[[nodiscard]] BlockReduction shared_reduction(double threads, double warp) noexcept;

/// Warps first sum by shuffles, log2(warp) of them, and leave one number each; the first warp sums those the same way
/// (Luitjens 2014, Faster Parallel Reductions on Kepler). One store and one load of shared memory, one barrier.
[[nodiscard]] BlockReduction shuffle_reduction(double threads, double warp) noexcept;

}  // namespace headroom
