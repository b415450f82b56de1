// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/release.hpp>

#include <charconv>
#include <cstddef>
#include <system_error>

namespace headroom {

Release release_of(std::string_view text) noexcept {
  Release release;
  if (!text.empty() && text.front() == 'v') {
    text.remove_prefix(1);
  }
  for (int& part : release.parts) {
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (status != std::errc{}) {
      break;
    }
    release.known = true;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || text.front() != '.') {
      break;
    }
    text.remove_prefix(1);
  }
  return release;
}

std::string_view number_after(std::string_view word, std::string_view version) noexcept {
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
