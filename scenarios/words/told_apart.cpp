// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/words/told_apart.hpp>

#include <algorithm>

namespace headroom {

std::string words_text(const Words& words) {
  std::string text;
  for (const Word& word : words) {
    text += (text.empty() ? "" : ", ") + word.text;
  }
  return text;
}

ToldApart told_apart(const std::vector<Words>& rows) {
  const auto in_all = [&](const Word& word) {
    return rows.size() > 1 && std::all_of(rows.begin(), rows.end(), [&](const Words& row) {
             return std::any_of(row.begin(), row.end(),
                                [&](const Word& w) { return w.of == word.of && w.text == word.text; });
           });
  };
  ToldApart told;
  for (const Words& row : rows) {
    Words own;
    Words shared;
    for (const Word& word : row) {
      (in_all(word) ? shared : own).push_back(word);
    }
    told.rows.push_back(own.empty() ? "-" : words_text(own));
    told.alike = words_text(shared);
  }
  return told;
}

}  // namespace headroom
