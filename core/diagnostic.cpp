// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace headroom {
namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) {
      text += '\n';
    }
    text += diagnostic.text();
  }
  return text;
}

}  // namespace

std::string Diagnostic::text() const {
  std::string place = shown(file);
  if (at.line > 0) {
    place += ':' + std::to_string(at.line) + ':' + std::to_string(at.column);
  }
  return (place.empty() ? "" : place + ": ") + "error: " + shown_lines(message);
}

void Diagnostics::add(std::string_view file, Position at, std::string message) {
  items_.push_back({std::string{file}, at, std::move(message)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<std::string> files;
  for (const Diagnostic& item : items_) {
    if (std::find(files.begin(), files.end(), item.file) == files.end()) {
      files.push_back(item.file);
    }
  }
  const auto rank = [&](const Diagnostic& d) {
    return std::tuple{std::find(files.begin(), files.end(), d.file) - files.begin(), d.at.line, d.at.column};
  };
  std::vector<Diagnostic> result = items_;
  std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  const auto same = [&](const auto& a, const auto& b) { return rank(a) == rank(b) && a.message == b.message; };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

void Diagnostics::throw_if_any() const {
  if (!items_.empty()) {
    throw ConfigError{sorted()};
  }
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error{join(diagnostics)}, diagnostics_{std::move(diagnostics)} {}

ConfigError::ConfigError(const std::string& message) : ConfigError{std::vector{Diagnostic{{}, {}, message}}} {}

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme are enough: the swap looks two rows back.
  std::vector<int> before(b.size() + 1);
  std::vector<int> above(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    above[j] = static_cast<int>(j);
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitution = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::optional<std::string> closest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 100;  // a longer one is no typing slip, and distances are quadratic
  if (word.size() > longest_word) {
    return std::nullopt;
  }
  int best = std::max(2, static_cast<int>(word.size()) / 3) + 1;
  std::optional<std::string> result;
  for (const std::string_view candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    // A word that shares no letter position with the candidate is no typing slip ("tp" for "pp" is).
    const bool better = distance < best || (distance == best && result && !word.empty() && !candidate.empty() &&
                                            result->front() != word.front() && candidate.front() == word.front());
    if (better && distance < static_cast<int>(std::max(word.size(), candidate.size()))) {
      best = distance;
      result = std::string{candidate};
    }
  }
  return result;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::optional<std::string> nearest = closest(word, candidates);
  return nearest ? "; did you mean '" + *nearest + "'?" : std::string{};
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  while (!text.empty() && result.size() <= longest) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text));
    result += shown(text.substr(0, length));
    text.remove_prefix(length);
  }
  return result + (text.empty() ? "'" : "...'");
}

}  // namespace headroom
