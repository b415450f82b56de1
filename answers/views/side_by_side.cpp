// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/side_by_side.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

std::vector<std::string> header_of(const std::string& title, std::size_t columns) {
  std::vector<std::string> header{title};
  for (std::size_t i = 0; i < columns; ++i) {
    header.push_back(column_label(i));
  }
  return header;
}

}  // namespace

std::string column_label(std::size_t i) {
  constexpr std::size_t letters = 26;
  const std::string last(1, static_cast<char>('A' + i % letters));
  return i < letters ? last : column_label(i / letters - 1) + last;
}

SideBySideTable::SideBySideTable(const std::string& title, std::size_t columns) : table_{header_of(title, columns)} {}

void SideBySideTable::row(std::string name, std::vector<std::string> cells) {
  const bool same =
      std::all_of(cells.begin(), cells.end(), [&](const std::string& cell) { return cell == cells.front(); });
  if (same && !cells.front().empty()) {
    alike_ += (alike_.empty() ? "" : ", ") + name + " " + cells.front();
  } else if (!same) {
    any_ = true;
    cells.insert(cells.begin(), std::move(name));
    table_.row(std::move(cells));
  }
}

std::string SideBySideTable::text() const {
  return (alike_.empty() ? "" : "  alike in all: " + alike_ + "\n") + (any_ ? table_.text() : "");
}

std::string keys_text(const std::vector<DifferingKey>& keys) {
  if (keys.empty()) {
    return "no key differs\n";
  }
  SideBySideTable table{"differs", keys.front().values.size()};
  for (const DifferingKey& key : keys) {
    table.row(key.key, key.values);
  }
  return table.text();
}

}  // namespace headroom
