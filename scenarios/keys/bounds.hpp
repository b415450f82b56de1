// SPDX-License-Identifier: Apache-2.0
// Bounds of quantities that several tables of a scenario state.
#pragma once

#include <headroom/core/quantity.hpp>

namespace headroom {

/// What may be stated of a link that carries KV caches: more than nothing, and no more than a machine could hold.
inline constexpr BytesPerSecond slowest_link{1.0};
inline constexpr BytesPerSecond fastest_link{1e18};

/// The time after which a load repeats itself.
inline constexpr Seconds shortest_period{1e-3};
inline constexpr Seconds longest_period{366.0 * 86400.0};

}  // namespace headroom
