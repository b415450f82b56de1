// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/sharing/mig_parted.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

/// Profiles with how often each is listed, in the order of their first mention.
std::vector<std::pair<std::string, std::int64_t>> counts_of(const std::vector<std::string>& profiles) {
  std::vector<std::pair<std::string, std::int64_t>> counts;
  for (const std::string& profile : profiles) {
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == profile; });
    if (known == counts.end()) {
      counts.emplace_back(profile, 1);
    } else {
      ++known->second;
    }
  }
  return counts;
}

}  // namespace

std::string mig_parted(const Device& card, std::span<const MigLayout> layouts, std::span<const std::string> notes) {
  std::string text = "# Slices of " + card.name + ".\n";
  for (const std::string& note : notes) {
    text += "# " + note + "\n";
  }
  text += "version: v1\nmig-configs:\n";
  for (const MigLayout& layout : layouts) {
    text += "  " + layout.name + ":\n    - devices: " + layout.devices +
            "\n      mig-enabled: " + (layout.profiles.empty() ? "false" : "true") + "\n";
    if (layout.profiles.empty()) {
      continue;
    }
    text += "      mig-devices:\n";
    for (const auto& [profile, count] : counts_of(layout.profiles)) {
      text += "        \"" + profile + "\": " + std::to_string(count) + "\n";
    }
  }
  return text;
}

}  // namespace headroom
