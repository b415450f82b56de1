// SPDX-License-Identifier: Apache-2.0
// Releases of software, ordered by their numbers.
#pragma once

#include <array>
#include <string_view>

namespace headroom {

/// The numbers of "v0.11.0" or "1.0.0rc3", up to the first other letter.
struct Release {
  std::array<int, 3> parts{};
  bool known = false;  ///< the text began with a number
  friend bool operator<(const Release& a, const Release& b) noexcept { return a.parts < b.parts; }
};
[[nodiscard]] Release release_of(std::string_view text) noexcept;

/// The number that follows `word` and a blank in a version text ("TensorRT 10.8, CUDA 12.8"); the text for an empty
/// word, nothing where none does.
[[nodiscard]] std::string_view number_after(std::string_view word, std::string_view version) noexcept;

}  // namespace headroom
