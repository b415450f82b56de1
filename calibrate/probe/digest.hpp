// SPDX-License-Identifier: Apache-2.0
// A short name for a text, to tell conditions apart; no secret is safe in it.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// 16 hexadecimal digits: FNV-1a of 64 bits (Fowler, Noll and Vo).
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace headroom
