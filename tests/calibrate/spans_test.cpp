// SPDX-License-Identifier: Apache-2.0
// The time of one kernel from spans of many.
#include <headroom/calibrate/probes/spans.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace headroom::probes;

TEST_CASE("a span is filled by whole rounds over the copies") {
  CHECK(launches_for(2.0, 1.0, 1) == 2);
  CHECK(launches_for(1.0, 0x1p-8, 1) == 256);
  CHECK(launches_for(1.0, 0x1p-8, 100) == 300);    // 256 rounded up to three rounds
  CHECK(launches_for(1.0, 0x1p-8, 6401) == 6401);  // one round is longer than the span
  CHECK(launches_for(2e-3, 1.0, 1) == 1);
  CHECK(launches_for(2e-3, 0.0, 1) / 2 == 1000);  // a timer that saw nothing makes no endless graph
}

TEST_CASE("the median takes the middle, of two the mean, of none nothing") {
  CHECK(median({3.0, 1.0, 2.0}) == 2.0);
  CHECK(median({4.0, 1.0, 2.0, 3.0}) == 2.5);
  CHECK(std::isnan(median({})));
}

TEST_CASE("a summary is the median with its extremes") {
  const Result result = summary({5.0, 1.0, 2.0, 3.0, 100.0}, 7);
  CHECK(result.latency_seconds == 3.0);
  CHECK(result.fastest_seconds == 1.0);
  CHECK(result.slowest_seconds == 100.0);
  CHECK(result.spans == 5);
  CHECK(result.launches == 7);
  CHECK(result.lasted_seconds == 0.0);
}

TEST_CASE("a sustained run is what its second half does, its first span and length are kept") {
  const Result result = sustained_summary({1.0, 2.0, 3.0, 9.0, 10.0, 11.0}, 2);
  CHECK(result.latency_seconds == 10.0);
  CHECK(result.first_seconds == 1.0);
  CHECK(result.fastest_seconds == 1.0);
  CHECK(result.slowest_seconds == 11.0);
  CHECK(result.lasted_seconds == 2.0 * 36.0);
  CHECK(sustained_summary({4.0}, 1).latency_seconds == 4.0);
}
