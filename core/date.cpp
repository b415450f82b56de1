// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>

#include <charconv>
#include <chrono>

namespace headroom {
namespace {

/// The number that `text` is as a whole; -1 when it is none.
int number_of(std::string_view text) noexcept {
  int value = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end ? value : -1;
}

}  // namespace

bool is_date(std::string_view text) noexcept {
  constexpr std::size_t month_form = 7;
  constexpr std::size_t day_form = 10;
  if ((text.size() != month_form && text.size() != day_form) || text[4] != '-') {
    return false;
  }
  const bool with_day = text.size() == day_form;
  if (with_day && text[7] != '-') {
    return false;
  }
  const int year = number_of(text.substr(0, 4));
  const int month = number_of(text.substr(5, 2));
  const int day = with_day ? number_of(text.substr(8, 2)) : 1;
  if (year < 1 || month < 1 || day < 1) {
    return false;
  }
  return std::chrono::year_month_day{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                     std::chrono::day{static_cast<unsigned>(day)}}
      .ok();
}

}  // namespace headroom
