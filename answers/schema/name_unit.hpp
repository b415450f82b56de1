// SPDX-License-Identifier: Apache-2.0
// The unit in a member's name: its last word that is one, "step_time_s", or one by something, "memory_bytes_per_s".
#pragma once

#include <headroom/answers/document/value.hpp>

#include <optional>
#include <string_view>

namespace headroom {

struct NameUnit {
  Hint hint = Hint::number;  ///< of a number in this unit
  std::string_view words;    ///< "s", "flop_per_s_per_gpu", "tokens_per_s"
};

/// nullopt: the name has no unit, and its numbers are counts, shares and ratios, or have that of what they stand in.
[[nodiscard]] std::optional<NameUnit> name_unit(std::string_view name) noexcept;

/// Whether people read a number with this hint in a unit, which its name has to say.
[[nodiscard]] bool has_unit(Hint hint) noexcept;

}  // namespace headroom
