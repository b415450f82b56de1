// SPDX-License-Identifier: Apache-2.0
// Counts as the real numbers that formulas are in.
#pragma once

#include <cstdint>

namespace headroom {

/// Exact up to 2^53, above any count here.
[[nodiscard]] constexpr double real(std::int64_t count) noexcept {
  return static_cast<double>(count);
}

}  // namespace headroom
