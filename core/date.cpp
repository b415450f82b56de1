// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>

#include <charconv>
#include <chrono>

namespace headroom {
namespace {

/// The whole text as an integer; -1 if it is not one.
int number_of(std::string_view text) noexcept {
  int value = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? value : -1;
}

/// Decimal digits, padded with zeros on the left to `width`.
std::string digits(unsigned value, std::size_t width) {
  std::string text = std::to_string(value);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

}  // namespace

std::optional<std::chrono::sys_days> parse_date(std::string_view text) noexcept {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  const int year = number_of(text.substr(0, 4));
  const int month = number_of(text.substr(5, 2));
  const int day = number_of(text.substr(8, 2));
  if (year < 0 || month < 1 || day < 1) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return date.ok() ? std::optional{std::chrono::sys_days{date}} : std::nullopt;
}

bool is_date_or_month(std::string_view text) noexcept {
  constexpr std::size_t month_form = 7;
  if (text.size() == month_form && text[4] == '-') {
    const int month = number_of(text.substr(5, 2));
    return number_of(text.substr(0, 4)) >= 1 && month >= 1 && month <= 12;
  }
  return parse_date(text).has_value();
}

std::string format_date(std::chrono::sys_days day) {
  const std::chrono::year_month_day date{day};
  return digits(static_cast<unsigned>(static_cast<int>(date.year())), 4) + "-" +
         digits(static_cast<unsigned>(date.month()), 2) + "-" + digits(static_cast<unsigned>(date.day()), 2);
}

std::optional<std::chrono::sys_days> date_after(std::chrono::sys_days start, double days) noexcept {
  const std::chrono::sys_days last = std::chrono::year{9999} / 12 / 31;
  const double most = static_cast<double>((last - start).count());
  if (!(days >= 0.0 && days < most + 1.0)) {
    return std::nullopt;
  }
  return start + std::chrono::days{static_cast<int>(days)};
}

}  // namespace headroom
