// SPDX-License-Identifier: Apache-2.0
// The posterior of the step's numbers: what it makes of known and unknown software and SKUs, and its file.
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace headroom;
using test::near;

namespace {

/// Two numbers: products of the SKU's generation, host of one software and of the population.
StepPosterior two_numbers() {
  StepPosterior p;
  p.source = "a test";
  p.effects = {
      {StepScope::level, "hopper", "products"}, {StepScope::stack, "known", "host"}, {StepScope::stack, "any", "host"}};
  p.covariance = PairTable{3};
  p.covariance(0, 0) = 0.01;
  p.covariance(1, 1) = 0.04;
  p.covariance(0, 1) = p.covariance(1, 0) = -0.005;
  p.covariance(2, 2) = 0.09;
  p.keys = {"level.products", "stack.host"};
  p.own = {0.1, 0.4};
  for (auto& kind : p.sensitivity) {
    for (PairTable& mean : kind) {
      mean = PairTable{2};
      mean(0, 0) = 0.49;
      mean(1, 1) = 0.04;
      mean(0, 1) = mean(1, 0) = 0.14;
    }
  }
  p.owners["known"] = {std::vector<std::ptrdiff_t>{-1, 1}, std::vector<std::ptrdiff_t>{-1, 1}};
  p.owners["any"] = {std::vector<std::ptrdiff_t>{-1, 2}, std::vector<std::ptrdiff_t>{-1, 2}};
  p.seen = {"known", "h100"};
  p.level = 0.05;
  p.shape = 0.06;
  p.blank[0] = {0.02, 0.2, 10};
  return p;
}

StepPosterior read(const std::string& text, Diagnostics& diagnostics) {
  const ConfigValue document = parse_toml(text, "posterior.toml");
  return read_step_posterior(document, "posterior.toml", diagnostics);
}

}  // namespace

TEST_CASE("a known software on a known SKU has the variance of its numbers, with their covariance") {
  const StepVariance v = two_numbers().variance({StepKind::dense, false, {"known"}, "h100", "hopper", {}});
  CHECK(v.numbers == near(0.49 * 0.01 + 0.04 * 0.04 - 2.0 * 0.14 * 0.005));
  CHECK(v.software == 0.0);
  CHECK(v.sku == 0.0);
  CHECK(v.total() == near(v.numbers + 0.05 * 0.05 + 0.06 * 0.06));
}

TEST_CASE("software and SKUs that no run used add what they differ by") {
  const StepPosterior p = two_numbers();
  const StepVariance software = p.variance({StepKind::dense, false, {"any"}, "h100", "hopper", {}});
  CHECK(software.numbers == near(0.49 * 0.01 + 0.04 * 0.09));
  CHECK(software.software == near(0.04 * 0.4 * 0.4));
  const StepVariance sku = p.variance({StepKind::dense, false, {"known"}, "h200", "hopper", {}});
  CHECK(sku.sku == near(0.49 * 0.1 * 0.1));
  CHECK(sku.software == 0.0);
}

TEST_CASE("numbers of a software's own whose runs are none are as uncertain as their effects say, and no more") {
  StepPosterior p = two_numbers();
  p.seen = {"h100"};
  // The effect "stack|known|host" is its own: 0.04 is what the fit knows of it, its own departure from others within.
  const StepVariance own = p.variance({StepKind::dense, false, {"known"}, "h100", "hopper", {}});
  CHECK(own.software == 0.0);
  CHECK(own.numbers == near(0.49 * 0.01 + 0.04 * 0.04 - 2.0 * 0.14 * 0.005));
  // One that takes another's numbers departs from them by its own.
  const StepVariance based = p.variance({StepKind::dense, false, {"mine", "known"}, "h100", "hopper", {}});
  CHECK(based.software == near(0.04 * 0.4 * 0.4));
}

TEST_CASE("the variance of a step is what the covariance of its numbers makes of it, whoever has runs") {
  StepPosterior p = two_numbers();
  for (const bool seen : {true, false}) {
    for (const auto& stacks : {std::vector<std::string>{"known"}, {"mine", "known"}, {"mine", "any"}, {"any"}}) {
      for (const char* const sku : {"h100", "h200"}) {
        for (const StepKind kind : {StepKind::dense, StepKind::experts}) {
          p.seen = seen ? std::set<std::string, std::less<>>{"known", "h100"} : std::set<std::string, std::less<>>{};
          const StepUnknown unknown{kind, false, stacks, sku, "hopper", {}};
          const StepVariance v = p.variance(unknown);
          const PairTable prior = p.prior_of(unknown);
          const PairTable& weight = p.sensitivity[static_cast<std::size_t>(kind)][0];
          double sum = 0.0;
          for (std::size_t a = 0; a < prior.size; ++a) {
            for (std::size_t b = 0; b < prior.size; ++b) {
              sum += weight(a, b) * prior(a, b);
            }
          }
          CHECK(v.numbers + v.software + v.sku == near(sum));
        }
      }
    }
  }
}

TEST_CASE("a software without numbers of its own takes those of the first stack that it is based on") {
  const StepPosterior p = two_numbers();
  const StepVariance based = p.variance({StepKind::dense, false, {"mine", "known"}, "h100", "hopper", {}});
  CHECK(based.numbers == near(p.variance({StepKind::dense, false, {"known"}, "h100", "hopper", {}}).numbers));
  CHECK(based.software > 0.0);
}

TEST_CASE("an axis that nobody stated widens the interval") {
  const StepPosterior p = two_numbers();
  StepUnknown unknown{StepKind::dense, false, {"known"}, "h100", "hopper", {true, false, false}};
  CHECK(p.variance(unknown).blank == near(0.04));
  unknown.blank = {};
  CHECK(p.variance(unknown).blank == 0.0);
}

TEST_CASE("before any run of one's own, numbers have the fit's covariance and what a software or SKU of its own adds") {
  const StepPosterior p = two_numbers();
  const PairTable known = p.prior_of({StepKind::dense, false, {"known"}, "h100", "hopper", {}});
  CHECK(known(0, 0) == 0.01);
  CHECK(known(1, 1) == 0.04);
  CHECK(known(0, 1) == -0.005);
  const PairTable other = p.prior_of({StepKind::dense, false, {"mine", "known"}, "h200", "hopper", {}});
  CHECK(other(0, 0) == near(0.01 + 0.1 * 0.1));
  CHECK(other(1, 1) == near(0.04 + 0.4 * 0.4));
  CHECK(other(1, 0) == -0.005);
  // A software that was left out of a fit has a number of its own there, which has its width already.
  StepPosterior left = p;
  left.seen.erase("known");
  CHECK(left.prior_of({StepKind::dense, false, {"known"}, "h100", "hopper", {}})(1, 1) == 0.04);
}

TEST_CASE("single runs count with the noise of most of them") {
  StepPosterior p = two_numbers();
  CHECK(p.run_noise(StepKind::dense) == near(0.06));
  p.quantiles[0].eighty = 0.5 * 1.2815515655446004;
  CHECK(p.run_noise(StepKind::dense) == near(0.03));
  p.quantiles[0].eighty = 2.0;
  CHECK(p.run_noise(StepKind::dense) == near(0.06));
}

TEST_CASE("jobs of more GPUs than the fit's runs are as uncertain as their stragglers") {
  StepPosterior p = two_numbers();
  p.effects[0] = {StepScope::physics, "physics", "straggler"};
  p.keys[0] = "physics.straggler";
  StepUnknown unknown{StepKind::dense, true, {"known"}, "h100", "hopper", {}};
  CHECK(p.variance(unknown).scale == 0.0);
  unknown.stragglers = 0.6;
  CHECK(p.variance(unknown).scale == 0.0);  // its square is below the runs' mean, 0.49
  unknown.stragglers = 0.8;
  const StepVariance more = p.variance(unknown);
  CHECK(more.scale == near((0.64 - 0.49) * 0.01));
  CHECK(more.total() == near(more.numbers + more.level + more.shape + more.scale));
}

TEST_CASE("what share of its network a cluster reaches is certain where the cluster states it") {
  StepPosterior p = two_numbers();
  p.effects = {
      {StepScope::physics, "physics", "nic"}, {StepScope::stack, "known", "nic"}, {StepScope::stack, "any", "nic"}};
  p.keys = {"physics.nic", "stack.nic"};
  StepUnknown unknown{StepKind::dense, true, {"mine", "known"}, "h100", "hopper", {}};
  CHECK(p.variance(unknown).numbers > 0.0);
  CHECK(p.variance(unknown).software > 0.0);
  unknown.network_known = true;
  CHECK(p.variance(unknown).numbers == 0.0);
  CHECK(p.variance(unknown).software == 0.0);
  for (const double entry : p.prior_of(unknown).entries) {
    CHECK(entry == 0.0);
  }
}

TEST_CASE("a posterior is read back from its file") {
  const StepPosterior p = two_numbers();
  Diagnostics diagnostics;
  const StepPosterior back = read(posterior_toml(p), diagnostics);
  REQUIRE(diagnostics.empty());
  CHECK(back.effects.size() == 3);
  CHECK(back.effects[1].id == "known");
  CHECK(back.covariance.entries == p.covariance.entries);
  CHECK(back.own == p.own);
  CHECK(back.seen == p.seen);
  CHECK(back.owners == p.owners);
  CHECK(back.sensitivity[0][1].entries == p.sensitivity[0][1].entries);
  CHECK(back.blank[0].deviation == p.blank[0].deviation);
}

TEST_CASE("a posterior with too few numbers or unknown effects is refused with what it should hold") {
  std::string text = posterior_toml(two_numbers());
  const auto without = [&](std::string_view from, std::string_view to) {
    std::string broken = text;
    broken.replace(broken.find(from), from.size(), to);
    Diagnostics diagnostics;
    static_cast<void>(read(broken, diagnostics));
    return diagnostics.empty() ? std::string{} : diagnostics.sorted().front().message;
  };
  const std::size_t own = text.find("own = [");
  CHECK(without(text.substr(own, text.find(']', own) + 1 - own), "own = [0.1]").find("array of 2 numbers") !=
        std::string::npos);
  CHECK(without("stack|known|host", "stack-known-host").find("is no effect") != std::string::npos);
}

TEST_CASE("the posterior that ships knows every software that ships, and is wider for one that nobody ran") {
  const ModelData& data = test::model_data();
  const StepPosterior& p = step_posterior(data);
  for (const MemoryStack& stack : memory_stacks(data).all()) {
    CHECK_MESSAGE(p.owners.contains(stack.id), stack.id);
  }
  const auto deviation = [&](std::string id) {
    return std::sqrt(p.variance({StepKind::dense, true, {std::move(id)}, "h100-sxm-80gb", "hopper", {}}).total());
  };
  CHECK(deviation("megatron-core-te") < 0.8 * deviation("any"));
  // No run of the fit used it, and four numbers are its own: narrower than one that has none.
  CHECK_FALSE(p.seen.contains("pytorch-fsdp"));
  CHECK(deviation("pytorch-fsdp") < deviation("any"));
}
