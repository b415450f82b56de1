// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/verb.hpp>

namespace headroom::cli {

std::string_view version() noexcept {
  return "Headroom " HEADROOM_VERSION;
}

std::string_view version_number() noexcept {
  return HEADROOM_VERSION;
}

}  // namespace headroom::cli
