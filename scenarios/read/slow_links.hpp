// SPDX-License-Identifier: Apache-2.0
// Links that carry KV caches: what they may be stated as, and how slow a request's cache allows them to be.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/keys/bounds.hpp>

namespace headroom {

struct ServeScenario;

/// What may be stated of a link.
inline constexpr Range<BytesPerSecond> link_rates{slowest_link, fastest_link};

/// Adds a problem at each stated link, of `[fleet.prefill]` and of the tiers of `[serving.kv_offload]`, over which the
/// cache of the longest prompt takes longer than can be simulated.
void refuse_slow_links(ConfigTable& root, const ServeScenario& serve);

}  // namespace headroom
