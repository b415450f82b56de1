// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
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

double cv_of(const LengthLaw& law) noexcept {
  switch (law.shape) {
    case LengthShape::fixed: return 0.0;
    case LengthShape::uniform: return (1.0 - law.low) / std::sqrt(3.0);
    case LengthShape::lognormal: return law.cv;
    case LengthShape::exponential: break;
  }
  return 1.0;
}

double longest_of(const LengthLaw& law, double draws) noexcept {
  const double most = static_cast<double>(law.most);
  if (!(draws > 2.0)) {
    return std::min(law.mean, most);
  }
  switch (law.shape) {
    case LengthShape::fixed: return std::min(law.mean, most);
    case LengthShape::uniform: return std::min(law.mean * (2.0 - law.low), most);
    case LengthShape::lognormal: {
      const double variance = std::log1p(law.cv * law.cv);
      return std::min(law.mean * std::exp(std::sqrt(variance) * normal_quantile(1.0 - 1.0 / draws) - 0.5 * variance),
                      most);
    }
    case LengthShape::exponential: break;
  }
  return std::min(law.mean * std::log(draws), most);
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
