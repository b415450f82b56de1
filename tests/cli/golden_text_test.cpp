// SPDX-License-Identifier: Apache-2.0
// What a kept text forgives: fitted numbers that moved, and nothing else.
#include "../support/golden_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using headroom::test::golden_difference;
using headroom::test::GoldenMarks;
using headroom::test::take_marks;

namespace {

constexpr std::string_view plan =
    "Llama 3 70B on 512 x h100-sxm-80gb, bf16\n"
    "tp 8, pp 4, dp 16\n"
    "\n"
    "  step               17.7 s  (13.5 s to 23.1 s)\n"
    "  tokens/s           474 000  (363 000 to 619 000)\n"
    "  tokens/s per GPU   925  (708 to 1210)\n"
    "  MFU                45.1  (34.5 to 58.9) %\n"
    "binds: gemm 48 %, tp_comm 18 %\n"
    "\n"
    "  time of a step              share\n"
    "  gemm             8.51 s    48.1 %\n"
    "  optimizer       8.98 ms  0.0507 %\n"
    "  bubble           708 ms    4.00 %\n";

/// The plan with `old` written as `fresh`.
std::string with(std::string_view old, std::string_view fresh) {
  std::string text{plan};
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

bool same(std::string_view expected, std::string_view actual, const GoldenMarks& marks = {}) {
  return golden_difference(expected, actual, marks).empty();
}

/// Whether the plan may read so, in either direction.
bool forgiven(std::string_view old, std::string_view fresh) {
  const std::string changed = with(old, fresh);
  const bool there = same(plan, changed);
  CHECK(there == same(changed, plan));
  return there;
}

}  // namespace

TEST_CASE("a kept text is itself") {
  CHECK(golden_difference(plan, plan).empty());
}

TEST_CASE("of a kept text fitted numbers may move within a factor of two, not five times off") {
  CHECK(forgiven("17.7 s  (13.5 s to", "11.2 s  (9.13 s to"));
  CHECK(forgiven("474 000", "612 000"));
  CHECK_FALSE(forgiven("17.7 s", "88.5 s"));
  CHECK_FALSE(forgiven("17.7 s", "3.54 s"));
  CHECK_FALSE(forgiven("474 000", "95 000"));
  CHECK_FALSE(forgiven("45.1  (", "9.02  ("));
  CHECK(golden_difference(plan, with("17.7 s", "88.5 s")) ==
        "'17.7 s' and '88.5 s' lie further apart than a factor of two\n"
        "  kept:      step               17.7 s  (13.5 s to 23.1 s)\n"
        "  printed:   step               88.5 s  (13.5 s to 23.1 s)");
}

TEST_CASE("of a kept text an exact integer may not change") {
  CHECK_FALSE(forgiven("512 x", "511 x"));
  CHECK_FALSE(forgiven("tp 8", "tp 4"));
  CHECK_FALSE(forgiven("tp 8", "tp 8.5"));
  CHECK_FALSE(forgiven("h100-sxm-80gb", "h100-sxm-81gb"));
  CHECK_FALSE(same("? 1\n", "? 2\n"));
}

TEST_CASE("of a kept text units keep their dimension, and scale with the number") {
  CHECK(forgiven("708 ms", "1.12 s"));
  CHECK_FALSE(forgiven("17.7 s", "17.7 GiB"));
  CHECK_FALSE(forgiven("17.7 s", "17.7 ms"));
  CHECK_FALSE(forgiven("17.7 s", "17.7"));
  CHECK_FALSE(same("price 2.99 $/h\n", "price 2.99 $/s\n"));
  CHECK_FALSE(same("rate 12.0 req/s\n", "rate 12.0 tokens/s\n"));
}

TEST_CASE("of a kept text no line, word or cell is lost or added") {
  CHECK_FALSE(forgiven("  bubble           708 ms    4.00 %\n", ""));
  CHECK_FALSE(forgiven("\n\n  time", "\n  time"));
  CHECK_FALSE(forgiven(", bf16", ""));
  CHECK_FALSE(forgiven("pp 4, dp", "pp 4; dp"));
  CHECK_FALSE(forgiven("708 ms    4.00 %", "708 ms"));
  CHECK_FALSE(forgiven("708 ms    4.00 %", "708 ms 4.00 %"));
  CHECK_FALSE(forgiven("  bubble", "bubble"));
  CHECK(golden_difference("a\nb\n", "a\n") == "a line is not printed\n  kept:    b");
  CHECK(golden_difference("a\n", "a\nb\n") == "a line more is printed\n  printed: b");
}

TEST_CASE("of a kept table columns may be aligned anew") {
  CHECK(same("  term       time\n  gemm       708 ms\n  optimizer  1.12 s\n",
             "  term          time\n  gemm       0.991 s\n  optimizer   910 ms\n"));
  CHECK(same("  GPUs   dp  tokens/s  per GPU\n    32    1    96 500     1020\n   512   16   474 000      925\n",
             "  GPUs   dp   tokens/s  per GPU\n    32    1    101 000      984\n   512   16    374 000      731\n"));
  CHECK_FALSE(same("  GPUs   dp  per GPU\n   512   16      925\n", "  GPUs   dp  per GPU\n   512   32      925\n"));
  CHECK_FALSE(same("  GPUs   dp  per GPU\n   512   16      925\n", "  GPUs   dp  per GPU\n   512   16      105\n"));
}

TEST_CASE("a kept text takes the numbers of what is printed") {
  using headroom::test::golden_rewritten;
  const std::string kept = "plan of a\n  step   17.4 s  (16.1 s to 18.8 s)\n...\n  gone   3 GPUs\n  cost   13.2 M$\n";
  const std::string printed =
      "plan of a\n  step   9.40 s  (8.10 s to 9.80 s)\n  MFU    46 %\n  cost   1.20 M$\n  cost   7.00 M$\n";
  CHECK(golden_rewritten(kept, printed) ==
        "plan of a\n  step   9.40 s  (8.10 s to 9.80 s)\n...\n  gone   3 GPUs\n  cost   1.20 M$\n");
}

TEST_CASE("of a kept text numbers keep sign, digits and thousands") {
  CHECK_FALSE(same("faster by 31.1 %\n", "faster by -31.1 %\n"));
  CHECK_FALSE(same("+31.1 %\n", "31.1 %\n"));
  CHECK(same("29.6 % fast\n", "26.1 % fast\n"));
  CHECK(same("1.06 % fast\n", "2.59 % slow\n"));
  CHECK_FALSE(forgiven("17.7 s", "17.70 s"));
  CHECK_FALSE(forgiven("17.7 s", "18 s"));
  CHECK_FALSE(forgiven("474 000", "474000"));
  CHECK(same("time 9.98 s\n", "time 10.2 s\n"));
}

TEST_CASE("what is little beside its table is kept by its form") {
  CHECK(forgiven("8.98 ms  0.0507 %", "2.10 ms  0.0119 %"));
  CHECK_FALSE(forgiven("8.98 ms", "2.10 GiB"));
  CHECK_FALSE(forgiven("8.98 ms", "2.1 ms"));
  CHECK_FALSE(forgiven("8.98 ms", "2.10 s"));
}

TEST_CASE("in kept JSON numbers with decimals are fitted, and integers are not") {
  const std::string_view kept =
      "{\n  \"gpus\": 512,\n  \"step_time_s\": {\"low\": 13.545346752650705, \"mid\": 17.70376820571447},\n"
      "  \"memory_bytes\": 4541513728,\n  \"binds\": \"gemm 48 %, head 3 %\",\n  \"rows\": 1893\n}\n";
  const auto changed = [&](std::string_view old, std::string_view fresh) {
    std::string text{kept};
    return same(kept, text.replace(text.find(old), old.size(), fresh));
  };
  CHECK(changed("17.70376820571447", "15.2"));
  CHECK_FALSE(changed("17.70376820571447", "88.2013451"));
  CHECK_FALSE(changed("17.70376820571447", "\"15.2\""));
  CHECK_FALSE(changed("512", "256"));
  CHECK_FALSE(changed("4541513728", "4541513729"));
  CHECK_FALSE(changed("\"mid\"", "\"middle\""));
  CHECK(changed("1893", "2012"));
  CHECK(changed("gemm 48 %, head 3 %", "head 44 %, tp_comm 9 %"));
  CHECK_FALSE(changed("gemm 48 %, head 3 %", "gemm 48 %"));
}

TEST_CASE("a kept line of dots stands for any lines") {
  CHECK(same("a\n...\nd 2.12 s\n", "a\nb\nc\nd 3.01 s\n"));
  CHECK(same("a\n...\n", "a\nb\nc\n"));
  CHECK_FALSE(same("b\n...\nd\n", "a\nb\nc\nd\n"));
  CHECK_FALSE(same("a\n...\nc\n", "a\nb\nc\nd\n"));
  CHECK_FALSE(same("a\n...\ne\n...\n", "a\nb\nc\nd\n"));
}

TEST_CASE("a kept text says which of its numbers are exact, fitted, residuals or in any order") {
  std::string_view text = "! exact weights\n! fitted iterations\n! form level\n! unordered helps\n$ headroom plan\n";
  const GoldenMarks marks = take_marks(text);
  CHECK(text == "$ headroom plan\n");
  CHECK_FALSE(same("weights  4.23 GiB\n", "weights  4.24 GiB\n", marks));
  CHECK(same("gradients  4.23 GiB\n", "gradients  4.24 GiB\n", marks));
  CHECK(same("iterations  269 134\n", "iterations  280 411\n", marks));
  CHECK_FALSE(same("iterations  269 134\n", "iterations  2 804 110\n", marks));
  CHECK_FALSE(same("requests  269 134\n", "requests  280 411\n", marks));
  CHECK(same("level of runs  -522 ms\n", "level of runs  1.67 s\n", marks));
  CHECK(same("helps\nSMs  -14.5 %\nbytes  -12.3 %\n", "helps\nbytes  -15.0 %\nSMs  -11.1 %\n", marks));
  CHECK_FALSE(same("helps\nSMs  -14.5 %\n", "helps\nclock  -15.0 %\n", marks));
  CHECK_FALSE(same("step  12.2 s\n", "step  12.3 s\n", {.exact = {""}, .fitted = {}, .form = {}, .unordered = {}}));
}

TEST_CASE("days of a kept text may move by a year, its versions and months may not") {
  CHECK(same("ends  2024-05-24\n", "ends  2024-09-02\n"));
  CHECK_FALSE(same("ends  2024-05-24\n", "ends  2027-05-24\n"));
  CHECK_FALSE(same("list prices, 2026-08\n", "list prices, 2026-09\n"));
  CHECK_FALSE(same("Headroom 0.1.0\n", "Headroom 0.1.1\n"));
}
