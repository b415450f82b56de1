// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <cmath>
#include <vector>

namespace headroom {

std::string percent_number(double share, int digits) {
  return std::isfinite(share) ? format_number(100.0 * share, digits) : "-";
}

std::string percent(double share, int digits) {
  return std::isfinite(share) ? percent_number(share, digits) + " %" : "-";
}

std::string probability_text(double probability) {
  constexpr double surely = 0.9995;
  if (probability > surely || probability < 1.0 - surely) {
    return probability > surely ? "over 99.9 %" : "under 0.1 %";
  }
  return percent(probability, probability > 0.95 ? 3 : 2);
}

std::string counted(std::int64_t count, std::string_view noun, std::string_view plural) {
  std::string text = format_count(static_cast<double>(count)) + " ";
  if (count == 1) {
    return text.append(noun);
  }
  return plural.empty() ? text.append(noun) + "s" : text.append(plural);
}

std::string listed(std::span<const std::string_view> names) {
  const std::vector<std::string> parts{names.begin(), names.end()};
  return joined(parts);
}

std::string joined(std::span<const std::string> parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) {
      text += between;
    }
    text += part;
  }
  return text;
}

}  // namespace headroom
