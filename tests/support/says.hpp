// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headroom::test {

/// Whether `part` stands in `text`.
[[nodiscard]] inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace headroom::test
