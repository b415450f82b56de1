// SPDX-License-Identifier: Apache-2.0
// Floating-point numbers from text and back.
#include <headroom/core/real_text.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

using namespace headroom;

TEST_CASE("a number ends where its text stops being one") {
  CHECK(read_real("80 GiB").value == 80.0);
  CHECK(read_real("80 GiB").length == 2);
  CHECK(read_real("1e3x").length == 3);
  CHECK(read_real("1e").length == 1);  // an exponent without digits is not part of it
  CHECK(read_real("-.5").value == -0.5);
  CHECK(read_real("").error == std::errc::invalid_argument);
  CHECK(read_real(" 1").error == std::errc::invalid_argument);
  CHECK(read_real("+1").error == std::errc::invalid_argument);
  CHECK(read_real("1e999").error == std::errc::result_out_of_range);
}

TEST_CASE("a whole number takes the whole text") {
  CHECK(whole_real("2.5") == 2.5);
  CHECK_FALSE(whole_real("2.5 "));
  CHECK_FALSE(whole_real("0x10"));
  CHECK_FALSE(whole_real("1e999"));
}

TEST_CASE("the shortest text reads back as the same bits") {
  CHECK(shortest_text(0.1) == "0.1");
  CHECK(shortest_text(1e22) == "1e+22");
  CHECK(shortest_text(100000.0) == "1e+05");  // the shorter of both notations
  CHECK(shortest_text(10000.0) == "10000");
  CHECK(shortest_text(-0.0) == "-0");
  std::mt19937_64 random{7};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0.0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) {
      REQUIRE(whole_real(shortest_text(value)) == value);
    }
  }
}

TEST_CASE("significant digits are as many as asked") {
  CHECK(general_text(2.8284, 3) == "2.83");
  CHECK(general_text(8.0, 3) == "8");
  CHECK(general_text(0.000015, 2) == "1.5e-05");
}
