// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/model/serve/screen/length_strata.hpp>

#include <array>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

using Bounds = std::array<double, strata_count + 1>;

const Bounds& normal_bounds() noexcept {
  static const Bounds bounds = [] {
    Bounds z{};
    for (std::size_t i = 0; i < z.size(); ++i) {
      z[i] = normal_quantile(strata_bounds[i]);
    }
    return z;
  }();
  return bounds;
}

}  // namespace

Strata lognormal_strata(const Moments& law) noexcept {
  Strata means{};
  means.fill(law.mean);
  if (!(law.cv > 1e-6)) {
    return means;
  }
  const double sigma = std::sqrt(std::log1p(law.cv * law.cv));
  const Bounds& z = normal_bounds();
  double below = 0.0;
  for (std::size_t i = 0; i < strata_count; ++i) {
    const double up = normal_share(z[i + 1] - sigma);
    means[i] = law.mean * (up - below) / stratum_weight(i);
    below = up;
  }
  return means;
}

const Strata& exponential_strata() noexcept {
  static const Strata strata = [] {
    Strata means{};
    // The integral of x e^-x beyond a is (a + 1) e^-a.
    const auto beyond = [](double p) { return p >= 1.0 ? 0.0 : (1.0 - std::log1p(-p)) * (1.0 - p); };
    for (std::size_t i = 0; i < strata_count; ++i) {
      means[i] = (beyond(strata_bounds[i]) - beyond(strata_bounds[i + 1])) / stratum_weight(i);
    }
    return means;
  }();
  return strata;
}

}  // namespace headroom
