// SPDX-License-Identifier: Apache-2.0
// What holds for any number of runs and any spread of errors.
#include <headroom/scenarios/plan/own_runs.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace headroom;

namespace {

ClassErrors any_errors() {
  ClassErrors errors;
  errors.level = *rc::gen::map(rc::gen::inRange(1, 3000), [](int x) { return 0.001 * x; });
  errors.shape = *rc::gen::map(rc::gen::inRange(1, 3000), [](int x) { return 0.001 * x; });
  return errors;
}

}  // namespace

TEST_CASE("the weight is at least 0 and below 1, grows with the runs and with the spread of levels") {
  CHECK(rc::check([] {
    const ClassErrors errors = any_errors();
    const int runs = *rc::gen::inRange(0, 1000);
    const double w = level_weight(runs, errors);
    RC_ASSERT(w >= 0.0);
    RC_ASSERT(w < 1.0);
    RC_ASSERT(level_weight(runs + 1, errors) > w);
    ClassErrors wider = errors;
    wider.level *= 1.1;
    RC_ASSERT(level_weight(runs, wider) >= w);
  }));
}

TEST_CASE("more runs never widen an interval, and never narrow it below what the shape leaves") {
  CHECK(rc::check([] {
    const ClassErrors errors = any_errors();
    const double width = 0.001 * *rc::gen::inRange(1, 5000);
    const int runs = *rc::gen::inRange(0, 1000);
    const double few = narrowed_width(width, level_weight(runs, errors), errors);
    const double more = narrowed_width(width, level_weight(runs + 1, errors), errors);
    RC_ASSERT(more <= few);
    RC_ASSERT(few <= width);
    RC_ASSERT(more >= narrowed_width(width, 1.0, errors));
  }));
}
