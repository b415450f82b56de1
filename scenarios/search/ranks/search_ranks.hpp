// SPDX-License-Identifier: Apache-2.0
// A search on several ranks: rank 0 hands out jobs, or layouts of a round where jobs are few, to whoever is idle; what
// a lost rank had is given to others. The answer is that of one rank alone, byte for byte.
#pragma once

#include <headroom/scenarios/search/ranks/ranks.hpp>
#include <headroom/scenarios/search/search.hpp>

namespace headroom {

struct Sources;

/// At rank 0, which searches as well as the others of `ranks`. Ends with what one rank alone finds as long as rank 0
/// lives. Throws as run_search.
[[nodiscard]] SearchResult search_on_ranks(const SearchQuestion& question, const SearchOptions& options, Ranks& ranks);

/// At every other rank: answers rank 0 until it says that there are no more searches. `stop` ends a job after the round
/// at hand; null: never.
void serve_ranks(Ranks& ranks, const Sources& sources, const std::atomic<bool>* stop = nullptr);

}  // namespace headroom
