// SPDX-License-Identifier: Apache-2.0
// How long a request the servers of a question let in, and which of its requests are longer.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// Tokens, prompt and answer together, of the longest request that a server of the scenario's model lets in: as stated;
/// of traffic its longest, but no more than the model has positions; else isl + osl.
[[nodiscard]] std::int64_t admitted_tokens(const ServeScenario& scenario);

/// "8192 (the positions of llama3-70b; the longest request has 25760)": what stands for a max_seq_len that is not
/// stated.
[[nodiscard]] std::string admitted_text(const ServeScenario& scenario);

/// A stated length that servers do not start with; and of traffic what they refuse of the requests that it draws, model
/// by model, with its share. Plans and simulations count all requests, whatever is refused. Empty: nothing is.
[[nodiscard]] std::vector<std::string> refused_requests(const ServeScenario& scenario);

}  // namespace headroom
