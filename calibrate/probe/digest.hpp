// SPDX-License-Identifier: Apache-2.0
// A short name for a text, to recognise equal conditions. Not cryptographic.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// FNV-1a of 64 bits (Fowler, Noll and Vo) as 16 hexadecimal digits.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace headroom
