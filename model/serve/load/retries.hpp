// SPDX-License-Identifier: Apache-2.0
// What clients that try again make of a load.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>

namespace headroom {

/// Clients send again what failed, after `backoff`, twice that, four times that, ...
struct RetryPolicy {
  std::int64_t attempts = 0;  ///< of a request at most, the first included; 0: until it succeeds
  Seconds backoff{};          ///< before the second attempt
};

struct RetryLoad {
  Hertz offered{};        ///< attempts per second
  double attempts = 1.0;  ///< of a request, mean
  double lost = 0.0;      ///< share of the requests whose last attempt failed
  Seconds backoff{};      ///< mean wait of a request between its attempts; infinite when doubling outgrows success
  /// More is offered than the capacity: what is beyond it fails too and comes again, so that the load feeds itself.
  bool storm = false;
  Hertz settles{};  ///< what the attempts grow to: the offered load, or with a storm that of requests which all fail at
                    ///< the rate of the overload; infinite without a limit of attempts
};

/// `rate` requests/s of which each attempt fails with `failure` (0 to 1, both excluded for 1): attempts are geometric,
/// offered = rate / (1 - p), or rate (1 - p^k) / (1 - p) with at most k; the mean wait is the sum of p^i 2^(i-1)
/// backoff. In a storm the failure is what the capacity leaves over, p = 1 - (1 - failure) capacity / offered, until
/// offered holds still. Precondition: rate >= 0, 0 <= failure < 1, capacity > 0, attempts >= 0.
[[nodiscard]] RetryLoad retry_load(Hertz rate, double failure, Hertz capacity, const RetryPolicy& policy = {}) noexcept;

/// The least share of failing attempts at which they are more than the capacity; 1 where none is: attempts are limited.
/// Without a limit 1 - rate / capacity. Precondition: rate >= 0, capacity > 0.
[[nodiscard]] double storm_failure(Hertz rate, Hertz capacity, const RetryPolicy& policy = {}) noexcept;

}  // namespace headroom
