// SPDX-License-Identifier: Apache-2.0
// Releases of software, ordered by their numbers.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace headroom {

/// The numbers of "v0.11.0" or "1.0.0rc3", up to the first other letter. A date ("2025-05"), which blogs give in place
/// of a release, says nothing of the order of releases: it is not known.
struct Release {
  std::array<int, 3> parts{};
  bool known = false;  ///< the text began with a number that is no year
  friend bool operator<(const Release& a, const Release& b) noexcept { return a.parts < b.parts; }
};
[[nodiscard]] inline Release release_of(std::string_view text) noexcept {
  Release release;
  if (!text.empty() && text.front() == 'v') {
    text.remove_prefix(1);
  }
  for (int& part : release.parts) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (status != std::errc{}) {
      break;
    }
    constexpr int least_year = 2000;
    release.known = release.parts[0] < least_year;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '.') {
      break;
    }
    text.remove_prefix(1);
  }
  return release;
}

/// The number that follows `word` and a blank in a version text ("TensorRT 10.8, CUDA 12.8"); the text for an empty
/// word, nothing where none does.
[[nodiscard]] inline std::string_view number_after(std::string_view word, std::string_view version) noexcept {
  if (word.empty()) {
    return version;
  }
  for (std::size_t at = version.find(word); at != std::string_view::npos; at = version.find(word, at + 1)) {
    const std::string_view rest = version.substr(at + word.size());
    if (rest.size() > 1 && rest[0] == ' ' && rest[1] >= '0' && rest[1] <= '9') {
      return rest.substr(1);
    }
  }
  return {};
}

}  // namespace headroom
