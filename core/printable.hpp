// SPDX-License-Identifier: Apache-2.0
// Makes text of users and files safe for terminals, pages and launch files: unprintable characters are refused in names
// and escaped as \xNN elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Length in bytes of the UTF-8 sequence at the start of a text (RFC 3629, section 4); 0 if there is no valid sequence.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// The first character that a terminal would obey instead of print, or that is invalid UTF-8: control characters (C0
/// with line breaks and tabs, DEL, C1), line and paragraph separators, and marks that change the direction of text.
/// nullopt if there is none.
[[nodiscard]] std::optional<std::string_view> first_unprintable(std::string_view text) noexcept;

/// The text on one line, with the bytes of every unprintable character as \xNN.
[[nodiscard]] std::string shown(std::string_view text);

/// The text with unprintable characters as \xNN, but tabs and line breaks (LF, CR LF) kept.
[[nodiscard]] std::string shown_lines(std::string_view text);

/// The text as a basic string of TOML 1.0, in its quotes.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace headroom
