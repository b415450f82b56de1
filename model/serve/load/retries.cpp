// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/load/retries.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headroom {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// Mean attempts per request.
double attempts_of(double failure, std::int64_t most) noexcept {
  if (most == 0) {
    return failure < 1.0 ? 1.0 / (1.0 - failure) : endless;
  }
  return failure < 1.0 ? (1.0 - std::pow(failure, real(most))) / (1.0 - failure) : real(most);
}

/// Sum of p^i 2^(i-1) over i = 1, 2, ... below `most`.
double doublings(double failure, std::int64_t most) noexcept {
  const double ratio = 2.0 * failure;
  if (most == 0) {
    return ratio < 1.0 ? failure / (1.0 - ratio) : endless;
  }
  const double terms = real(most - 1);
  return std::abs(ratio - 1.0) < 1e-12 ? failure * terms : failure * (1.0 - std::pow(ratio, terms)) / (1.0 - ratio);
}

/// Attempts per second if everything beyond the capacity fails as well.
double settled(double rate, double failure, double capacity, double offered, std::int64_t most) noexcept {
  if (offered <= capacity) {
    return offered;
  }
  if (most == 0) {
    return endless;  // more requests arrive than are answered, and none is given up
  }
  for (int i = 0; i < 1000; ++i) {
    const double fails = 1.0 - (1.0 - failure) * std::min(1.0, capacity / offered);
    const double next = rate * attempts_of(fails, most);
    if (std::abs(next - offered) <= 1e-9 * offered) {
      break;
    }
    offered = next;
  }
  return offered;
}

}  // namespace

RetryLoad retry_load(Hertz rate, double failure, Hertz capacity, const RetryPolicy& policy) noexcept {
  RetryLoad load;
  load.attempts = attempts_of(failure, policy.attempts);
  load.offered = rate * load.attempts;
  load.lost = policy.attempts == 0 ? 0.0 : std::pow(failure, real(policy.attempts));
  load.backoff = policy.backoff.raw() > 0.0 ? policy.backoff * doublings(failure, policy.attempts) : Seconds{};
  load.storm = load.offered > capacity;
  load.settles = Hertz{settled(rate.raw(), failure, capacity.raw(), load.offered.raw(), policy.attempts)};
  return load;
}

double storm_failure(Hertz rate, Hertz capacity, const RetryPolicy& policy) noexcept {
  double calm = 0.0;
  double storm = 1.0;
  for (int i = 0; i < 60; ++i) {
    const double failure = 0.5 * (calm + storm);
    (rate * attempts_of(failure, policy.attempts) > capacity ? storm : calm) = failure;
  }
  return rate > capacity ? 0.0 : storm;
}

}  // namespace headroom
