// SPDX-License-Identifier: Apache-2.0
// What the host makes of stored numbers: the reference that a device's product is held against.
#include <headroom/calibrate/probes/gemm_reference.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

using namespace headroom::probes;

TEST_CASE("8-bit floats have the extremes that OCP 8-bit Floating Point 1.0 tells, section 5.1, table 3") {
  const auto one = [](unsigned char code, Number number) { return decoded({code}, 0, number); };
  CHECK(one(0x7E, Number::e4m3) == 448.0);
  CHECK(one(0x08, Number::e4m3) == std::ldexp(1.0, -6));
  CHECK(one(0x01, Number::e4m3) == std::ldexp(1.0, -9));
  CHECK(one(0xFE, Number::e4m3) == -448.0);
  CHECK(std::isnan(one(0x7F, Number::e4m3)));
  CHECK(one(0x7B, Number::e5m2) == 57344.0);
  CHECK(one(0x04, Number::e5m2) == std::ldexp(1.0, -14));
  CHECK(one(0x01, Number::e5m2) == std::ldexp(1.0, -16));
  CHECK(std::isinf(one(0x7C, Number::e5m2)));
  CHECK(std::isnan(one(0x7D, Number::e5m2)));
}

TEST_CASE("the sixteen codes of e2m1, two a byte, the first in the low half") {
  const std::vector<double> magnitudes{0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
  std::vector<unsigned char> raw;
  for (unsigned code = 0; code < 8; ++code) {
    raw.push_back(static_cast<unsigned char>(code | ((code | 8U) << 4U)));
  }
  for (std::int64_t code = 0; code < 8; ++code) {
    CAPTURE(code);
    CHECK(decoded(raw, 2 * code, Number::e2m1) == magnitudes[static_cast<std::size_t>(code)]);
    CHECK(decoded(raw, (2 * code) + 1, Number::e2m1) == -magnitudes[static_cast<std::size_t>(code)]);
  }
}

TEST_CASE("wider numbers: bf16, fp16, fp32 and integers, of more than one byte in little-endian order") {
  CHECK(decoded({0x00, 0x00, 0x49, 0x40}, 1, Number::bf16) == 3.140625);
  CHECK(decoded({0x48, 0x42}, 0, Number::fp16) == 3.140625);
  CHECK(decoded({0x01, 0x00}, 0, Number::fp16) == std::ldexp(1.0, -24));
  CHECK(decoded({0x00, 0x00, 0x49, 0xC0}, 0, Number::fp32) == -3.140625);
  CHECK(decoded({0x01, 0x80}, 1, Number::int8) == -128.0);
  CHECK(decoded({0xFE, 0xFF, 0xFF, 0xFF}, 0, Number::int32) == -2.0);
}

TEST_CASE("scales of blocks lie in tiles of 128 rows by 4, every one at a place of its own") {
  CHECK(decoded_scale(0x38) == 1.0);
  CHECK(decoded_scale(0x30) == 0.5);
  CHECK(decoded_scale(0x40) == 2.0);
  CHECK(scale_bytes(1, 16) == 512);
  CHECK(scale_bytes(129, 80) == 4 * 512);
  // The corners that the documentation's figure shows: rows 0, 1, 32 and 127, then the next tile along k, then along
  // the rows.
  constexpr std::int64_t k = 128;
  CHECK(scale_place(0, 3, k) == 3);
  CHECK(scale_place(1, 0, k) == 16);
  CHECK(scale_place(32, 0, k) == 4);
  CHECK(scale_place(127, 3, k) == 511);
  CHECK(scale_place(0, 4, k) == 512);
  CHECK(scale_place(128, 0, k) == 1024);
  std::set<std::int64_t> places;
  for (std::int64_t row = 0; row < 256; ++row) {
    for (std::int64_t block = 0; block < k / scaled_block; ++block) {
      places.insert(scale_place(row, block, k));
    }
  }
  CHECK(places.size() == 256 * 8);
  CHECK(*places.rbegin() == scale_bytes(256, k) - 1);
}
