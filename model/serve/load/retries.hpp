// SPDX-License-Identifier: Apache-2.0
// The effect of retrying clients on a load.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>

namespace headroom {

/// Clients retry failed requests after `backoff`, then twice, four times that, ...
struct RetryPolicy {
  std::int64_t attempts = 0;  ///< most attempts per request, including the first; 0: until it succeeds
  Seconds backoff{};          ///< wait before the second attempt
};

struct RetryLoad {
  Hertz offered{};        ///< attempts per second
  double attempts = 1.0;  ///< mean attempts per request
  double lost = 0.0;      ///< share (0 to 1) of the requests whose last attempt failed
  Seconds backoff{};      ///< mean total wait of a request between its attempts; infinite if doubling outgrows success
  /// More is offered than the capacity; the excess fails and returns, so that the load feeds itself.
  bool storm = false;
  /// Attempts per second that result: `offered`, or in a storm the fixed point; infinite if attempts are unlimited.
  Hertz settles{};
};

/// `rate` requests/s whose attempts each fail with probability p = `failure` (0 <= p < 1). Attempts are geometric:
/// offered = rate / (1 - p), or rate (1 - p^k) / (1 - p) with at most k attempts; the mean wait is the sum of p^i
/// 2^(i-1) backoff. In a storm p = 1 - (1 - failure) capacity / offered, iterated to a fixed point. Precondition: rate
/// >= 0, capacity > 0, attempts >= 0.
[[nodiscard]] RetryLoad retry_load(Hertz rate, double failure, Hertz capacity, const RetryPolicy& policy = {}) noexcept;

/// The smallest probability of failure at which attempts exceed the capacity; 1 if none does because attempts are
/// limited. Without a limit 1 - rate / capacity. Precondition: rate >= 0, capacity > 0.
[[nodiscard]] double storm_failure(Hertz rate, Hertz capacity, const RetryPolicy& policy = {}) noexcept;

}  // namespace headroom
