// SPDX-License-Identifier: Apache-2.0
// Numeric formats from their bits.
#include <headroom/model/estimate/number_format.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

const NumberFormat& format_named(std::string_view name) {
  const auto* found =
      std::find_if(number_formats.begin(), number_formats.end(), [&](const NumberFormat& f) { return f.name == name; });
  REQUIRE(found != number_formats.end());
  return *found;
}

}  // namespace

TEST_CASE("the largest values are 65504, 3.39e38, 448 and 57344, epsilon is 9.77e-4 for fp16 and 7.81e-3 for bf16") {
  CHECK(format_named("fp16").largest() == 65504.0);
  CHECK(format_named("bf16").largest() == doctest::Approx(3.39e38).epsilon(1e-3));
  CHECK(format_named("e4m3").largest() == 448.0);
  CHECK(format_named("e5m2").largest() == 57344.0);
  CHECK(format_named("fp16").epsilon() == near(9.77e-4, 1e-3));
  CHECK(format_named("bf16").epsilon() == near(7.81e-3, 1e-3));
}

TEST_CASE("the smallest values of the 8-bit formats are those of table 1 of Micikevicius et al. 2022") {
  CHECK(format_named("e4m3").smallest_normal() == std::ldexp(1.0, -6));
  CHECK(format_named("e4m3").smallest_subnormal() == std::ldexp(1.0, -9));
  CHECK(format_named("e5m2").smallest_normal() == std::ldexp(1.0, -14));
  CHECK(format_named("e5m2").smallest_subnormal() == std::ldexp(1.0, -16));
}

TEST_CASE("fp32 and fp16 are IEEE 754's, tf32 has fp32's range with fp16's spacing") {
  CHECK(format_named("fp32").largest() == 0x1.fffffep127);
  CHECK(format_named("fp32").smallest_normal() == 0x1p-126);
  CHECK(format_named("fp32").smallest_subnormal() == 0x1p-149);
  CHECK(format_named("fp16").smallest_normal() == 0x1p-14);
  CHECK(format_named("fp16").smallest_subnormal() == 0x1p-24);
  CHECK(format_named("tf32").smallest_normal() == 0x1p-126);
  CHECK(format_named("tf32").epsilon() == format_named("fp16").epsilon());
  CHECK(format_named("tf32").bits() == 19);
}

TEST_CASE("e2m1 counts 0.5 1 1.5 2 3 4 6 and e8m0 spans 2^-127 to 2^127") {
  const NumberFormat& e2m1 = format_named("e2m1");
  CHECK(e2m1.largest() == 6.0);
  CHECK(e2m1.smallest_normal() == 1.0);
  CHECK(e2m1.smallest_subnormal() == 0.5);
  const NumberFormat& e8m0 = format_named("e8m0");
  CHECK(e8m0.largest() == 0x1p127);
  CHECK(e8m0.smallest_normal() == 0x1p-127);
  CHECK(e8m0.bits() == 8);
}

TEST_CASE("the 6-bit formats reach 28 and 7.5, from 1/16 and 1/8 (Rouhani et al. 2023, table 1)") {
  CHECK(format_named("e3m2").largest() == 28.0);
  CHECK(format_named("e3m2").smallest_normal() == 0.25);
  CHECK(format_named("e3m2").smallest_subnormal() == 0.0625);
  CHECK(format_named("e2m3").largest() == 7.5);
  CHECK(format_named("e2m3").smallest_normal() == 1.0);
  CHECK(format_named("e2m3").smallest_subnormal() == 0.125);
}
