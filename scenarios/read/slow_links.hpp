// SPDX-License-Identifier: Apache-2.0
// Links that carry KV caches: what they may be stated as, and how slow a request's cache allows them to be.
#pragma once

#include <headroom/core/config_reader.hpp>

namespace headroom {

struct ServeScenario;

/// Adds a problem at each stated link, of `[fleet.prefill]` and of the tiers of `[serving.kv_offload]`, over which the
/// cache of the longest prompt takes longer than can be simulated.
void refuse_slow_links(ConfigTable& root, const ServeScenario& serve);

}  // namespace headroom
