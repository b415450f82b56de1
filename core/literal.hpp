// SPDX-License-Identifier: Apache-2.0
// A text as an argument of a template.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace headroom {

template <std::size_t size>
struct Literal {
  consteval Literal(const char (&literal)[size]) noexcept { std::copy_n(literal, size, text); }
  [[nodiscard]] constexpr std::string_view view() const noexcept { return {text, size - 1}; }
  char text[size];
};

}  // namespace headroom
