// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/printable.hpp>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace headroom {
namespace {

std::string told(const Diagnostic& problem, const std::string& as) {
  std::string place = shown(problem.file);
  if (problem.at.line > 0) {
    place += ':' + std::to_string(problem.at.line) + ':' + std::to_string(problem.at.column);
  }
  return (place.empty() ? "" : place + ": ") + as + ": " + shown_lines(problem.message);
}

std::string join(const std::vector<Diagnostic>& diagnostics, std::size_t untold) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) {
      text += '\n';
    }
    text += diagnostic.text();
  }
  return untold > 0 ? text + '\n' + untold_text(untold) : text;
}

}  // namespace

std::string Diagnostic::text() const {
  return told(*this, "error");
}

std::string Diagnostic::warning() const {
  return told(*this, "warning");
}

bool Diagnostics::before(const Place& a, const Place& b) noexcept {
  return std::tie(a.file, a.at.line, a.at.column) < std::tie(b.file, b.at.line, b.at.column);
}

std::size_t Diagnostics::number_of(std::string_view file) {
  const auto found = files_.find(file);
  return found != files_.end() ? found->second : files_.emplace(std::string{file}, files_.size()).first->second;
}

bool Diagnostics::is_told(std::string_view file, Position at) {
  return !last_ || before({number_of(file), at}, *last_);
}

void Diagnostics::add(Diagnostic problem) {
  ++count_;
  const Place place{number_of(problem.file), problem.at};
  if (last_ && !before(place, *last_)) {
    ++dropped_;
    return;
  }
  items_.push_back({place, std::move(problem.message), std::move(problem.missing)});
  if (items_.size() >= 2 * most_problems_told) {
    keep_first();
  }
}

void Diagnostics::add(const ConfigError& error) {
  for (const Diagnostic& problem : error.diagnostics()) {
    add(problem);
  }
  pass_over(error.untold());
}

void Diagnostics::add(const Diagnostics& others) {
  if (!others.empty()) {
    add(ConfigError{others.sorted(), others.untold()});
  }
}

void Diagnostics::pass_over(std::size_t problems) noexcept {
  count_ += problems;
  dropped_ += problems;
}

/// Sorts the stored problems and drops those after the first `most_problems_told`.
void Diagnostics::keep_first() {
  std::stable_sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return before(a.place, b.place); });
  const auto same = [](const Item& a, const Item& b) {
    return !before(a.place, b.place) && !before(b.place, a.place) && a.message == b.message;
  };
  items_.erase(std::unique(items_.begin(), items_.end(), same), items_.end());
  if (items_.size() > most_problems_told) {
    dropped_ += items_.size() - most_problems_told;
    items_.resize(most_problems_told);
    last_ = items_.back().place;
  }
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  Diagnostics first = *this;
  first.keep_first();
  std::vector<std::string_view> names(first.files_.size());
  for (const auto& [name, number] : first.files_) {
    names[number] = name;
  }
  std::vector<Diagnostic> told;
  told.reserve(first.items_.size());
  for (Item& item : first.items_) {
    told.push_back(
        {std::string{names[item.place.file]}, item.place.at, std::move(item.message), std::move(item.missing)});
  }
  return told;
}

std::size_t Diagnostics::untold() const {
  Diagnostics first = *this;
  first.keep_first();
  return first.dropped_;
}

void Diagnostics::throw_if_any() const {
  if (!empty()) {
    throw ConfigError{sorted(), untold()};
  }
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics, std::size_t untold)
    : std::runtime_error{join(diagnostics, untold)}, diagnostics_{std::move(diagnostics)}, untold_{untold} {}

ConfigError::ConfigError(const std::string& message) : ConfigError{std::vector{Diagnostic{{}, {}, message}}} {}

std::string untold_text(std::size_t untold) {
  if (untold == 0) {
    return {};
  }
  std::string digits = std::to_string(untold);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits + (untold == 1 ? " more problem follows these" : " more problems follow these");
}

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the dynamic programme suffice: the swap looks two rows back.
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
  constexpr std::size_t longest_word = 100;  // a longer word is no typing error, and the distance takes quadratic time
  if (word.size() > longest_word) {
    return std::nullopt;
  }
  int best = std::max(2, static_cast<int>(word.size()) / 3) + 1;
  std::optional<std::string> result;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (static_cast<int>(longer - std::min(word.size(), candidate.size())) > best) {
      continue;  // the lengths alone differ by more than the best distance
    }
    const int distance = edit_distance(word, candidate);
    // A candidate that shares no letter with the word at the same place is no typing error; "tp" for "pp" is one.
    const bool better = distance < best || (distance == best && result && !word.empty() && !candidate.empty() &&
                                            result->front() != word.front() && candidate.front() == word.front());
    if (better && distance < static_cast<int>(longer)) {
      best = distance;
      result = std::string{candidate};
    }
  }
  return result;
}

std::optional<std::string> closest_of_family(std::string_view word, std::span<const std::string_view> candidates) {
  const auto family_of = [](std::string_view name) {
    const auto* const end = std::find_if_not(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return name.substr(0, static_cast<std::size_t>(end - name.begin()));
  };
  const std::string_view family = family_of(word);
  const auto relatives = [&](int slips) {
    std::vector<std::string_view> found;
    std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(found),
                 [&](std::string_view candidate) { return edit_distance(family, family_of(candidate)) <= slips; });
    return found;
  };
  std::vector<std::string_view> near = relatives(0);
  if (near.empty() && family.size() > 2 && family.size() < 100) {
    near = relatives(1);
  }
  return closest(word, near);
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
