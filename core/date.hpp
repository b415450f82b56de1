// SPDX-License-Identifier: Apache-2.0
// Dates as prices carry them.
#pragma once

#include <string_view>

namespace headroom {

/// Whether the text is a month or a day of the calendar: "2026-08" or "2026-08-15".
[[nodiscard]] bool is_date(std::string_view text) noexcept;

}  // namespace headroom
