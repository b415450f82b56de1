// SPDX-License-Identifier: Apache-2.0
// Sequences as long as a model can have them: tokens of images, and positions a model was trained on.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Scenario training_of(std::vector<std::string> more) {
  std::vector<std::string> all{"kind=train", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=8",
                               "training.global_batch=256", "training.precision=bf16"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

std::int64_t length_of(std::vector<std::string> more) {
  return std::get<TrainScenario>(training_of(std::move(more)).question).work.shape.seq_len;
}

bool assumes(const Scenario& scenario, std::string_view text) {
  return std::any_of(scenario.assumptions.begin(), scenario.assumptions.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a vision encoder's blank sequence length is what an image makes, padded to the ranks that share it") {
  // (224 / 16)^2 + 1 = 197; (224 / 14)^2 + 1 = 257; padded to four ranks 200
  CHECK(length_of({"model=vit-l-16"}) == 197);
  CHECK(length_of({"model=clip-vit-l-14"}) == 257);
  CHECK(length_of({"model=vit-l-16", "strategy.tp=4"}) == 200);
  CHECK(length_of({"model=vit-l-16", "strategy.tp=4", "strategy.sequence_parallel=false"}) == 197);
  CHECK(assumes(training_of({"model=vit-l-16"}), "training.seq_len = 197 (an image of 14 x 14 patches"));
  CHECK(assumes(training_of({"model=vit-l-16", "strategy.tp=4"}), "padded to 4 ranks"));
  CHECK(make_plan(training_of({"model=vit-l-16", "strategy.tp=4"}), false).feasible());
}

TEST_CASE("a vision encoder's stated sequence length has to be its image's") {
  CHECK(length_of({"model=vit-l-16", "training.seq_len=197"}) == 197);
  CHECK(length_of({"model=vit-l-16", "training.seq_len=200", "strategy.tp=4"}) == 200);
  CHECK_THROWS_WITH_AS(training_of({"model=vit-l-16", "training.seq_len=1024"}),
                       doctest::Contains("an image makes 197 tokens of vit-l-16"), ConfigError);
  // 384 pixels: 24 x 24 + 1
  CHECK(length_of({"model.base=vit-l-16", "model.id=larger", "model.patches.image=384", "training.seq_len=577"}) ==
        577);
}

TEST_CASE("an image of more tokens than any sequence is a problem, not a number") {
  CHECK_THROWS_AS(
      training_of({"model.base=vit-l-16", "model.id=huge", "model.patches.image=1000000000", "model.patches.patch=1"}),
      ConfigError);
}

TEST_CASE("training beyond a model's positions is told, as serving is") {
  CHECK(assumes(training_of({"model=llama3-8b", "training.seq_len=16384"}), "exceed the 8192 positions"));
  CHECK_FALSE(assumes(training_of({"model=llama3-8b", "training.seq_len=8192"}), "exceed"));
  CHECK_FALSE(assumes(training_of({"model=vit-l-16", "strategy.tp=4"}), "exceed"));  // padding is no position
}
