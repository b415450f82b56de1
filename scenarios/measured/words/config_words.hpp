// SPDX-License-Identifier: Apache-2.0
// The words of a measured row: its config ("resnet50; 224px; batch=256; eager") in parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Parts between semicolons.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view config);
/// Whether a part is `word` or begins with it and a blank.
[[nodiscard]] bool has_word(const std::vector<std::string>& parts, std::string_view word);
/// The number between `begin` and `end` in the first part that is nothing else: behind "batch=", before "px".
[[nodiscard]] std::optional<double> number_in(const std::vector<std::string>& parts,
                                              std::string_view begin,
                                              std::string_view end);

}  // namespace headroom
