// SPDX-License-Identifier: Apache-2.0
// What shows of a bucketed reduction beside the backward pass, and how late the slowest of many ranks is.
#include <headroom/model/train/step/step_effects.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace headroom {
namespace {

double exposed_ms(double reduction_ms, const std::vector<double>& shares) {
  return exposed_reduction(Seconds{0.1}, Seconds{1e-3 * reduction_ms}, shares).raw() * 1e3;
}

TEST_CASE("of 80 ms reduced beside 100 ms of backward, the last bucket's 5 % is what shows: 4 ms against 80") {
  CHECK(exposed_ms(80.0, std::vector<double>(20, 0.05)) == doctest::Approx(4.0));
  // Large buckets come late and queue: 28 ms from 35, 28 from 70, 20 from 98, 4 from 118.
  CHECK(exposed_ms(80.0, {0.35, 0.35, 0.25, 0.05}) == doctest::Approx(22.0));
  CHECK(exposed_ms(80.0, {1.0}) == doctest::Approx(80.0));
  // A reduction longer than the pass queues: all of it but what ran beside, from the first bucket on.
  CHECK(exposed_ms(200.0, {0.25, 0.25, 0.25, 0.25}) == doctest::Approx(200.0 - 75.0));
}

TEST_CASE("the slowest of 8, 64 and 512 ranks of 100 ms and sigma 3 is 4.3, 7.0 and 9.1 ms late") {
  const auto late = [](std::int64_t ranks) {
    return (slowest_of(ranks, Seconds{0.1}, Seconds{3e-3}).raw() - 0.1) * 1e3;
  };
  CHECK(late(1) == doctest::Approx(0.0));
  CHECK(late(8) == doctest::Approx(4.3).epsilon(0.01));
  CHECK(late(64) == doctest::Approx(7.0).epsilon(0.01));
  CHECK(late(512) == doctest::Approx(9.1).epsilon(0.01));
  // One rank a fifth slower than the others: with no spread the whole job is.
  CHECK(late(100000) > late(512));
}

}  // namespace
}  // namespace headroom
