// SPDX-License-Identifier: Apache-2.0
// Text of users and of files as it may stand on a terminal, in a page or in a launch file: what is no printed character
// is refused where names are read, and shown as \xNN where the text is told.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Bytes of the UTF-8 sequence at the start of a text (RFC 3629, section 4); 0: there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// The first character that is obeyed instead of printed, or that is no UTF-8: control characters (C0 with line breaks
/// and tabs, DEL, C1), line and paragraph separators, and marks that turn the direction of the text around them.
/// nullopt: none.
[[nodiscard]] std::optional<std::string_view> first_unprintable(std::string_view text) noexcept;

/// The text on one line, the bytes of such characters as \xNN.
[[nodiscard]] std::string shown(std::string_view text);

/// The same of a text of several lines: tabs stay, and line breaks, also those of two characters (CR LF).
[[nodiscard]] std::string shown_lines(std::string_view text);

/// The text as a basic string of TOML 1.0, in its quotes.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace headroom
