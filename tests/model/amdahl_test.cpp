// SPDX-License-Identifier: Apache-2.0
// Laws of Amdahl and Gustafson, by hand.
#include <headroom/model/kernels/tensor_path.hpp>
#include <headroom/model/laboratory/amdahl.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <array>
#include <cmath>

using namespace headroom;
using headroom::test::near;

TEST_CASE("95 % at 50x makes 14.5x of at most 20x, 50 % at 50x 1.96x of at most 2x") {
  const std::array most{SpedPart{0.95, 50.0}};
  CHECK(whole_speedup(most) == near(1.0 / (0.05 + 0.95 / 50.0)));
  CHECK(whole_speedup(most) == near(14.5, 1e-3));
  CHECK(speedup_limit(most) == near(20.0));
  const std::array half{SpedPart{0.5, 50.0}};
  CHECK(whole_speedup(half) == near(1.96, 1e-3));
  CHECK(speedup_limit(half, 0) == near(2.0));
}

TEST_CASE("parts add up: a half at 2x and a quarter at 4x leave 1/4 + 1/16 + 1/4 of the time") {
  const std::array parts{SpedPart{0.5, 2.0}, SpedPart{0.25, 4.0}};
  CHECK(time_after(parts) == near(0.25 + 0.25 + 0.0625));
  CHECK(share_after(parts, 0) == near(0.25 / 0.5625));
  CHECK(speedup_limit(parts, 0) == near(1.0 / 0.3125));
  CHECK(speedup_limit(parts, 1) == near(1.0 / 0.5));
  CHECK(speedup_limit(parts) == near(4.0));
  CHECK(scaled_speedup(parts) == near(0.25 + 1.0 + 1.0));
}

TEST_CASE("one part is what partial_gain says, and a per cent of speed takes its share of the time off") {
  for (const double share : {0.0, 0.3, 0.9}) {
    const std::array parts{SpedPart{share, 3.0}};
    CHECK(whole_speedup(parts) == near(partial_gain(1.0 - share, 3.0)));
    constexpr double step = 1e-6;
    const std::array faster{SpedPart{share, 3.0 * (1.0 + step)}};
    const double slope = (1.0 - time_after(faster) / time_after(parts)) / step;
    CHECK(slope == doctest::Approx(share_after(parts, 0)).epsilon(1e-4));
  }
}

TEST_CASE("a whole that is all parts has no limit, also where its shares are tenths") {
  std::array<SpedPart, 10> tenths;
  tenths.fill({0.1, 5.0});
  CHECK(std::isinf(speedup_limit(tenths)));
  CHECK(whole_speedup(tenths) == near(5.0));
}
