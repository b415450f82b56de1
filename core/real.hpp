// SPDX-License-Identifier: Apache-2.0
// Integer counts as real numbers for formulas.
#pragma once

#include <cstdint>

namespace headroom {

/// Converts a count to a double; exact up to 2^53, which exceeds every count in use.
[[nodiscard]] constexpr double real(std::int64_t count) noexcept {
  return static_cast<double>(count);
}

}  // namespace headroom
