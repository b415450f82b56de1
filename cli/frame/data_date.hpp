// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace headroom::cli {

/// The newest date that the catalog and its price lists state, "2026-09-20" or "2026-09"; found by the build
/// (cmake/headroom_data_date.cmake).
[[nodiscard]] std::string data_date();

}  // namespace headroom::cli
