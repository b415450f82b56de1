// SPDX-License-Identifier: Apache-2.0
// Files of a step's parameters: who inherits what from whom, and what they refuse.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/attention_training.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include "stated_step.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

StepLevels levels(const std::string& tables) {
  Diagnostics diagnostics;
  StepLevels read =
      StepLevels::read(parse_toml("schema = 1\nid = \"levels\"\n" + tables, "levels.toml"), "levels.toml", diagnostics);
  diagnostics.throw_if_any();
  return read;
}

StepStacks stacks(const std::string& table) {
  StepStacks read{test::stated_stack(), test::stated_stack()};
  Diagnostics diagnostics;
  const ConfigValue document = parse_toml(table, "mine.toml");
  ConfigTable root{document, "", diagnostics};
  read_step_stack(root, read);
  diagnostics.throw_if_any();
  return read;
}

constexpr const char* any = R"(
[levels.any]
products_16_bit = 1.1
products_8_bit = 1.2
attention = 1.3
source = "any"
)";

}  // namespace

TEST_CASE("a level states what sets it apart: a SKU inherits each number from its generation, that one from any") {
  const Catalog catalog = Catalog::standard();
  const StepLevels read = levels(std::string{any} + R"(
[levels.hopper]
products_16_bit = 1.4
products_8_bit = 1.5
source = "generation"
[levels."h200-sxm-141gb"]
products_8_bit = 1.6
source = "SKU"
)");
  const StepLevel own = read.of(catalog.device("h200-sxm-141gb"), 0.4);
  CHECK(own.wide == 1.4);
  CHECK(own.narrow == 1.6);
  CHECK(own.attention == 1.3);
  CHECK(own.source == "SKU");
  const StepLevel generation = read.of(catalog.device("h100-sxm-80gb"), 0.4);
  CHECK(generation.narrow == 1.5);
  CHECK(generation.source == "generation");
  const StepLevel other = read.of(catalog.device("a100-sxm-80gb"), 0.4);
  CHECK(other.wide == 1.1);
  CHECK(other.narrow == 1.2);
  CHECK(other.source == "any");
}

TEST_CASE("SKUs of one chip without kernels of their own differ by the power that a multiprocessor has") {
  const Catalog catalog = Catalog::standard();
  const StepLevels read = levels(std::string{any} + R"(
[levels.hopper]
board = { power = "700 W", units = 132, flop_per_clock_and_unit = 4096 }
source = "generation"
[levels."h100-sxm-96gb-hbm2e"]
products_16_bit = 1.2
source = "SKU"
)");
  const auto of = [&](const char* sku, double power_clock) { return read.of(catalog.device(sku), power_clock); };
  const double slower = std::pow(700.0 / 500.0, 0.4);
  CHECK(of("h100-sxm-96gb-hbm2e", 0.4).wide == near(1.2 * slower));  // what the SKU states comes beside its board
  CHECK(of("h100-sxm-96gb-hbm2e", 0.4).narrow == near(1.2 * slower));
  CHECK(of("h100-sxm-96gb-hbm2e", 0.4).attention == 1.3);
  CHECK(of("h100-sxm-96gb-hbm2e", 0.0).wide == 1.2);
  CHECK(of("h100-pcie-80gb", 0.5).wide == near(1.1 * std::sqrt((700.0 / 132.0) / (350.0 / 114.0))));
  CHECK(of("h100-sxm-80gb", 0.4).wide == 1.1);   // measured itself
  CHECK(of("gh200-96gb", 0.4).wide == 1.1);      // its power is the superchip's
  CHECK(of("a100-pcie-80gb", 0.4).wide == 1.1);  // nobody states the board of its generation
}

TEST_CASE("shipped levels compare SKUs of a chip alone: a GeForce card is no A100 of another power") {
  const Catalog catalog = Catalog::standard();
  const StepLevels& shipped = step_parameters(test::model_data()).levels;
  CHECK(shipped.board_factor(catalog.device("rtx-3090"), 0.4) == 1.0);
  CHECK(shipped.board_factor(catalog.device("mi325x"), 0.4) == near(std::pow(750.0 / 1000.0, 0.4)));
  CHECK(shipped.board_factor(catalog.device("mi350x"), 0.4) == near(std::pow(1400.0 / 1000.0, 0.4)));
}

TEST_CASE("GeForce boards reach more of their halved peak than the boards whose kernels they take") {
  const Catalog catalog = Catalog::standard();
  const StepParameters& shipped = step_parameters(test::model_data());
  const auto wide = [&](const char* sku) {
    return shipped.levels.of(catalog.device(sku), shipped.physics.power_clock).wide;
  };
  for (const char* sku : {"rtx-4090", "rtx-4090d"}) {
    CAPTURE(sku);
    CHECK(wide(sku) < 0.85 * wide("l40s"));
  }
  CHECK(wide("rtx-3090") < 0.85 * wide("a100-sxm-80gb"));
  CHECK(wide("rtx-6000-ada") == wide("l40s"));  // its rate is whole
}

TEST_CASE("levels without any, or with numbers missing there, or fitted keys that are none, are refused") {
  CHECK_THROWS_WITH_AS(levels("[levels.hopper]\nsource = \"x\"\n"), doctest::Contains("missing table [levels.any]"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(levels("[levels.any]\nproducts_16_bit = 1.0\nproducts_8_bit = 1.0\nsource = \"x\"\n"),
                       doctest::Contains("every SKU must find this number"), ConfigError);
  CHECK_THROWS_WITH_AS(levels(std::string{any} + "fitted = [\"atention\"]\n"), doctest::Contains("did you mean"),
                       ConfigError);
}

TEST_CASE("[time] replaces what its base holds, [time.moe] what [time] holds") {
  const StepStacks read = stacks(R"(
[time]
attention_kernel = "cudnn"
broadcast_weights = true
host = "100 us"
fitted = ["host", "attention"]
source = "x"
[time.moe]
host = "200 us"
source = "y"
)");
  CHECK(read.plain.attention_kernel == "cudnn");
  CHECK(read.plain.broadcast_weights);
  CHECK(read.plain.host.raw() == near(100e-6));
  CHECK(read.plain.attention == test::stated_stack().attention);
  CHECK(read.moe.attention_kernel == "cudnn");
  CHECK(read.moe.broadcast_weights);
  CHECK(read.moe.host.raw() == near(200e-6));
}

TEST_CASE("a kernel of attention that nobody measured is refused, and so is a fitted key that is no number") {
  CHECK_THROWS_WITH_AS(stacks("[time]\nattention_kernel = \"flash9\"\nsource = \"x\"\n"),
                       doctest::Contains("'flash9' is no implementation of attention that was measured"), ConfigError);
  CHECK_THROWS_WITH_AS(stacks("[time]\nfitted = [\"attention_kernel\"]\nsource = \"x\"\n"),
                       doctest::Contains("is no number of this table"), ConfigError);
}

TEST_CASE("every shipped stack names a measured kernel of attention") {
  const MemoryStacks stacks = memory_stacks(test::model_data());
  for (const MemoryStack& stack : stacks.all()) {
    CAPTURE(stack.id);
    CHECK(find_attention_implementation(stack.time.plain.attention_kernel) != nullptr);
    CHECK(find_attention_implementation(stack.time.moe.attention_kernel) != nullptr);
    CHECK_FALSE(stack.time.plain.source.empty());
  }
}
