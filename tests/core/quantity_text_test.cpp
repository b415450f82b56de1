// SPDX-License-Identifier: Apache-2.0
// Every prefix, every unit, and the pairs that people mix up.
#include <headroom/core/quantity_text.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>
#include <map>

using namespace headroom;
using headroom::test::near;

namespace {

template <class Q>
double value(std::string_view text) {
  const auto parsed = parse_quantity(text, dimension_of<Q>);
  REQUIRE_MESSAGE(std::holds_alternative<double>(parsed), text);
  return std::get<double>(parsed);
}

template <class Q>
std::string error(std::string_view text) {
  const auto parsed = parse_quantity(text, dimension_of<Q>);
  REQUIRE_MESSAGE(std::holds_alternative<TextError>(parsed), text);
  return std::get<TextError>(parsed).message;
}

}  // namespace

TEST_CASE("every prefix has its factor") {
  const std::map<std::string_view, double> expected{{"k", 1e3},
                                                    {"M", 1e6},
                                                    {"G", 1e9},
                                                    {"T", 1e12},
                                                    {"P", 1e15},
                                                    {"E", 1e18},
                                                    {"Ki", 1024.0},
                                                    {"Mi", 1048576.0},
                                                    {"Gi", 1073741824.0},
                                                    {"Ti", 1099511627776.0},
                                                    {"Pi", std::pow(2.0, 50)},
                                                    {"Ei", std::pow(2.0, 60)},
                                                    {"m", 1e-3},
                                                    {"u", 1e-6},
                                                    {"n", 1e-9}};
  CHECK(prefixes().size() == expected.size());
  for (const Prefix& prefix : prefixes()) {
    CAPTURE(prefix.symbol);
    REQUIRE(expected.count(prefix.symbol) == 1);
    const double factor = expected.at(prefix.symbol);
    const std::string symbol{prefix.symbol};
    if (prefix.symbol.size() == 2 || factor > 1.0) {
      CHECK(value<Bytes>("2 " + symbol + "B") == near(2 * factor));
      CHECK(value<Bytes>("2 " + symbol + "b") == near(2 * factor / 8));
    }
    if (prefix.symbol.size() == 1 && factor > 1.0) {
      CHECK(value<Flops>("3 " + symbol + "FLOP") == near(3 * factor));
      CHECK(value<FlopsPerSecond>("3 " + symbol + "OP/s") == near(3 * factor));
      CHECK(value<Hertz>("3 " + symbol + "Hz") == near(3 * factor));
      CHECK(value<Watts>("3 " + symbol + "W") == near(3 * factor));
      CHECK(value<Dollars>("3 " + symbol + "$") == near(3 * factor));
      CHECK(value<Joules>("3 " + symbol + "Wh") == near(3 * factor * 3600));
    }
    if (factor < 1.0) {
      CHECK(value<Seconds>("5 " + symbol + "s") == near(5 * factor));
    }
  }
}

TEST_CASE("every unit stands for itself") {
  CHECK(value<Seconds>("90 s") == 90.0);
  CHECK(value<Seconds>("2 min") == 120.0);
  CHECK(value<Seconds>("2 h") == 7200.0);
  CHECK(value<Seconds>("2 d") == 172800.0);
  CHECK(value<Joules>("7 J") == 7.0);
  CHECK(value<DollarsPerSecond>("3.6 $/h") == near(0.001));
  CHECK(value<DollarsPerJoule>("0.36 $/kWh") == near(1e-7));
}

TEST_CASE("GB is not GiB, Gb/s is not GB/s, and TFLOP/s is 1e12") {
  CHECK(value<Bytes>("80 GB") == 80e9);
  CHECK(value<Bytes>("80 GiB") == 80.0 * 1073741824.0);
  CHECK(value<BytesPerSecond>("400 Gb/s") == 50e9);
  CHECK(value<BytesPerSecond>("400 GB/s") == 400e9);
  CHECK(value<BytesPerSecond>("3.35 TB/s") == near(3.35e12));
  CHECK(value<FlopsPerSecond>("989 TFLOP/s") == near(989e12));
}

TEST_CASE("blanks around number and unit do not matter, a missing one neither") {
  CHECK(value<Bytes>("  80GiB ") == value<Bytes>("80 GiB"));
  CHECK(value<BytesPerSecond>("400 Gb / s") == 50e9);
}

TEST_CASE("a time below the slash may be a window of several units") {
  CHECK(value<Hertz>("1e7 req/8h") == near(1e7 / 28800.0));
  CHECK(value<Hertz>("90 req / 1.5 min") == near(1.0));
  CHECK(value<DollarsPerSecond>("720 $/30 d") == near(1.0 / 3600.0));
  CHECK(value<DollarsPerByteSecond>("46 $/GB/2month") == value<DollarsPerByteSecond>("23 $/GB/month"));
  CHECK(error<Hertz>("5 req/0h").starts_with("unknown unit 'req/0h' in '5 req/0h'"));
  CHECK(error<Hertz>("5 req/-8h").starts_with("unknown unit 'req/-8h'"));
  CHECK(error<Hertz>("5 req/inf h").starts_with("unknown unit 'req/inf h'"));
  CHECK(error<Hertz>("5 req/8").starts_with("unknown unit 'req/8'"));
  CHECK(error<DollarsPerByte>("5 $/8GB").starts_with("unknown unit '$/8GB'"));
  CHECK(error<Bytes>("80 GB/8h") == "'80 GB/8h' is of another kind; expected e.g. \"80 GiB\"");
}

TEST_CASE("prefixes that a unit does not take are refused") {
  CHECK(error<Seconds>("1 ks").starts_with("unknown unit 'ks'"));
  CHECK(error<Flops>("1 GiFLOP").starts_with("unknown unit"));
  CHECK(error<Bytes>("1 mB").starts_with("unknown unit"));
}

TEST_CASE("errors name the value and the way out") {
  CHECK(error<Bytes>("80") == "'80' needs a unit, e.g. \"80 GiB\"");
  CHECK(error<BytesPerSecond>("400 Gbps") == "unknown unit 'Gbps' in '400 Gbps'; did you mean 'Gb/s'?");
  CHECK(error<FlopsPerSecond>("989 TFLOPS") == "unknown unit 'TFLOPS' in '989 TFLOPS'; did you mean 'TFLOP/s'?");
  CHECK(error<Bytes>("80 GB/s") == "'80 GB/s' is of another kind; expected e.g. \"80 GiB\"");
  CHECK(error<Bytes>("many") == "'many' is not a number with a unit, e.g. \"80 GiB\"");
  CHECK(error<Bytes>("") == "'' is not a number with a unit, e.g. \"80 GiB\"");
  CHECK(error<Bytes>("1e400 GB") == "'1e400 GB' is outside the range of numbers");
  CHECK(error<Bytes>("1e308 EiB") == "'1e308 EiB' is outside the range of numbers");
  CHECK(error<Bytes>("nan GB") == "'nan GB' is not a finite number");
  CHECK(error<Bytes>("inf GB") == "'inf GB' is not a finite number");
}

TEST_CASE("shown quantities have three digits and a readable prefix") {
  CHECK(format(Bytes{80.0 * 1073741824.0}) == "80.0 GiB");
  CHECK(format(BytesPerSecond{3.35e12}) == "3.35 TB/s");
  CHECK(format(Seconds{0.00123}) == "1.23 ms");
  CHECK(format(Seconds{3600.0 * 30}) == "30.0 h");
  CHECK(format(Seconds{86400.0 * 30}) == "30.0 days");
  CHECK(format(FlopsPerSecond{989e12}) == "989 TFLOP/s");
  CHECK(format(Dollars{1234567}) == "1.23 M$");
  CHECK(format(DollarsPerSecond{2.99 / 3600}) == "2.99 $/h");
  CHECK(format(Bytes{0}) == "0 B");
}

TEST_CASE("numbers round to their digits and group thousands") {
  CHECK(format_number(1234567) == "1 230 000");
  CHECK(format_number(9.996) == "10.0");
  CHECK(format_number(999.6) == "1000");
  CHECK(format_number(0.03125) == "0.0312");
  CHECK(format_number(-2.5) == "-2.50");
  CHECK(format_count(15000000) == "15 000 000");
  CHECK(format_count(126) == "126");
  CHECK(format_count(0) == "0");
}

TEST_CASE("quantities combine their dimensions at no cost") {
  static_assert(sizeof(BytesPerSecond) == sizeof(double));
  static_assert(std::is_same_v<decltype(Bytes{1} / BytesPerSecond{1}), Seconds>);
  static_assert(std::is_same_v<decltype(Watts{1} * Seconds{1}), Joules>);
  static_assert(std::is_same_v<decltype(Flops{1} / Flops{1}), double>);
  static_assert(!std::is_convertible_v<double, Seconds> && !std::is_convertible_v<Seconds, double>);
  CHECK((Bytes{8} / BytesPerSecond{4}).raw() == 2.0);
  CHECK((1.0 / Seconds{4}).raw() == 0.25);
}

TEST_CASE("short numbers: k, M, B, G and T are powers of a thousand, or of 1024 where that is asked for") {
  const auto is = [](std::string_view text, double expected, double thousand = 1000.0) {
    CAPTURE(text);
    const std::optional<double> value = parse_short_number(text, thousand);
    REQUIRE(value);
    CHECK(*value == expected);
  };
  is("15T", 15e12);
  is(" 15 T ", 15e12);
  is("1.5B", 1.5e9);
  is("1.5G", 1.5e9);
  is("2M", 2e6);
  is("128k", 128e3);
  is("128K", 128e3);
  is("128k", 131072.0, 1024.0);
  is("1M", 1048576.0, 1024.0);
  is("128Ki", 131072.0);
  is("1Ti", 1099511627776.0);
  is("1e3k", 1e6);
  for (const std::string_view none :
       {"", "k", "15", "15t", "1m", "1b", "1Bi", "1kk", "1 k B", "1kB", "infk", "nanM", "12 req/s", "1e308T", "1,5k"}) {
    CAPTURE(none);
    CHECK_FALSE(parse_short_number(none));
  }
}
