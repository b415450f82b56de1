// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/step_effects.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// The upper half of the standard normal's quantiles: Newton's steps on the complementary error function.
double upper_quantile(double p) noexcept {
  constexpr double inverse_root_two_pi = 0.3989422804014327;
  constexpr double root_half = 0.7071067811865476;
  double z = std::sqrt(std::max(0.0, -2.0 * std::log(2.0 * (1.0 - p))));
  for (int step = 0; step < 50; ++step) {
    const double excess = 0.5 * std::erfc(z * root_half) - (1.0 - p);
    const double density = inverse_root_two_pi * std::exp(-0.5 * z * z);
    const double next = z + excess / density;
    if (std::abs(next - z) < 1e-12) {
      return next;
    }
    z = next;
  }
  return z;
}

}  // namespace

Seconds exposed_reduction(Seconds backward, Seconds reduction, std::span<const double> shares) noexcept {
  double ready = 0.0;
  Seconds done{};
  for (const double share : shares) {
    ready += share;
    done = std::max(done, ready * backward) + share * reduction;
  }
  return std::max(Seconds{}, done - backward);
}

Seconds slowest_of(std::int64_t ranks, Seconds mean, Seconds sigma) noexcept {
  if (ranks <= 1) {
    return mean;
  }
  const double n = real(ranks);
  return mean + upper_quantile((n - 0.375) / (n + 0.25)) * sigma;
}

}  // namespace headroom
