// SPDX-License-Identifier: Apache-2.0
// A distribution cut into strata, over which a formula can be averaged and a tail collected without heap memory.
#pragma once

#include <array>
#include <cstddef>

namespace headroom {

/// Bounds of the strata in probability. The quantiles 0.50, 0.90, 0.95 and 0.99 are medians of strata, so that they can
/// be read off directly if a single law decides.
inline constexpr std::array<double, 17> strata_bounds{0.0,  0.12, 0.24, 0.36, 0.48, 0.52,  0.62,  0.72, 0.80,
                                                      0.86, 0.89, 0.91, 0.94, 0.96, 0.985, 0.995, 1.0};
inline constexpr std::size_t strata_count = strata_bounds.size() - 1;
[[nodiscard]] constexpr double stratum_weight(std::size_t i) noexcept {
  return strata_bounds[i + 1] - strata_bounds[i];
}

/// The mean of each stratum; the weighted sum is exactly the mean of the law.
using Strata = std::array<double, strata_count>;

/// Mean and coefficient of variation of a positive quantity.
struct Moments {
  double mean = 1.0;
  double cv = 0.0;
  [[nodiscard]] constexpr double second() const noexcept { return mean * mean * (1.0 + cv * cv); }
};

/// Strata of a lognormal law: E[X; a < X < b] = m (Phi(z_b - s) - Phi(z_a - s)) with s^2 = ln(1 + cv^2) (Aitchison and
/// Brown 1957, section 2.6).
[[nodiscard]] Strata lognormal_strata(const Moments& law) noexcept;
/// Strata of an exponential law of mean 1.
[[nodiscard]] const Strata& exponential_strata() noexcept;

}  // namespace headroom
