// SPDX-License-Identifier: Apache-2.0
// Which number stands behind which software, SKU and kind of network, on stacks made for the purpose.
#include <headroom/calibrate/stacks/step_parameters.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include "../near.hpp"
#include "../support/catalog.hpp"
#include <algorithm>
#include <cstdlib>
#include <map>

using namespace headroom;
using headroom::test::catalog;
using test::near;

namespace {

/// A user's folder of stacks, for as long as it lives.
class OwnStacks {
 public:
  OwnStacks() {
    std::filesystem::create_directories(folder_.path() / "stacks/train");
    setenv("HEADROOM_DATA_DIR", folder_.path().c_str(), 1);
  }
  ~OwnStacks() { unsetenv("HEADROOM_DATA_DIR"); }
  OwnStacks(const OwnStacks&) = delete;
  OwnStacks& operator=(const OwnStacks&) = delete;
  void add(const std::string& id, const std::string& base, const std::string& time) const {
    std::ofstream{folder_.path() / "stacks/train" / (id + ".toml")}
        << "schema = 1\nid = \"" << id << "\"\nbase = \"" << base << "\"\nname = \"" << id << "\"\nframeworks = [\""
        << id << " of the test\"]\n\n"
        << time;
  }
  /// Fits host, gemm and, of experts, moe_gemm; below it one that states gemm, and one with products of experts.
  void add_family() const {
    add("upper", "megatron-core-te",
        "[time]\nfitted = [\"host\", \"gemm\"]\nhost = \"333 us\"\ngemm = 1.1\nsource = \"t\"\n\n[time.moe]\n"
        "fitted = [\"moe_gemm\"]\nmoe_gemm = 1.3\nsource = \"t\"\n");
    add("states", "upper", "[time]\ngemm = 1.3\nsource = \"t\"\n");
    add("lower", "states",
        "release = true\n\n[time]\nfitted = [\"gemm\"]\ngemm = 1.2\nsource = \"t\"\n\n[time.moe]\nfitted = [\"gemm\", "
        "\"moe_gemm\"]\n"
        "gemm = 1.25\nmoe_gemm = 1.5\nsource = \"t\"\n");
  }

 private:
  test::ScratchFolder folder_;
};

std::ptrdiff_t find(const StepKnobs& knobs, const std::string& name) {
  const auto found =
      std::find_if(knobs.all().begin(), knobs.all().end(), [&](const StepKnob& k) { return k.name() == name; });
  return found == knobs.all().end() ? -1 : found - knobs.all().begin();
}

/// Names of a stack's own numbers behind a run of it.
std::vector<std::string> own_behind(const StepKnobs& knobs, const std::string& stack, bool experts) {
  std::vector<std::string> names;
  for (const std::size_t i : knobs.behind({stack, "h100-sxm-80gb", "hopper", experts})) {
    const std::string name = knobs.all()[i].name();
    if (name.starts_with("upper.") || name.starts_with("states.") || name.starts_with("lower.")) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

std::vector<double> values_of(const StepKnobs& knobs) {
  std::vector<double> values;
  for (const StepKnob& knob : knobs.all()) {
    values.push_back(knob.value);
  }
  return values;
}

}  // namespace

TEST_CASE("a stack rests on its own numbers and on those of its bases that it does not state") {
  const OwnStacks own;
  own.add_family();
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  CHECK(own_behind(knobs, "upper", false) == Names{"upper.gemm", "upper.host"});
  CHECK(own_behind(knobs, "states", false) == Names{"upper.host"});
  CHECK(own_behind(knobs, "lower", false) == Names{"lower.gemm", "upper.host"});
}

TEST_CASE("networks with experts rest on the tables of experts first, then on the plain ones") {
  const OwnStacks own;
  own.add_family();
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  // megatron-core-te states the host time of networks with experts.
  CHECK(own_behind(knobs, "upper", true) == Names{"upper.gemm", "upper.moe.moe_gemm"});
  CHECK(own_behind(knobs, "states", true) == Names{"upper.moe.moe_gemm"});
  CHECK(own_behind(knobs, "lower", true) == Names{"lower.moe.gemm", "lower.moe.moe_gemm"});
}

TEST_CASE("a number is expected near what it would inherit") {
  const OwnStacks own;
  own.add_family();
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  const auto parent = [&](const std::string& name) {
    const std::ptrdiff_t up = knobs.all().at(static_cast<std::size_t>(find(knobs, name))).parent;
    return up < 0 ? std::string{} : knobs.all()[static_cast<std::size_t>(up)].name();
  };
  // A release of the software above it leans on that, another software on what all have in common.
  CHECK(parent("lower.moe.moe_gemm") == "upper.moe.moe_gemm");
  CHECK(parent("upper.gemm") == "any.gemm");
  CHECK(parent("upper.moe.moe_gemm") == "any.moe.moe_gemm");
  CHECK(parent("megatron-core-te.host") == "any.host");
  CHECK(parent("any.host").empty());
  // The base states it and fits nothing: its number in the middle, within the width of a child.
  const StepKnob& gemm = knobs.all().at(static_cast<std::size_t>(find(knobs, "lower.gemm")));
  CHECK(gemm.parent == -1);
  CHECK(gemm.centre == near(1.3));
  for (const StepKnob& knob : knobs.all()) {
    if (knob.parent >= 0) {
      const StepKnob& up = knobs.all()[static_cast<std::size_t>(knob.parent)];
      CHECK_MESSAGE(up.key == knob.key, knob.name());
      CHECK_MESSAGE(up.linear == knob.linear, knob.name());
    }
  }
}

TEST_CASE("values move the stacks that inherit them and no other") {
  const OwnStacks own;
  own.add_family();
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  std::vector<double> values = values_of(knobs);
  values[static_cast<std::size_t>(find(knobs, "upper.host"))] = 777e-6;
  values[static_cast<std::size_t>(find(knobs, "upper.gemm"))] = 1.5;
  values[static_cast<std::size_t>(find(knobs, "upper.moe.moe_gemm"))] = 9.0;
  const MemoryStacks before = memory_stacks(ModelData::standard());
  MemoryStacks stacks = before;
  StepParameters parameters = step_parameters(ModelData::standard());
  knobs.apply(values, parameters, stacks);
  for (const std::string id : {"upper", "states", "lower"}) {
    CAPTURE(id);
    CHECK(stacks.find(id).time.plain.host.raw() == 777e-6);
    CHECK(stacks.find(id).time.moe.moe_gemm == (id == "lower" ? 1.5 : 9.0));
    CHECK(stacks.find(id).time.plain.gemm == (id == "upper" ? 1.5 : id == "states" ? 1.3 : 1.2));
  }
  CHECK(stacks.find("states").time.moe.gemm == 1.3);
  CHECK(stacks.find("lower").time.moe.gemm == 1.25);
  for (const MemoryStack& stack : before.all()) {
    for (const std::string_view key : step_stack_keys()) {
      if (stack.id != "upper" && stack.id != "states" && stack.id != "lower") {
        CAPTURE(stack.id);
        CAPTURE(key);
        CHECK(step_number(stacks.find(stack.id).time.plain, key) == step_number(stack.time.plain, key));
        CHECK(step_number(stacks.find(stack.id).time.moe, key) == step_number(stack.time.moe, key));
      }
    }
  }
  CHECK(step_number(parameters.physics, "nic") == step_number(step_parameters(ModelData::standard()).physics, "nic"));
}

TEST_CASE("a fitted number without a prior, and one outside its bounds, are refused") {
  {
    const OwnStacks own;
    own.add("bare", "megatron-core-te", "[time]\nfitted = [\"ep_overlap\"]\nep_overlap = 0.2\nsource = \"t\"\n");
    CHECK_THROWS_WITH_AS(
        static_cast<void>(StepKnobs::of(Sources::standard())),
        doctest::Contains("'ep_overlap' of bare is to be fitted, but priors.toml says nothing about it"), ConfigError);
  }
  const OwnStacks own;
  own.add("bare", "megatron-core-te", "[time]\nfitted = [\"gemm\"]\ngemm = 9.0\nsource = \"t\"\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(StepKnobs::of(Sources::standard())),
                       doctest::Contains("'gemm' of bare is to be fitted, but lies outside"), ConfigError);
}

TEST_CASE("a SKU rests on the narrowest table that states a number, which may be a constant") {
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  const ModelData data = ModelData::standard();
  const auto& stated = step_parameters(data).levels.stated();
  for (const auto& [id, level] : stated) {
    if (catalog().why_no_device(id)) {
      continue;
    }
    const std::string generation = catalog().device(id).generation;
    for (const std::string_view key : step_level_keys()) {
      std::string narrowest = "any";
      for (const std::string& wider : {generation, id}) {
        const auto table = stated.find(wider);
        narrowest = table != stated.end() && step_number(table->second, key) ? wider : narrowest;
      }
      const std::vector<std::string>& fitted = stated.find(narrowest)->second.fitted;
      const bool moves = std::find(fitted.begin(), fitted.end(), key) != fitted.end();
      std::vector<std::string> found;
      for (const std::size_t i : knobs.behind({"megatron-core-te", id, generation, false})) {
        if (knobs.all()[i].scope == StepScope::level && knobs.all()[i].key == key) {
          found.push_back(knobs.all()[i].id);
        }
      }
      CAPTURE(id);
      CAPTURE(key);
      CHECK(found == (moves ? Names{narrowest} : Names{}));
    }
  }
}

TEST_CASE("the budget of free numbers: 15 for all, 7 a software and 7 of its experts, 3 a SKU") {
  std::map<std::pair<StepScope, std::string>, std::size_t> count;
  const StepKnobs knobs = StepKnobs::of(Sources::standard());
  for (const StepKnob& knob : knobs.all()) {
    ++count[{knob.scope, knob.id}];
    CHECK_MESSAGE(knob.low < knob.high, knob.name());
    CHECK_MESSAGE(knob.width > 0.0, knob.name());
    CHECK_MESSAGE((knob.low <= knob.centre && knob.centre <= knob.high), knob.name());
  }
  for (const auto& [owner, numbers] : count) {
    if (owner.second.starts_with("any")) {
      continue;  // the population of all software: each number once, as the centre of the others
    }
    const std::size_t allowed = owner.first == StepScope::physics ? 15 : owner.first == StepScope::level ? 3 : 7;
    CHECK_MESSAGE(numbers <= allowed, owner.second, " has ", numbers);
  }
}
