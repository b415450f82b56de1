// SPDX-License-Identifier: Apache-2.0
// Jobs of a search that cannot be.
#pragma once

#include <headroom/scenarios/question/change.hpp>

#include <cstdint>
#include <string>

namespace headroom {

/// A job that cannot be, and why.
struct DroppedJob {
  std::uint64_t job = 0;
  Changes changes;
  std::string why;
};

}  // namespace headroom
