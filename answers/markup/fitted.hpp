// SPDX-License-Identifier: Apache-2.0
// Text for people on a line of so many characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headroom {

/// Lines beyond `width` characters go on below: a sentence under its second word, a table's row under its last column
/// or, where its columns alone are wider, cell by cell under its first. Numbers keep their thousands and their unit.
/// Lines that are commands to copy, and words longer than a line, stay whole.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t width);

}  // namespace headroom
