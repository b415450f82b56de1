// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "scheduler_cases.hpp"
#include <cstdint>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::scheduler_cases;

namespace {

void keeps_every_promise(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Case c = random_case(seed);
    const scheduler::Schedule s = schedule(c.pools, c.tenants, c.jobs, c.policy);
    const std::vector<std::string> wrong = broken(c, s);
    CAPTURE(seed);
    if (!wrong.empty()) {
      CHECK_MESSAGE(wrong.empty(), wrong.front());
    }
  }
}

}  // namespace

TEST_CASE("scheduler: random clusters keep every promise of a schedule") {
  keeps_every_promise(1, 500);
}

TEST_CASE("long: scheduler: 10,000 random clusters keep every promise of a schedule") {
  keeps_every_promise(1, 10000);
}
