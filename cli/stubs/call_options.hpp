// SPDX-License-Identifier: Apache-2.0
// Keyword arguments of the Python functions beside the keys of a scenario: one table for what the functions take and
// for what the stubs say of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom::python {

/// Functions that ask a scenario's question, one bit each.
enum class Calls : std::uint8_t {
  none = 0,
  plan = 1,
  search = 2,
  simulate = 4,
  scale = 8,
  compare = 16,
  planning = 3,
  answering = 19,
  all = 31
};
[[nodiscard]] constexpr Calls operator|(Calls a, Calls b) noexcept {
  return static_cast<Calls>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool meet(Calls a, Calls b) noexcept {
  return (static_cast<unsigned>(a) & static_cast<unsigned>(b)) != 0;
}

struct CallName {
  Calls call;
  std::string_view name;     ///< "plan"
  std::string_view meaning;  ///< sentences
  std::string_view answer;   ///< schema of its usual answer, "plan"
};

struct CallOption {
  std::string_view name;  ///< "threads"
  Calls calls;
  std::string_view type;     ///< as Python annotates it
  std::string_view meaning;  ///< phrases: what it is, its unit, what its absence means
};

[[nodiscard]] std::span<const CallName> call_names() noexcept;
/// Calls::none: there is no such function.
[[nodiscard]] Calls call_named(std::string_view name) noexcept;

/// In the order of the stubs.
[[nodiscard]] std::span<const CallOption> call_options() noexcept;
/// Whether these functions have an option of this name.
[[nodiscard]] bool is_call_option(std::string_view name, Calls calls) noexcept;

}  // namespace headroom::python
