// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/data_date.hpp>

namespace headroom::cli {

std::string data_date() {
  return HEADROOM_DATA_DATE;
}

}  // namespace headroom::cli
