// SPDX-License-Identifier: Apache-2.0
// Jobs of a search that cannot be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// A job that cannot be, and why.
struct DroppedJob {
  std::uint64_t job = 0;
  std::vector<std::string> assignments;
  std::string why;
};

}  // namespace headroom
