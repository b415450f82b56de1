// SPDX-License-Identifier: Apache-2.0
// What rows of a table say: the words in which they differ, those of all once.
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>
#include <headroom/scenarios/words/told_apart.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headroom;

TEST_CASE("rows are told by the words in which they differ, in their order, and what all share is told once") {
  const ToldApart told = told_apart({{{"gpu", "h100"}, {"tp", "tp 4"}, {"pp", "pp 2"}, {"weights", "fp8"}},
                                     {{"gpu", "h100"}, {"tp", "tp 8"}, {"weights", "fp8"}}});
  CHECK(told.alike == "h100, fp8");
  CHECK(told.rows == std::vector<std::string>{"tp 4, pp 2", "tp 8"});
}

TEST_CASE("one row says all of its words, and one without words of its own has a sign for it") {
  const ToldApart one = told_apart({{{"tp", "tp 4"}, {"weights", "fp8"}}});
  CHECK(one.alike.empty());
  CHECK(one.rows == std::vector<std::string>{"tp 4, fp8"});
  const ToldApart bare = told_apart({{{"tp", "tp 4"}}, {{"tp", "tp 4"}, {"draft", "draft 3"}}});
  CHECK(bare.alike == "tp 4");
  CHECK(bare.rows == std::vector<std::string>{"-", "draft 3"});
  CHECK(told_apart({}).rows.empty());
}

TEST_CASE("the words of a strategy are its text") {
  Strategy strategy;
  strategy.tp = 4;
  strategy.vpp = 3;
  strategy.sequence_parallel = true;
  CHECK(strategy_text(strategy) == words_text(strategy_words(strategy)));
  CHECK(strategy_text(strategy).starts_with("tp 4, pp 1, dp 1, vpp 3, micro-batch "));
  CHECK(strategy_text(strategy).ends_with(", sequence parallel"));
  CHECK(word_of(Change{Knob::max_num_seqs, 64}).text == "max num seqs 64");
}
