// SPDX-License-Identifier: Apache-2.0
// How long a model's sequences can be: what its images make of tokens, and the positions it was trained on.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A vision encoder's sequence is as long as its images make it: a blank length (0) takes their tokens, padded to what
/// the sequence's ranks divide, and says so in `assumptions`. Any other length is a problem, told with the right one.
/// Models without patches are left alone.
[[nodiscard]] std::optional<std::string> settle_image_tokens(const Architecture& architecture,
                                                             const Strategy& strategy,
                                                             std::int64_t& seq_len,
                                                             std::vector<std::string>& assumptions);

/// Tokens of the longest sequence that a model was trained on, or for which its positions are scaled; nullopt where
/// that is not known, or images say how long it is.
[[nodiscard]] std::optional<std::int64_t> positions_of(const Architecture& architecture) noexcept;

/// "sequences of 16384 tokens exceed the 8192 positions that llama3-8b was trained on"; nullopt when they do not.
[[nodiscard]] std::optional<std::string> beyond_positions(const Architecture& architecture, std::int64_t tokens);

}  // namespace headroom
