// SPDX-License-Identifier: Apache-2.0
// Days of the calendar as people write them: "2026-12-01".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// An ISO 8601 date; nullopt for anything else, and for a day that no calendar has.
[[nodiscard]] std::optional<std::chrono::sys_days> parse_date(std::string_view text) noexcept;

/// "2026-12-01". The year must have four digits.
[[nodiscard]] std::string format_date(std::chrono::sys_days day);

/// The day on which so many days from `start` are over; nullopt before it and beyond the year 9999.
[[nodiscard]] std::optional<std::chrono::sys_days> date_after(std::chrono::sys_days start, double days) noexcept;

}  // namespace headroom
