// SPDX-License-Identifier: Apache-2.0
// Rows of a table told by the words in which they differ, those that all share told once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What is said of a row, and of what: "tp 4" of "tp".
struct Word {
  std::string_view of;
  std::string text;
};
using Words = std::vector<Word>;

/// "tp 4, pp 8".
[[nodiscard]] std::string words_text(const Words& words);

struct ToldApart {
  std::string alike;              ///< words that all rows have, of two rows and more
  std::vector<std::string> rows;  ///< the other words of each; "-" of a row that has none
};
[[nodiscard]] ToldApart told_apart(const std::vector<Words>& rows);

}  // namespace headroom
