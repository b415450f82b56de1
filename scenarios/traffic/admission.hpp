// SPDX-License-Identifier: Apache-2.0
// The longest request that the servers of a question admit, and the requests that are longer.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Tokens (prompt and answer) of the longest request that a server of the scenario's own model admits: `max_seq_len` if
/// stated; else the longest request of the traffic, capped at the model's positions; else isl + osl.
[[nodiscard]] std::int64_t admitted_tokens(const ServeScenario& scenario);

/// Default of max_seq_len with its reason: "8192 (the positions of llama3-70b; the longest request has 25760)".
[[nodiscard]] std::string admitted_text(const ServeScenario& scenario);

/// Notes about a stated length beyond the model's positions, and about the share of each model's requests that servers
/// refuse. Plans and simulations count refused requests as if they were served. Empty: nothing is refused.
[[nodiscard]] std::vector<std::string> refused_requests(const ServeScenario& scenario);

}  // namespace headroom
