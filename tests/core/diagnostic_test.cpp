// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace headroom;

TEST_CASE("the first hundred problems of a text are told, of the others the number") {
  Diagnostics diagnostics;
  constexpr int all = 100'000;
  for (int i = all; i > 0; --i) {  // from the end: the order of the text decides, not that of the finding
    diagnostics.add("f.csv", {i, 1}, "bad row " + std::to_string(i));
  }
  CHECK(diagnostics.size() == all);
  const std::vector<Diagnostic> told = diagnostics.sorted();
  REQUIRE(told.size() == most_problems_told);
  CHECK(told.front().message == "bad row 1");
  CHECK(told.back().message == "bad row 100");
  CHECK(diagnostics.untold() == all - most_problems_told);
  try {
    diagnostics.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const ConfigError& error) {
    CHECK(error.diagnostics().size() == most_problems_told);
    CHECK(error.untold() == all - most_problems_told);
    CHECK(std::string{error.what()}.ends_with("\n99,900 more problems follow these"));
  }
}

TEST_CASE("a hundred problems are told whole, one more is counted") {
  Diagnostics diagnostics;
  for (int i = 1; i <= 100; ++i) {
    diagnostics.add("f", {i, 1}, "bad");
  }
  CHECK(diagnostics.sorted().size() == 100);
  CHECK(diagnostics.untold() == 0);
  diagnostics.add("f", {101, 1}, "bad");
  CHECK(diagnostics.untold() == 1);
  CHECK(untold_text(1) == "1 more problem follows these");
  CHECK(untold_text(0).empty());
  CHECK(untold_text(1234567) == "1,234,567 more problems follow these");
}

TEST_CASE("problems stand in the order of files, lines and columns, equal ones once") {
  Diagnostics diagnostics;
  diagnostics.add("b", {2, 1}, "two");
  diagnostics.add("a", {1, 1}, "of the second file");
  diagnostics.add("b", {1, 9}, "one");
  diagnostics.add("b", {2, 1}, "two");
  const std::vector<Diagnostic> told = diagnostics.sorted();
  REQUIRE(told.size() == 3);
  CHECK(told[0].text() == "b:1:9: error: one");
  CHECK(told[1].text() == "b:2:1: error: two");
  CHECK(told[2].text() == "a:1:1: error: of the second file");
  CHECK(diagnostics.size() == 4);
  CHECK(diagnostics.untold() == 0);
}

TEST_CASE("words are made only for problems that may be told") {
  Diagnostics diagnostics;
  int made = 0;
  for (int i = 1; i <= 100'000; ++i) {
    diagnostics.add("f", {i, 1}, [&] {
      ++made;
      return "bad " + std::to_string(i);
    });
  }
  CHECK(made <= static_cast<int>(2 * most_problems_told));
  CHECK(diagnostics.sorted().back().message == "bad 100");
  CHECK(diagnostics.untold() == 99'900);
}

TEST_CASE("problems that were caught or gathered apart keep their number") {
  Diagnostics many;
  for (int i = 1; i <= 250; ++i) {
    many.add("f", {i, 1}, "bad");
  }
  Diagnostics all;
  all.add("g", {1, 1}, "before");
  all.add(many);
  all.add(Diagnostics{});
  try {
    many.throw_if_any();
  } catch (const ConfigError& error) {
    all.add(error);
  }
  CHECK(all.size() == 1 + 250 + 250);
  CHECK(all.sorted().front().file == "g");
}
