// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace headroom {

/// "Headroom 0.1.0".
[[nodiscard]] std::string_view version() noexcept;
/// "0.1.0".
[[nodiscard]] std::string_view version_number() noexcept;

}  // namespace headroom
