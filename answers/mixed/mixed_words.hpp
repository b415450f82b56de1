// SPDX-License-Identifier: Apache-2.0
// Words and members that answers about pools of unlike SKUs share.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace headroom {

/// The SKU of a pool.
[[nodiscard]] const std::string& gpu_of(const MixedQuestion& question, std::size_t pool);
/// The node type of a pool; empty: none is known.
[[nodiscard]] std::string node_of(const MixedQuestion& question, std::size_t pool);
/// "64 x h100-sxm-80gb and 64 x a100-sxm-80gb".
[[nodiscard]] std::string pools_text(const MixedQuestion& question);
/// The SKU, node, GPUs and price of a pool.
[[nodiscard]] Value pool_value(const MixedQuestion& question, std::size_t pool);
/// Lines below "assumed"; empty without any.
[[nodiscard]] std::string mixed_notes_text(const MixedQuestion& question, std::span<const std::string> notes);

}  // namespace headroom
