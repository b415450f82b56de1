// SPDX-License-Identifier: Apache-2.0
// Calendar dates as text: "2026-12-01", "2026-08".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Parses an ISO 8601 date ("2026-12-01"); nullopt for any other text or a day that does not exist.
[[nodiscard]] std::optional<std::chrono::sys_days> parse_date(std::string_view text) noexcept;

/// Writes a date as "2026-12-01". The year must have four digits.
[[nodiscard]] std::string format_date(std::chrono::sys_days day);

/// The date `days` after `start`, rounded down to a whole day; nullopt if `days` is negative or the year exceeds 9999.
[[nodiscard]] std::optional<std::chrono::sys_days> date_after(std::chrono::sys_days start, double days) noexcept;

/// Whether the text is an existing month or day: "2026-08" or "2026-08-15".
[[nodiscard]] bool is_date_or_month(std::string_view text) noexcept;

}  // namespace headroom
