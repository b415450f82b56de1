// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/lengths.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom {

std::vector<std::string> problems(const LengthLaw& law, std::string_view name) {
  std::vector<std::string> found;
  const std::string of{name};
  if (!(law.mean >= 1.0) || law.mean > static_cast<double>(law.most)) {
    found.push_back(of + ": a mean of " + std::to_string(law.mean) + " tokens; it must be from 1 to " +
                    std::to_string(law.most));
  }
  if (law.shape == LengthShape::uniform && !(law.low >= 0.0 && law.low <= 1.0)) {
    found.push_back(of + ": lengths from " + std::to_string(law.low) + " of the mean; it must be from 0 to 1");
  }
  if (law.shape == LengthShape::lognormal && !(law.cv >= 0.0 && law.cv <= 100.0)) {
    found.push_back(of + ": a cv of " + std::to_string(law.cv) + "; it must be from 0 to 100");
  }
  if (law.most < 1 || law.most > std::numeric_limits<std::int32_t>::max() / 2) {
    found.push_back(of + ": at most " + std::to_string(law.most) + " tokens; it must be from 1 to 2^30");
  }
  return found;
}

std::int32_t draw(const LengthLaw& law, RandomStream& random) noexcept {
  double tokens = law.mean;
  switch (law.shape) {
    case LengthShape::fixed: break;
    case LengthShape::uniform: tokens = law.mean * (law.low + 2.0 * (1.0 - law.low) * random.uniform()); break;
    case LengthShape::lognormal: {
      // mean = exp(mu + sigma^2 / 2), cv^2 = exp(sigma^2) - 1
      const double variance = std::log1p(law.cv * law.cv);
      tokens = law.mean * std::exp(std::sqrt(variance) * random.normal() - 0.5 * variance);
      break;
    }
    case LengthShape::exponential: tokens = law.mean * random.exponential(); break;
  }
  return static_cast<std::int32_t>(std::clamp(std::floor(tokens + 0.5), 1.0, static_cast<double>(law.most)));
}

}  // namespace headroom
