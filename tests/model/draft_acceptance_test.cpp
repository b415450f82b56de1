// SPDX-License-Identifier: Apache-2.0
// Published acceptances of drafts, and what is assumed from them.
#include <headroom/model/serve/engine/draft_acceptance.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <cmath>
#include <string>

using namespace headroom;

namespace {

const PublishedDrafts& shipped() {
  return published_drafts(test::model_data());
}

std::string problem_of(const std::string& tables) {
  Diagnostics diagnostics;
  static_cast<void>(read_published_drafts(
      parse_toml("schema = 1\nid = \"draft-acceptance\"\nsource = \"a test\"\n" + tables, "drafts.toml"), diagnostics));
  try {
    diagnostics.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("an acceptance and the tokens of its steps are each other's inverse") {
  for (const std::int64_t draft : {1, 3, 8}) {
    for (const double acceptance : {0.05, 0.5, 0.9}) {
      const double tokens = Speculation{draft, acceptance, 0}.tokens_per_step();
      CHECK(acceptance_of(tokens, draft) == doctest::Approx(acceptance).epsilon(1e-9));
    }
  }
}

TEST_CASE("a model with published tables takes the mean of its own, any other that of all models, and is less sure") {
  const auto own = shipped().assumed("qwen3.5-397b-a17b", "mtp", 3);
  REQUIRE(own);
  CHECK(own->own);
  CHECK(own->count == 1);
  // 3.39 and 3.33 tokens a step of one task, thinking and not: models differ as much as another task may
  CHECK(Speculation{3, own->mid, 0}.tokens_per_step() == doctest::Approx(3.36).epsilon(0.002));
  const auto other = shipped().assumed("llama3.1-70b", "mtp", 3);
  REQUIRE(other);
  CHECK_FALSE(other->own);
  CHECK(other->count == 5);
  CHECK(own->mid - own->low == doctest::Approx(0.5 * (other->high - other->low)));
  const auto two = shipped().assumed("deepseek-v3", "mtp", 3);
  REQUIRE(two);
  CHECK(two->count == 2);
  CHECK(other->high - other->low > two->high - two->low);
  CHECK(other->low < other->mid);
  CHECK(other->high <= 0.99);
  CHECK_FALSE(shipped().assumed("llama3.1-70b", "medusa", 3));
}

TEST_CASE("with more drafts than are published the largest published number says the acceptance") {
  const auto five = shipped().assumed("gpt-oss-20b", "eagle3", 5);
  const auto three = shipped().assumed("gpt-oss-20b", "eagle3", 3);
  REQUIRE(five);
  CHECK(five->mid == three->mid);
  CHECK(shipped().assumed("gpt-oss-20b", "eagle3", 9)->mid == shipped().assumed("gpt-oss-20b", "eagle3", 7)->mid);
}

TEST_CASE("a checkpoint left out lies within what the others say in about four of five cases") {
  int inside = 0;
  int all = 0;
  double error = 0.0;
  for (const AcceptedDrafts& table : shipped().tables) {
    PublishedDrafts rest;
    for (const AcceptedDrafts& other : shipped().tables) {
      if (other.model != table.model) {
        rest.tables.push_back(other);
      }
    }
    for (std::size_t i = 0; i < table.drafts.size(); ++i) {
      const auto assumed = rest.assumed("", table.method, table.drafts[i]);
      REQUIRE(assumed);
      const auto tokens = [&](double a) { return Speculation{table.drafts[i], a, 0}.tokens_per_step(); };
      inside += tokens(assumed->low) <= table.tokens[i] && table.tokens[i] <= tokens(assumed->high) ? 1 : 0;
      error += std::abs(tokens(assumed->mid) / table.tokens[i] - 1.0);
      ++all;
    }
  }
  CHECK(all == 86);
  CHECK(error / all < 0.14);
  CHECK(inside >= 0.75 * all);
  CHECK(inside <= 0.9 * all);
}

TEST_CASE("tokens that no acceptance makes are refused") {
  const std::string table =
      "[[accepted]]\nmodel = \"m\"\nmethod = \"mtp\"\ntask = \"t\"\nsource = \"s\"\ndrafts = [1, 3]\n";
  CHECK(problem_of(table + "tokens = [1.8, 2.5]\n") == "none");
  CHECK(problem_of(table + "tokens = [2.1, 2.5]\n").find("lies between 0 and 1") != std::string::npos);
  CHECK(problem_of(table + "tokens = [1.8]\n").find("a number for each of 'drafts'") != std::string::npos);
}
