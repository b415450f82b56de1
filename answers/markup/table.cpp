// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>

#include <algorithm>

namespace headroom {

std::size_t shown_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

Table::Table(std::vector<std::string> header) : header_{std::move(header)} {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i].starts_with('<')) {
      header_[i].erase(0, 1);
      left_.push_back(i);
    }
  }
}

std::string Table::text_apart(const std::string& words, std::size_t indent) const {
  std::string alike = words;
  Table shown{std::vector<std::string>{}};
  shown.rows_.resize(rows_.size());
  for (std::size_t i = 0; i < header_.size(); ++i) {
    const bool same = i > 0 && rows_.size() > 1 && std::all_of(rows_.begin(), rows_.end(), [&](const auto& row) {
                        return row[i] == rows_.front()[i];
                      });
    const bool empty = same && rows_.front()[i].empty();
    if (same && !empty && !header_[i].empty()) {
      alike += (alike.empty() ? "" : ", ") + header_[i] + " " + rows_.front()[i];
    } else if (!empty) {
      if (std::find(left_.begin(), left_.end(), i) != left_.end()) {
        shown.left_.push_back(shown.header_.size());
      }
      shown.header_.push_back(header_[i]);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        shown.rows_[row].push_back(rows_[row][i]);
      }
    }
  }
  return (alike.empty() ? std::string{} : std::string(indent, ' ') + "alike in all: " + alike + "\n") +
         shown.text(indent);
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::size_t> widths;
  widths.reserve(header_.size());
  for (const std::string& title : header_) {
    widths.push_back(shown_width(title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], shown_width(row[i]));
    }
  }
  const auto is_left = [&](std::size_t i) { return i == 0 || std::find(left_.begin(), left_.end(), i) != left_.end(); };
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - shown_width(cells[i]), ' ');
      text += (i > 0 ? "  " : "") + (is_left(i) ? cells[i] + padding : padding + cells[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  const bool titled = std::any_of(header_.begin(), header_.end(), [](const std::string& t) { return !t.empty(); });
  std::string result = titled ? line(header_) : std::string{};
  for (const auto& row : rows_) {
    result += line(row);
  }
  return result;
}

}  // namespace headroom
