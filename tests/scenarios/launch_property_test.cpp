// SPDX-License-Identifier: Apache-2.0
// Whatever the strategy: what a form says comes back, and what it does not say it tells.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::sources;
using namespace headroom::launch;

namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

void set(std::vector<std::string>& assignments, const std::string& key, const std::string& value) {
  assignments.push_back(key + "=" + value);
}
void set(std::vector<std::string>& assignments, const std::string& key, std::int64_t value) {
  set(assignments, key, std::to_string(value));
}

struct Choice {
  std::string model;
  bool experts;
};

void any_training(std::vector<std::string>& a) {
  set(a, "training.precision", one_of<std::string>({"bf16", "fp16", "fp32", "tf32", "fp8", "mxfp8", "nvfp4"}));
  set(a, "training.software", one_of<std::string>({"megatron-core-te", "megatron-core", "torchtitan", "deepspeed"}));
  set(a, "training.gradients", one_of<std::string>({"fp32", "bf16"}));
  set(a, "training.optimizer",
      one_of<std::string>({"adamw", "adamw-bf16", "adamw-8bit", "momentum", "sgd", "lion", "muon", "adafactor"}));
  set(a, "training.vocab_multiple", one_of<std::int64_t>({1, 64, 128}));
  for (const char* key : {"training.flash_attention", "training.dropout", "training.fused_loss", "training.compile",
                          "training.overlap", "training.async_tp"}) {
    set(a, key, one_of<std::string>({"true", "false"}));
  }
  if (*rc::gen::arbitrary<bool>()) {
    set(a, "training.offload",
        one_of<std::string>({"[\"optimizer\"]", "[\"activations\"]", "[\"optimizer\", \"activations\"]"}));
    set(a, "training.offload_to", one_of<std::string>({"host", "nvme"}));
  }
  if (*rc::gen::arbitrary<bool>()) {
    set(a, "training.tokens", "3e12");
  }
  if (one_of<int>({0, 1, 2, 3}) == 0) {
    set(a, "training.method", "lora");
    set(a, "training.lora_rank", one_of<std::int64_t>({8, 32}));
  }
}

void any_forms(std::vector<std::string>& a, std::int64_t cp, bool experts) {
  const std::string recompute = one_of<std::string>({"none", "selective", "full"});
  set(a, "strategy.recompute", recompute);
  if (recompute == "full") {
    set(a, "strategy.recompute_block", one_of<std::int64_t>({1, 2, 5}));
  }
  set(a, "strategy.zero", one_of<std::int64_t>({0, 1, 2, 3}));
  set(a, "strategy.sequence_parallel", one_of<std::string>({"true", "false"}));
  set(a, "strategy.cuda_graphs", one_of<std::string>({"true", "false"}));
  set(a, "strategy.order",
      one_of<std::string>({"tp-cp-dp-pp", "tp-cp-dp-pp", "tp-cp-pp-dp", "tp-cp-pp-dp", "tp-dp-cp-pp", "dp-tp-cp-pp"}));
  if (cp > 1) {
    set(a, "strategy.cp_form", one_of<std::string>({"ring", "all-gather", "ulysses"}));
  }
  if (experts) {
    set(a, "strategy.overlap_experts", one_of<std::string>({"true", "false"}));
  }
}

/// A legal training question with every axis stated.
std::vector<std::string> any_question() {
  const Choice choice = one_of<Choice>({{"llama3-70b", false},
                                        {"gpt3-175b", false},
                                        {"qwen2.5-72b", false},
                                        {"mixtral-8x7b", true},
                                        {"deepseek-v3", true},
                                        {"llama3.1-405b", false},
                                        {"mistral-7b", false},
                                        {"gemma2-9b", false},
                                        {"llama4-maverick", true}});
  const std::int64_t tp = one_of<std::int64_t>({1, 2, 4, 8});
  const std::int64_t pp = one_of<std::int64_t>({1, 2, 4});
  const std::int64_t cp = one_of<std::int64_t>({1, 2});
  const std::int64_t dp = one_of<std::int64_t>({1, 2, 8});
  const std::int64_t micro = one_of<std::int64_t>({1, 2});
  std::vector<std::string> a{"kind=train", "model=" + choice.model, "hardware.gpu=b200-sxm-180gb"};
  set(a, "hardware.gpus", tp * pp * cp * dp);
  set(a, "training.seq_len", one_of<std::int64_t>({2048, 4096}));
  set(a, "training.global_batch", dp * micro * one_of<std::int64_t>({8, 16}));
  for (const auto& [key, value] : {std::pair{"tp", tp}, std::pair{"pp", pp}, std::pair{"cp", cp}, std::pair{"dp", dp},
                                   std::pair{"micro_batch", micro}}) {
    set(a, "strategy." + std::string{key}, value);
  }
  const std::string schedule = one_of<std::string>({"1f1b", "1f1b", "1f1b", "gpipe", "zb-v", "zb-h1", "dualpipe"});
  set(a, "strategy.schedule", schedule);
  if (schedule == "1f1b" && pp > 1) {
    set(a, "strategy.vpp", one_of<std::int64_t>({1, 2, 4}));
    if (*rc::gen::arbitrary<bool>()) {
      set(a, "strategy.first_stage_layers", one_of<std::int64_t>({8, 14, 19}));
    }
  }
  if (dp * cp > 1 && *rc::gen::arbitrary<bool>()) {
    set(a, "strategy.shard_ranks", one_of<std::int64_t>({1, 2, dp * cp}));
  }
  if (choice.experts) {
    set(a, "strategy.ep", one_of<std::int64_t>({1, 2, 8}));
    set(a, "strategy.etp", one_of<std::int64_t>({1, tp}));
  }
  any_training(a);
  any_forms(a, cp, choice.experts);
  return a;
}

/// "strategy.vpp = 3 (why)" as "strategy.vpp=3".
std::string assignment_of(const std::string& note) {
  const std::size_t equals = note.find(" = ");
  const std::size_t why = note.find(" (", equals);
  return note.substr(0, equals) + "=" + note.substr(equals + 3, why - equals - 3);
}

/// What the form did not say, as the user would state it.
ImportRequest request_of(const ExportedLaunch& launch, const LaunchPlan& plan, LaunchForm form) {
  ImportRequest request;
  request.from = form;
  std::vector<std::string> offload;
  for (const auto& [key, note] : launch.notes) {
    if (note.find(" = ") == std::string::npos) {
      continue;  // what the model's file does not state, nobody can
    }
    if (note.starts_with("training.offload.")) {
      offload.push_back(note.substr(17, note.find(' ') - 17));
    } else {
      request.assignments.push_back(assignment_of(note));
    }
  }
  for (const std::string& what : offload) {
    request.assignments.push_back("training.offload=[\"" + what + "\"]");
  }
  const bool network = form == LaunchForm::torchtitan || form == LaunchForm::deepspeed;
  if (network || plan.word("training.software") == "torchtitan") {
    request.assignments.push_back("model=" + plan.word("launch.model"));
  }
  return request;
}

bool near(const ConfigValue* a, const ConfigValue* b) {
  return a != nullptr && b != nullptr && std::abs(a->number - b->number) <= 1e-3 * a->number;
}

void check_form(const Scenario& scenario, LaunchForm form) {
  const auto& train = std::get<TrainScenario>(scenario.question);
  const LaunchPlan plan = plan_of(scenario, train, train.strategy);
  const ExportedLaunch launch = export_launch(scenario, train, train.strategy, form);
  CHECK(form_of(launch.text) == form);
  RC_LOG() << launch.text;
  const ImportRequest request = request_of(launch, plan, form);
  // Of a preset that the user names, what the launch says of the network counts, wrong as it may be: it was told.
  const bool named = std::any_of(request.assignments.begin(), request.assignments.end(),
                                 [](const std::string& assignment) { return assignment.starts_with("model="); });
  const auto told = [&](const std::string& key) {
    return std::any_of(launch.notes.begin(), launch.notes.end(),
                       [&](const LaunchNote& note) { return note.text.starts_with(key + " = "); });
  };
  const ImportedLaunch back = import_launch({"x", launch.text}, request, sources());
  const auto& read = std::get<TrainScenario>(back.scenario.question);
  const LaunchPlan again = plan_of(back.scenario, read, read.strategy);
  const bool whole = std::none_of(launch.notes.begin(), launch.notes.end(),
                                  [](const LaunchNote& note) { return note.text.starts_with("model."); });
  if (whole) {  // by its sizes: no note restates them
    RC_ASSERT(read.architecture.id == train.architecture.id);
  }
  for (const ConfigEntry& entry : plan.entries()) {
    const bool own = entry.key == "name" || entry.key == "launch.model" || entry.key == "launch.own_network" ||
                     entry.key == "model.max_seq_len";
    const ConfigValue* there = again.find(entry.key);
    if (own || (named && entry.key.starts_with("model.") && told(entry.key)) ||
        (entry.key == "training.tokens" && near(&entry.value, there))) {
      continue;
    }
    if (there == nullptr || !same_value(entry.value, *there)) {
      RC_FAIL(entry.key + " = " + value_text(entry.value) + ", back " +
              (there == nullptr ? "nothing" : value_text(*there)));
    }
  }
  // The scenario's own text reads back to the same.
  const Scenario reread = read_scenario(parse_toml(back.toml, "again"), "again", sources());
  const auto& third = std::get<TrainScenario>(reread.question);
  RC_ASSERT(third.strategy == read.strategy);
}

void check_round_trip(LaunchForm form) {
  CHECK(rc::check([form] {
    Scenario scenario;
    try {
      scenario = scenario_from_overrides(any_question(), sources());
    } catch (const ConfigError&) {
      RC_DISCARD("no scenario");
    }
    const auto& train = std::get<TrainScenario>(scenario.question);
    RC_PRE(check(train.architecture, train.work.shape, train.strategy).verdict == Verdict::feasible);
    check_form(scenario, form);
  }));
}

}  // namespace

TEST_CASE("a plan comes back from Megatron-LM's arguments") {
  check_round_trip(LaunchForm::megatron);
}
TEST_CASE("a plan comes back from NeMo's overrides") {
  check_round_trip(LaunchForm::nemo);
}
TEST_CASE("a plan comes back from torchtitan's job file") {
  check_round_trip(LaunchForm::torchtitan);
}
TEST_CASE("a plan comes back from DeepSpeed's configuration") {
  check_round_trip(LaunchForm::deepspeed);
}
TEST_CASE("a plan comes back from a torchrun line") {
  check_round_trip(LaunchForm::torchrun);
}
TEST_CASE("a plan comes back from a Slurm script") {
  check_round_trip(LaunchForm::slurm);
}
