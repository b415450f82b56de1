// SPDX-License-Identifier: Apache-2.0
// Whether events come at a fixed period.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <span>

namespace headroom {

struct Period {
  Seconds period{};
  double concentration = 0.0;  ///< length of the mean of the events' phases, 0 to 1
  double chance = 1.0;         ///< that events without a period come out as concentrated at any of the periods tried
};

/// The period at which events (in order of time) concentrate most, if it is no chance. The mean direction of their
/// phases is tested against uniform ones (Rayleigh's test; Wilkie 1983, "Rayleigh test for randomness of circular
/// data", equation 4),
/// @code
/// p = exp(sqrt(1 + 4 n + 4 (n^2 - R^2)) - (1 + 2 n)),  R = |sum over events of exp(2 pi i t / P)|
/// @endcode
/// times the independent frequencies that are tried, those at which two thirds to three halves of the periods have an
/// event. Named from six events, a concentration of 0.8 (a jitter of a tenth of the period) and a chance of 1 % on; the
/// lowest of frequencies that do equally well.
[[nodiscard]] std::optional<Period> period_of(std::span<const Seconds> events);

}  // namespace headroom
