// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/load/arrivals.hpp>

#include <cmath>

namespace headroom {

std::vector<std::string> problems(const ArrivalProcess& process) {
  std::vector<std::string> found;
  if (!(process.rate.raw() > 0.0)) {
    found.push_back("a rate of " + std::to_string(process.rate.raw()) +
                    " requests per second: it must be above 0 (infinite for all at once)");
  }
  if (process.gaps == GapShape::gamma && !(process.cv > 0.0 && process.cv <= 100.0)) {
    found.push_back("gamma gaps with a cv of " + std::to_string(process.cv) +
                    ": it must be above 0 and at most 100; equal gaps are `constant`");
  }
  if (process.gaps == GapShape::weibull && !(process.shape >= 0.1 && process.shape <= 100.0)) {
    found.push_back("Weibull gaps with a shape of " + std::to_string(process.shape) +
                    ": it must be from 0.1 to 100; equal gaps are `constant`");
  }
  return found;
}

Arrivals::Arrivals(const ArrivalProcess& process, std::uint64_t seed) : process_{process}, random_{seed, 1} {
  // Mean of a Weibull gap: scale x Gamma(1 + 1 / shape).
  weibull_scale_ = 1.0 / std::tgamma(1.0 + 1.0 / process.shape);
}

double Arrivals::gap() noexcept {
  switch (process_.gaps) {
    case GapShape::poisson: return random_.exponential();
    case GapShape::gamma: {
      const double variance = process_.cv * process_.cv;
      return random_.gamma(1.0 / variance) * variance;
    }
    case GapShape::weibull: return weibull_scale_ * std::pow(random_.exponential(), 1.0 / process_.shape);
    case GapShape::constant: break;
  }
  return 1.0;
}

Picoseconds Arrivals::next() noexcept {
  if (std::isinf(process_.rate.raw())) {
    return Picoseconds{0};
  }
  mass_ += gap() / process_.rate.raw();
  return picoseconds(process_.curve.when(Seconds{mass_}).raw());
}

}  // namespace headroom
