// SPDX-License-Identifier: Apache-2.0
// Plain text tables: first column left, numbers right, no wider than they need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class Table {
 public:
  /// A title that starts with '<' makes a column of text, which stands left; the first always does.
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text(std::size_t indent = 2) const;
  /// Without titled columns in which two rows or more all agree; they stand in a line above, behind the words that all
  /// rows have: "alike in all: h100-sxm-80gb, tp 4, replicas 1". The first column stays.
  [[nodiscard]] std::string text_apart(const std::string& words, std::size_t indent = 2) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_;
};

/// Characters a terminal shows for UTF-8 text of single-width letters.
[[nodiscard]] std::size_t shown_width(std::string_view text) noexcept;

}  // namespace headroom
