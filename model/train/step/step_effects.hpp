// SPDX-License-Identifier: Apache-2.0
// What sets a step apart from its ranks' mean: gradients reduced beside the backward pass bucket by bucket, and the
// slowest of many ranks.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <span>

namespace headroom {

/// What remains of a reduction after the backward pass. Bucket i holds `shares[i]` of the gradients and is ready when
/// so much of the pass has run; buckets are reduced one after the other as they come (Li et al. 2020, PyTorch
/// Distributed, section 3.2.3). `shares` add up to 1.
[[nodiscard]] Seconds exposed_reduction(Seconds backward, Seconds reduction, std::span<const double> shares) noexcept;

/// Mean of the slowest of `ranks` whose times are normal and independent: mean + sigma z((n - 3/8) / (n + 1/4)) (Blom
/// 1958). The mean for one rank.
[[nodiscard]] Seconds slowest_of(std::int64_t ranks, Seconds mean, Seconds sigma) noexcept;

}  // namespace headroom
