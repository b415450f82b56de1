// SPDX-License-Identifier: Apache-2.0
// Scaling laws of the loss: published losses, published optima, and the price of a large batch.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/advice/batch_change.hpp>
#include <headroom/scenarios/goodput/target_loss.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>

using namespace headroom;
using namespace headroom::goodput;
using headroom::test::near;

TEST_CASE("Hoffmann 2022: the terms of Gopher and Chinchilla, and tokens back from the loss") {
  // 280 G parameters on 300 G tokens and 70 G on 1.4 T: 1.993 and 1.936 by the printed numbers.
  const LossLaw& law = loss_law("hoffmann-2022");
  CHECK(law.loss(280e9, 300e9) == near(1.993, 0.0005));
  CHECK(law.loss(70e9, 1.4e12) == near(1.936, 0.0005));
  for (const LossLaw& each : loss_laws()) {
    CAPTURE(each.id);
    CHECK(tokens_to_loss(each, 8e9, each.loss(8e9, 15e12)) == near(15e12, 1e-6));
    CHECK_FALSE(each.source.empty());
  }
}

TEST_CASE("a larger batch is not free: at the critical one twice the tokens and twice the fewest steps") {
  const LossLaw& law = loss_law("besiroglu-2024");
  const double loss = law.loss(8e9, 1e12);
  const TargetLoss at = way_to_loss(law, 8e9, loss, 4e6, 4e6);
  CHECK(at.least_tokens == near(1e12, 1e-6));
  CHECK(at.tokens == near(2e12, 1e-6));
  CHECK(at.steps == near(2.0 * 1e12 / 4e6, 1e-6));
  CHECK(at.stated);
  const TargetLoss larger = way_to_loss(law, 8e9, loss, 16e6, 4e6);
  CHECK(larger.tokens == near(5e12, 1e-6));
  CHECK(larger.steps / at.steps == near(1.25 / 2.0));
  const TargetLoss small = way_to_loss(law, 8e9, loss, 4e3, 4e6);
  CHECK(small.tokens == near(1.001e12, 1e-6));
  const TargetLoss unstated = way_to_loss(law, 8e9, loss, 4e6);
  CHECK_FALSE(unstated.stated);
  CHECK(unstated.critical == near(critical_tokens(loss)));
}

TEST_CASE("a loss out of reach says what reaches it") {
  const LossLaw& law = loss_law("hoffmann-2022");
  const double floor = law.floor(1e9);
  const auto at = [&](double loss) { return (void)tokens_to_loss(law, 1e9, loss); };
  CHECK_THROWS_WITH_AS(at(1.5), doctest::Contains("no network gets below 1.690"), ConfigError);
  CHECK_THROWS_WITH_AS(at(floor - 0.01), doctest::Contains("or a network above 1 "), ConfigError);
  CHECK_NOTHROW(at(floor + 1e-6));
  CHECK_THROWS_WITH_AS((void)way_to_loss(law, 1e9, 3.0, 0.0), doctest::Contains("a batch of 0 tokens"), ConfigError);
  CHECK_THROWS_WITH_AS((void)tokens_to_loss(law, 0.0, 3.0), doctest::Contains("state at least 1"), ConfigError);
  CHECK_THROWS_WITH_AS((void)loss_law("hoffman-2022"), doctest::Contains("did you mean 'hoffmann-2022'?"), ConfigError);
}

TEST_CASE("a law of one's own: every problem of the file at once") {
  Diagnostics problems;
  (void)read_loss_law(parse_toml("schema = 1\nid = \"x\"\nE = -1.0\nA = 1.0\nC = 2.0\n", "law.toml"), "law.toml",
                      problems);
  std::string all;
  for (const Diagnostic& each : problems.sorted()) {
    all += each.text() + "\n";
  }
  for (const char* part : {"law.toml:3:", "'source'", "'beta'", "'C'"}) {
    CHECK_MESSAGE(all.find(part) != std::string::npos, all);
  }
}
