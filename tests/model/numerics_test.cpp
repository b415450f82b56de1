// SPDX-License-Identifier: Apache-2.0
// Formats as they are stored, loss scales, and sums: values that the standards state, and sums added up one by one.
#include <headroom/model/laboratory/loss_scale.hpp>
#include <headroom/model/laboratory/stored_format.hpp>
#include <headroom/model/laboratory/summation.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

const NumberFormat& numbers(std::string_view name) {
  const StoredFormat* const found = find_stored_format(name);
  REQUIRE(found != nullptr);
  REQUIRE(found->number() != nullptr);
  return *found->number();
}

}  // namespace

TEST_CASE("bits of an element with its part of the scale: 8.25 of mxfp8, 4.25 of mxfp4, 4.5 of nvfp4") {
  CHECK(find_stored_format("mxfp8")->bits() == near(8.25));
  CHECK(find_stored_format("mxfp4")->bits() == near(4.25));
  CHECK(find_stored_format("nvfp4")->bits() == near(4.5));
  CHECK(find_stored_format("int8")->largest() == 127.0);
  CHECK(find_stored_format("int4")->largest() == 7.0);
  CHECK(find_stored_format("fp8")->name == "e4m3");
  CHECK(find_stored_format("fp7") == nullptr);
}

TEST_CASE("rounding is to nearest, ties to even, subnormals kept, 65520 to infinity in fp16") {
  const NumberFormat& fp16 = numbers("fp16");
  CHECK(nearest_value(fp16, 2049.0) == 2048.0);
  CHECK(nearest_value(fp16, 2051.0) == 2052.0);
  CHECK(nearest_value(fp16, 65519.0) == 65504.0);
  CHECK(std::isinf(nearest_value(fp16, 65520.0)));
  CHECK(nearest_value(fp16, -0x1p-24) == -0x1p-24);
  CHECK(nearest_value(fp16, 0x1p-25) == 0.0);
  CHECK(nearest_value(fp16, 0x1.8p-25) == 0x1p-24);
  CHECK(nearest_value(numbers("e4m3"), 463.0) == 448.0);
  CHECK(nearest_value(numbers("e2m1"), 100.0) == 6.0);
  for (const float value : {1.0F, 3.14159F, 1e-40F, 123456.789F}) {
    CHECK(nearest_value(numbers("fp32"), static_cast<double>(value) * (1.0 + 1e-9)) ==
          static_cast<double>(static_cast<float>(static_cast<double>(value) * (1.0 + 1e-9))));
  }
}

TEST_CASE("gradients of 1e-9 in fp16 live from 2^5 by rounding, from 2^6 at the smallest subnormal, whole from 2^16") {
  const NumberFormat& fp16 = numbers("fp16");
  CHECK(least_scale_nonzero(fp16, 1e-9) == 32.0);     // 3.2e-8, above 2^-25 = 2.98e-8
  CHECK(least_scale_subnormal(fp16, 1e-9) == 64.0);   // 6.4e-8, above 2^-24 = 5.96e-8
  CHECK(least_scale_normal(fp16, 1e-9) == 65536.0);   // 6.55e-5, above 2^-14 = 6.10e-5
  CHECK(least_scale_nonzero(fp16, 0x1p-30) == 64.0);  // 2^5 times it is 2^-25, which ties to zero
  CHECK(least_scale_subnormal(fp16, 0x1p-30) == 64.0);
  CHECK(fate_of(fp16, 16.0 * 1e-9) == Fate::zero);
  CHECK(fate_of(fp16, 64.0 * 1e-9) == Fate::subnormal);
  CHECK(fate_of(fp16, 65536.0 * 1e-9) == Fate::normal);
  CHECK(fate_of(fp16, 65536.0 * 2.0) == Fate::overflow);
}

TEST_CASE("the largest scale of a largest gradient of 2 is 2^14 in fp16: 2^15 makes 65536") {
  CHECK(largest_scale(numbers("fp16"), 2.0) == 16384.0);
  CHECK(fate_of(numbers("fp16"), 2.0 * 16384.0) == Fate::normal);
  CHECK(fate_of(numbers("fp16"), 2.0 * 32768.0) == Fate::overflow);
  CHECK(largest_scale(numbers("e2m1"), 6.0) == 1.0);
  CHECK(fate_of(numbers("e2m1"), 7.0) == Fate::overflow);
  CHECK(largest_scale(numbers("fp32"), 1e-9) > 1e40);
}

TEST_CASE("a subnormal number loses a bit with each halving") {
  const NumberFormat& fp16 = numbers("fp16");
  CHECK(significant_bits(fp16, 1.0) == 11);
  CHECK(significant_bits(fp16, 0x1p-14) == 11);
  CHECK(significant_bits(fp16, 0x1p-15) == 10);
  CHECK(significant_bits(fp16, 0x1p-24) == 1);
  CHECK(significant_bits(fp16, 0x1p-26) == 0);
}

TEST_CASE("running sums of ones stall where adding one by one does: 2048, 256, 16, 8") {
  for (const auto& [name, stall] : {std::pair{"fp16", 2048.0}, std::pair{"bf16", 256.0}, std::pair{"e4m3", 16.0},
                                    std::pair{"e5m2", 8.0}, std::pair{"e2m1", 4.0}}) {
    CAPTURE(name);
    double sum = 0.0;
    for (int i = 0; i < 10000; ++i) {
      sum = nearest_value(numbers(name), sum + 1.0);
    }
    CHECK(sum == stall);
    CHECK(stalled_sum(numbers(name)) == stall);
  }
  CHECK(stalled_sum(numbers("fp32")) == 16777216.0);
  CHECK(running_sum_of_ones(numbers("fp32"), 1e6) == 1e6);
  CHECK(running_sum_of_ones(numbers("fp16"), 1e6) == 2048.0);
}

TEST_CASE("sums by halves: what adding them up says, exact for powers of two, too large for fp16 from 65520") {
  const auto by_halves = [](const NumberFormat& format, int n) {
    const auto sum = [&](const auto& self, int of) -> double {
      return of == 1 ? 1.0 : nearest_value(format, self(self, of / 2) + self(self, of - of / 2));
    };
    return sum(sum, n);
  };
  for (const int n : {1, 2, 3, 7, 1000, 4095, 4097, 60001}) {
    CAPTURE(n);
    CHECK(pairwise_sum_of_ones(numbers("bf16"), n) == by_halves(numbers("bf16"), n));
    CHECK(pairwise_sum_of_ones(numbers("fp16"), n) == by_halves(numbers("fp16"), n));
  }
  CHECK(pairwise_sum_of_ones(numbers("bf16"), 0x1p20) == 0x1p20);
  CHECK(std::isinf(pairwise_sum_of_ones(numbers("fp16"), 1e6)));
  CHECK(pairwise_sum_of_ones(numbers("fp32"), 1e6) == 1e6);
}

TEST_CASE("a million terms: 999 999 roundings one after another, 20 by halves, 2 after compensation") {
  CHECK(running_roundings(1e6) == 999999.0);
  CHECK(pairwise_roundings(1e6) == 20.0);
  CHECK(split_roundings(1e6, 10.0) == 99999.0 + 9.0);
  const double u = unit_roundoff(numbers("fp32"));
  CHECK(u == 0x1p-24);
  CHECK(*error_bound(20.0, u) == near(20.0 * u / (1.0 - 20.0 * u)));
  CHECK_FALSE(error_bound(999999.0, unit_roundoff(numbers("fp16"))).has_value());
  CHECK(*compensated_bound(1e6, u) == near(2.0 * u + 1e6 * u * u));
  CHECK(likely_error(10000.0, u) == near(100.0 * u));
}
