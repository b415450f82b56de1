// SPDX-License-Identifier: Apache-2.0
// The words of a measured row: its config ("resnet50; 224px; batch=256; eager") in parts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Parts between semicolons.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view config);
/// Whether a part is `word` or begins with it and a blank.
[[nodiscard]] bool has_word(const std::vector<std::string>& parts, std::string_view word);
/// The number between `begin` and `end` in the first part that is nothing else: behind "batch=", before "px".
[[nodiscard]] std::optional<double> number_in(const std::vector<std::string>& parts,
                                              std::string_view begin,
                                              std::string_view end);

/// An entry of a table and how much of a text its name covers.
template <class Entry>
struct LongestName {
  const Entry* entry = nullptr;  ///< nullptr: none
  std::size_t length = 0;
};
/// Of entries with `names`, the one with the longest that `text` begins with.
template <class Entry>
[[nodiscard]] LongestName<Entry> longest_name(const std::vector<Entry>& all, std::string_view text) {
  LongestName<Entry> found;
  for (const Entry& each : all) {
    for (const std::string& name : each.names) {
      const std::size_t covered = text.starts_with(name) ? name.size() : 0;
      found = covered > found.length ? LongestName<Entry>{&each, covered} : found;
    }
  }
  return found;
}

}  // namespace headroom
