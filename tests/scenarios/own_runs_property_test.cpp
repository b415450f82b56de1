// SPDX-License-Identifier: Apache-2.0
// What holds for any share that runs tell and any spread of errors.
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

TEST_CASE("what runs tell never widens an interval, nor narrows it below what the shape leaves") {
  CHECK(rc::check([] {
    const ClassErrors errors = any_errors();
    const double width = 0.001 * *rc::gen::inRange(1, 5000);
    const double weight = 0.001 * *rc::gen::inRange(0, 1000);
    const double few = narrowed_width(width, weight, errors);
    const double more = narrowed_width(width, weight + 0.001, errors);
    RC_ASSERT(more <= few);
    RC_ASSERT(few <= width);
    RC_ASSERT(more >= narrowed_width(width, 1.0, errors));
  }));
}
