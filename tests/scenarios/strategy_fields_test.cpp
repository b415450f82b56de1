// SPDX-License-Identifier: Apache-2.0
// The list of a strategy's fields: each is a key, and what walks the list has every one of them.
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/question/stated_training.hpp>
#include <headroom/scenarios/search/findings.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>

using namespace headroom;

namespace {

/// A strategy whose every field has another value than usual, in ranks that go together.
StatedStrategy unusual() {
  StatedStrategy stated;
  for_each_strategy_field([&](const auto& field) {
    using Held = std::remove_reference_t<decltype(*field.of(stated))>;
    field.of(stated) = static_cast<Held>(std::is_same_v<Held, bool> ? 1 : 2);
  });
  return stated;
}

}  // namespace

TEST_CASE("a field of a strategy is a key of [strategy], with the words of its key") {
  for_each_strategy_field([](const auto& field) {
    const Key* const key = find_key("strategy." + std::string{field.name.view()}, Kinds::train);
    REQUIRE(key != nullptr);
    if (!field.words.empty()) {
      CHECK(std::equal(field.words.begin(), field.words.end(), key->choices.begin(), key->choices.end()));
    }
  });
}

TEST_CASE("what is stated of a strategy is what it resolves to, each field of it") {
  const StatedStrategy stated = unusual();
  const Strategy s = resolve_strategy(stated, Architecture{}, StackDefaults{}, 64);
  for_each_strategy_field([&](const auto& field) {
    CAPTURE(std::string{field.name.view()});
    CHECK(field.of(s) == *field.of(stated));
  });
}

TEST_CASE("a checkpoint keeps every field of a strategy") {
  Findings kept;
  Candidate candidate;
  candidate.strategy = resolve_strategy(unusual(), Architecture{}, StackDefaults{}, 64);
  candidate.strategy.etp_open = true;
  kept.candidates.push_back(candidate);
  std::ostringstream out;
  write_findings(out, kept);
  std::istringstream lines{out.str()};
  Findings read;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string word;
    words >> word;
    REQUIRE(read_finding(word, words, read));
  }
  REQUIRE(read.candidates.size() == 1);
  CHECK(read.candidates.front().strategy == candidate.strategy);
}

TEST_CASE("a usual strategy tells no field, an unusual one each that is told by its field alone") {
  const auto told = [](const Strategy& s) {
    std::string names;
    for_each_told_field(s, [&](const auto& field) { names += std::string{field.told} + ";"; });
    return names;
  };
  CHECK(told(Strategy{}).empty());
  Strategy s;
  s.cuda_graphs = true;
  CHECK(told(s) == "CUDA graphs;");
  CHECK(strategy_text(s).find(", CUDA graphs") != std::string::npos);
}
