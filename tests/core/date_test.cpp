// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>

#include <doctest/doctest.h>

using namespace headroom;

TEST_CASE("a date is a month or a day of the calendar, leap years included") {
  for (const char* date : {"2026-08", "2026-12", "2026-08-15", "2024-02-29", "2000-02-29"}) {
    CAPTURE(date);
    CHECK(is_date(date));
  }
  for (const char* date :
       {"", "2026", "2026-8", "2026-13", "2026-00", "2026-02-29", "1900-02-29", "2026-08-00", "2026/08", "2026-08-1",
        "2026-08-155", "20x6-08", "2026-0a", "2026-08 15", "August 2026", "-026-08"}) {
    CAPTURE(date);
    CHECK_FALSE(is_date(date));
  }
}
