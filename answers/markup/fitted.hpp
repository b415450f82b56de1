// SPDX-License-Identifier: Apache-2.0
// Wraps text for people to the width of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom {

/// Wraps each line that is longer than `width` characters. A sentence continues under its second word. A table's row
/// continues under its last column; if the columns before it are already too wide, each cell that does not fit goes
/// below the first column. Digit groups and units stay with their number. Commands to copy, and words longer than a
/// line, are not wrapped.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace headroom
