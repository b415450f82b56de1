// SPDX-License-Identifier: Apache-2.0
// `--format` of a verb whose answer is a document: the formats of documents among those of its own.
#pragma once

#include <headroom/answers/document/document_formats.hpp>
#include <headroom/answers/door/answer.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/literal.hpp>

#include <array>
#include <string>

namespace headroom::cli {

template <Literal pattern, const std::string_view& text>
struct Filled {
  // Index by index: the sanitizers' checks of pointers are no constants.
  static constexpr std::size_t at = [] {
    std::size_t i = 0;
    while (pattern.text[i] != '{') {
      ++i;
    }
    return i;
  }();
  static constexpr auto chars = [] {
    std::array<char, pattern.view().size() - 2 + text.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = i < at ? pattern.text[i] : i < at + text.size() ? text[i - at] : pattern.text[i - text.size() + 2];
    }
    return all;
  }();
};

/// "text|{}|html" with the names of the formats of documents in place of the braces.
template <Literal pattern>
inline constexpr std::string_view formats_in{Filled<pattern, document_format_names>::chars.data(),
                                             Filled<pattern, document_format_names>::chars.size()};
/// The same for a line of help, with their meanings.
template <Literal pattern>
inline constexpr std::string_view meanings_in{Filled<pattern, document_format_meanings>::chars.data(),
                                              Filled<pattern, document_format_meanings>::chars.size()};

/// The format of documents that --format names; nullptr: it names none, or is not given.
[[nodiscard]] const DocumentFormat* document_format(const Arguments& arguments);

/// Whether --format says text for people, or nothing.
[[nodiscard]] bool is_prose(const Arguments& arguments);

/// An answer as --format says, as text where nothing is said. `threads`, `explained`, `file`: as of to_html() and
/// to_text().
[[nodiscard]] std::string written(const GivenAnswer& answer,
                                  const Arguments& arguments,
                                  unsigned threads = 0,
                                  bool explained = false,
                                  const std::string& file = "");

}  // namespace headroom::cli
