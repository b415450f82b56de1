// SPDX-License-Identifier: Apache-2.0
// Pickles of plain data as PyTorch writes them: protocol 2, tables and lists in batches behind marks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::test {

/// The lowest byte first.
[[nodiscard]] inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>((value >> (8 * i)) & 0xffU);
  }
  return text;
}

[[nodiscard]] inline std::string pickled(std::string_view text) {
  return "X" + little(text.size(), 4) + std::string{text};
}
[[nodiscard]] inline std::string pickled(const char* text) {
  return pickled(std::string_view{text});
}
[[nodiscard]] inline std::string pickled(std::int64_t value) {
  return "\x8a\x08" + little(static_cast<std::uint64_t>(value), 8);
}
[[nodiscard]] inline std::string pickled(int value) {
  return pickled(std::int64_t{value});
}
[[nodiscard]] inline std::string pickled(bool value) {
  return value ? "\x88" : "\x89";
}

/// A list of what is pickled already.
[[nodiscard]] inline std::string pickled_list(const std::vector<std::string>& items) {
  std::string text = "](";
  for (const std::string& item : items) {
    text += item;
  }
  return text + "e";
}
[[nodiscard]] inline std::string pickled_table(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text = "}(";
  for (const auto& [key, value] : members) {
    text += pickled(std::string_view{key}) + value;
  }
  return text + "u";
}

/// The whole file.
[[nodiscard]] inline std::string pickle_file(const std::string& value) {
  return "\x80\x02" + value + ".";
}

}  // namespace headroom::test
