// SPDX-License-Identifier: Apache-2.0
// Days of the calendar: what is a date, and the day so many days later.
#include <headroom/core/date.hpp>

#include <doctest/doctest.h>

using namespace headroom;
using std::chrono::sys_days;

TEST_CASE("a date is four digits, two and two of a day that there is") {
  REQUIRE(parse_date("2028-02-29"));
  CHECK(format_date(*parse_date("2028-02-29")) == "2028-02-29");
  CHECK(*parse_date("1970-01-01") == sys_days{});
  for (const char* text : {"2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "26-01-01", "2026/01/01", "2026-01-0x",
                           "-026-01-01", "", "2026-01-011"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_date(text));
  }
}

TEST_CASE("so many days later: whole days that are over, months and leap years crossed") {
  const sys_days start = *parse_date("2026-12-01");
  CHECK(format_date(*date_after(start, 0.0)) == "2026-12-01");
  CHECK(format_date(*date_after(start, 30.999)) == "2026-12-31");
  CHECK(format_date(*date_after(start, 31.0)) == "2027-01-01");
  CHECK(format_date(*date_after(*parse_date("2028-02-28"), 2.0)) == "2028-03-01");
  CHECK(format_date(*date_after(*parse_date("9999-12-30"), 1.5)) == "9999-12-31");
  CHECK_FALSE(date_after(start, -0.5));
  CHECK_FALSE(date_after(start, 1e9));
  CHECK_FALSE(date_after(start, 0.0 / 0.0));
}

TEST_CASE("a month or a day of the calendar, leap years included") {
  for (const char* date : {"2026-08", "2026-12", "2026-08-15", "2024-02-29", "2000-02-29"}) {
    CAPTURE(date);
    CHECK(is_date_or_month(date));
  }
  for (const char* date :
       {"", "2026", "2026-8", "2026-13", "2026-00", "2026-02-29", "1900-02-29", "2026-08-00", "2026/08", "2026-08-1",
        "2026-08-155", "20x6-08", "2026-0a", "2026-08 15", "August 2026", "-026-08"}) {
    CAPTURE(date);
    CHECK_FALSE(is_date_or_month(date));
  }
}
