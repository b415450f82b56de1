// SPDX-License-Identifier: Apache-2.0
// Which parts of a model stand in which format: parameters, FLOP and inputs by role and layer, from the list of ops.
#pragma once

#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headroom {

/// What a part does. Recurrent mixers count as attention, shared experts as feed-forward, biases as norms.
enum class ModelRole : std::uint8_t { embedding, attention, feed_forward, experts, router, norms, head, count };
inline constexpr std::size_t model_role_count = static_cast<std::size_t>(ModelRole::count);
inline constexpr std::array<std::string_view, model_role_count> model_role_names{
    "embedding", "attention", "feed-forward", "experts", "router", "norms", "head"};

/// A part of a model: of one role, and of one layer where it stands in one.
struct RolePart {
  ModelRole role{};
  std::int64_t layer = -1;  ///< from 0; -1: outside the layers
  double parameters = 0.0;
  double read = 0.0;    ///< parameters that one token's forward pass reads: top-k experts, a tied table by the head
  double flop = 0.0;    ///< of products by weights in one token's forward pass; scores of attention apart
  double inputs = 0.0;  ///< elements that those products read of one token
};

/// All parts of a model; their parameters add up to count_parameters().total. A tied head has no parameters of its own
/// and reads the table. Prediction modules are left out.
[[nodiscard]] std::vector<RolePart> role_parts(const Architecture& architecture);

/// What keeps the format it had.
struct KeptParts {
  std::array<bool, model_role_count> roles{};
  std::int64_t first = 0, last = 0;  ///< layers from either end
};
/// Norms and biases always keep theirs: libraries quantise matrices. Of a tied table embedding and head go together.
[[nodiscard]] bool is_kept(const KeptParts& kept, const RolePart& part, const Architecture& architecture) noexcept;

}  // namespace headroom
