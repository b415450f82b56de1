// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::optional<double> number_of(std::string_view part, std::string_view begin, std::string_view end) {
  if (!part.starts_with(begin) || !part.ends_with(end) || part.size() <= begin.size() + end.size()) {
    return std::nullopt;
  }
  return whole_real(part.substr(begin.size(), part.size() - begin.size() - end.size()));
}

}  // namespace

std::vector<std::string> parts_of(std::string_view config) {
  std::vector<std::string> parts;
  while (!config.empty()) {
    const std::size_t end = std::min(config.find("; "), config.size());
    parts.emplace_back(config.substr(0, end));
    config.remove_prefix(std::min(end + 2, config.size()));
  }
  return parts;
}

bool has_word(const std::vector<std::string>& parts, std::string_view word) {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return part == word || part.starts_with(std::string{word} + " ");
  });
}

std::optional<double> number_in(const std::vector<std::string>& parts, std::string_view begin, std::string_view end) {
  for (const std::string& part : parts) {
    if (const auto number = number_of(part, begin, end)) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace headroom
