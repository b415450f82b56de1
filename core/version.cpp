// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/version.hpp>

namespace headroom {

std::string_view version() noexcept {
  return "Headroom " HEADROOM_VERSION;
}

std::string_view version_number() noexcept {
  return HEADROOM_VERSION;
}

}  // namespace headroom
