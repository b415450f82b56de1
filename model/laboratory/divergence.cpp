// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/divergence.hpp>

#include <cmath>
#include <numeric>

namespace headroom {

Divergence divergence_of_paths(std::span<const double> lengths) noexcept {
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  return {1.0, lengths.size() > 1 ? 1.0 : 0.0, sum, sum / static_cast<double>(lengths.size())};
}

Divergence divergence_of_threads(double p, double w, double taken, double other) noexcept {
  // 1 - (1-p)^w without the cancellation of small p.
  const double any = p < 1.0 ? -std::expm1(w * std::log1p(-p)) : 1.0;
  const double none = p > 0.0 ? -std::expm1(w * std::log(p)) : 1.0;
  return {any, any + none - 1.0, any * taken + none * other, p * taken + (1.0 - p) * other};
}

}  // namespace headroom
