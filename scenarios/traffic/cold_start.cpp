// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/traffic/cold_start.hpp>

namespace headroom {

ColdStart cold_start_of(const StartParts& parts, Bytes weights) {
  ColdStart start;
  start.parts = parts.each;
  start.storage = parts.storage;
  start.read = weights;
  if (parts.storage) {
    (*start.parts)[static_cast<std::size_t>(StartPart::weights)] = weights / *parts.storage;
  }
  for (const Seconds part : *start.parts) {
    start.whole += part;
  }
  return start;
}

std::string parts_text(const ColdStart& start) {
  if (!start.parts) {
    return {};
  }
  std::string text = "a cold start takes " + format(start.whole) + ": ";
  for (std::size_t i = 0; i < start_part_count; ++i) {
    const Seconds part = (*start.parts)[i];
    text += (i > 0 ? ", " : "") + std::string{start_part_names[i]} + " " + format(part);
    std::string of = start.whole > Seconds{} ? percent(part / start.whole) : std::string{};
    if (i == static_cast<std::size_t>(StartPart::weights) && start.storage) {
      of += (of.empty() ? "" : "; ") + format(start.read) + " of a host at " + format(*start.storage);
    }
    text += of.empty() ? "" : " (" + of + ")";
  }
  return text;
}

}  // namespace headroom
