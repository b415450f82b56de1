// SPDX-License-Identifier: Apache-2.0
// Dates as people write them: "2026-12-01", "2026-08".
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

/// Whether the text is a month or a day of the calendar: "2026-08" or "2026-08-15".
[[nodiscard]] bool is_date_or_month(std::string_view text) noexcept;

}  // namespace headroom
