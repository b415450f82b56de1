// SPDX-License-Identifier: Apache-2.0
// A launch says the whole network: what changes no byte and no second goes out, is told where it cannot, and comes
// back.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::sources;

namespace {

Scenario asked(const std::vector<std::string>& more) {
  std::vector<std::string> all{"kind=train",
                               "hardware.gpu=h100-sxm-80gb",
                               "hardware.gpus=1024",
                               "training.seq_len=4096",
                               "training.global_batch=1024",
                               "training.precision=bf16",
                               "strategy.micro_batch=1",
                               "strategy.recompute=none"};
  all.insert(all.end(), more.begin(), more.end());
  return scenario_from_overrides(all, sources());
}

ExportedLaunch exported(const std::vector<std::string>& more, LaunchForm form) {
  const Scenario scenario = asked(more);
  const auto& train = std::get<TrainScenario>(scenario.question);
  return export_launch(scenario, train, train.strategy, form);
}

bool says(const std::string& text, const std::string& line) {
  return text.find("\n  " + line + "\n") != std::string::npos || text.find("\n" + line + "\n") != std::string::npos;
}

bool notes(const ExportedLaunch& launch, const std::string& start) {
  return std::any_of(launch.notes.begin(), launch.notes.end(),
                     [&](const LaunchNote& note) { return note.text.starts_with(start); });
}

ImportedLaunch read(const std::string& text, std::vector<std::string> assignments) {
  assignments.insert(assignments.end(), {"hardware.gpu=h100-sxm-80gb", "hardware.gpus=1024"});
  return import_launch({"run", text}, {std::nullopt, std::move(assignments), false}, sources());
}

Architecture network_of(const ImportedLaunch& launch) {
  return std::get<TrainScenario>(launch.scenario.question).architecture;
}

/// The launch without its lines that begin so.
std::string without(std::string text, const std::string& start) {
  for (const std::string& line : {"\n  " + start, "\n" + start}) {
    const std::size_t at = text.find(line);
    if (at != std::string::npos) {
      return text.erase(at, text.find('\n', at + 1) - at);
    }
  }
  FAIL("no line " << start << " in\n" << text);
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from, " not in\n", text);
  return text.replace(at, from.size(), to);
}

bool remarked(const ImportedLaunch& launch, const std::string& part) {
  return std::any_of(launch.remarks.begin(), launch.remarks.end(),
                     [&](const std::string& remark) { return remark.find(part) != std::string::npos; });
}

/// Every preset that Megatron-LM's arguments can hold but for what they list.
const std::vector<std::string> presets{
    "llama2-70b",   "llama3-70b",   "llama3.1-405b", "llama3.2-1b",     "mistral-7b",
    "mixtral-8x7b", "qwen2.5-72b",  "qwen3-32b",     "deepseek-v2",     "deepseek-v3",
    "gpt3-175b",    "gpt-neox-20b", "nemotron4-15b", "qwen3-235b-a22b", "moonlight-16b-a3b",
    "gemma3-27b",   "kimi-k2",      "gpt2",          "llama-7b"};

}  // namespace

TEST_CASE("Megatron-LM is told base, epsilon and stretch of the rotary positions") {
  const std::string llama = exported({"model=llama3.1-70b"}, LaunchForm::megatron).text;
  for (const char* line :
       {"--rotary-base 500000", "--norm-epsilon 1e-05", "--use-rope-scaling", "--rope-scaling-factor 8", "--swiglu",
        "--normalization RMSNorm", "--ffn-hidden-size 28672", "--untie-embeddings-and-output-weights",
        "--group-query-attention", "--num-query-groups 8", "--kv-channels 128"}) {
    CHECK_MESSAGE(says(llama, line), line, "\nnot in\n", llama);
  }
  const std::string plain = exported({"model=llama3-70b"}, LaunchForm::megatron).text;
  CHECK(says(plain, "--rotary-base 500000"));
  CHECK_FALSE(says(plain, "--use-rope-scaling"));
  CHECK(says(exported({"model=gpt-neox-20b"}, LaunchForm::megatron).text, "--rotary-percent 0.25"));
  CHECK(says(exported({"model=nemotron4-15b"}, LaunchForm::megatron).text, "--squared-relu"));
  CHECK(says(exported({"model=qwen3-32b"}, LaunchForm::megatron).text, "--qk-layernorm"));
  CHECK(says(exported({"model=gemma3-27b"}, LaunchForm::megatron).text, "--rotary-seq-len-interpolation-factor 8"));
}

TEST_CASE("Megatron-LM is told latent attention, its stretch, and how the router chooses") {
  const std::string text = exported({"model=deepseek-v3"}, LaunchForm::megatron).text;
  for (const char* line : {"--multi-latent-attention",
                           "--q-lora-rank 1536",
                           "--kv-lora-rank 512",
                           "--qk-head-dim 128",
                           "--qk-pos-emb-head-dim 64",
                           "--v-head-dim 128",
                           "--rope-type yarn",
                           "--rotary-scaling-factor 40",
                           "--mscale 1",
                           "--mscale-all-dim 1",
                           "--norm-epsilon 1e-06",
                           "--num-experts 256",
                           "--moe-router-topk 8",
                           "--moe-ffn-hidden-size 2048",
                           "--moe-shared-expert-intermediate-size 2048",
                           "--moe-router-score-function sigmoid",
                           "--moe-router-enable-expert-bias",
                           "--moe-router-topk-scaling-factor 2.5",
                           "--moe-router-num-groups 8",
                           "--moe-router-group-topk 4",
                           "--mtp-num-layers 1"}) {
    CHECK_MESSAGE(says(text, line), line, "\nnot in\n", text);
  }
  // Weights of the chosen that do not sum to one are those of a softmax over all experts.
  CHECK(says(exported({"model=deepseek-v2"}, LaunchForm::megatron).text, "--moe-router-pre-softmax"));
  CHECK_FALSE(says(exported({"model=mixtral-8x7b"}, LaunchForm::megatron).text, "--moe-router-pre-softmax"));
}

TEST_CASE("NeMo is told the same under Megatron-Bridge's names") {
  const std::string text = exported({"model=llama3.1-70b"}, LaunchForm::nemo).text;
  for (const char* line : {"model.rotary_base=500000", "model.layernorm_epsilon=1e-05", "model.rotary_percent=1.0",
                           "model.rope_scaling=true", "model.rope_scaling_factor=8", "model.activation_func=silu"}) {
    CHECK_MESSAGE(says(text, line), line, "\nnot in\n", text);
  }
  CHECK(says(exported({"model=llama3-70b"}, LaunchForm::nemo).text, "model.rope_scaling=false"));
  CHECK(says(exported({"model=nemotron4-15b"}, LaunchForm::nemo).text, "model.activation_func=squared_relu"));
  CHECK(says(exported({"model.base=gpt3-175b", "model.activation=gelu"}, LaunchForm::nemo).text,
             "model.activation_func=gelu"));
  CHECK(says(exported({"model=deepseek-v3"}, LaunchForm::nemo).text, "model.moe_router_score_function=sigmoid"));
}

TEST_CASE("what a model's file does not state, and what no argument says, is told") {
  const ExportedLaunch unknown = exported({"model=gpt3-175b"}, LaunchForm::megatron);
  CHECK(notes(unknown, "model.norm_eps: the model's file does not state it"));
  CHECK_FALSE(notes(unknown, "model.rope_base"));  // its positions are learned
  CHECK(unknown.text.find("--norm-epsilon") == std::string::npos);
  const ExportedLaunch falcon = exported({"model=falcon-40b"}, LaunchForm::megatron);
  CHECK(notes(falcon, "model.rope_base: the model's file does not state it"));
  CHECK(falcon.text.find("--rotary-base") == std::string::npos);
  CHECK(notes(exported({"model=bloom-176b"}, LaunchForm::megatron), "model.positions = \"alibi\" ("));
  const ExportedLaunch gemma = exported({"model=gemma3-27b"}, LaunchForm::megatron);
  CHECK(notes(gemma, "model.rope_base_local = 10000 (Megatron-LM turns all layers by one base"));
  CHECK(notes(gemma, "model.activation = \"gelu-tanh\" (--swiglu gates with SiLU"));
  CHECK(notes(exported({"model=gpt-oss-120b"}, LaunchForm::megatron), "model.rope_scaling.kind = \"yarn\" ("));
  CHECK(notes(exported({"model=kimi-k2"}, LaunchForm::megatron), "model.rope_scaling.beta_fast = 1"));
  // A flavor is a network with positions and an epsilon of its own.
  CHECK(notes(exported({"model=llama3-70b"}, LaunchForm::torchtitan), "model.rope_scaling = none (flavor 70B"));
  CHECK_FALSE(notes(exported({"model=llama3.1-70b"}, LaunchForm::torchtitan), "model"));
  CHECK(
      notes(exported({"model=deepseek-v3"}, LaunchForm::torchtitan), "model.norm_eps = 1e-06 (flavor 671B has 1e-05"));
  const ExportedLaunch own = exported({"model.base=llama3-70b", "model.layers=64"}, LaunchForm::torchtitan);
  CHECK(notes(own, "model = \"llama3-70b\" (torchtitan has no such flavor"));
  const auto of_network = [](const ExportedLaunch& launch) {
    return std::count_if(launch.notes.begin(), launch.notes.end(), [](const LaunchNote& n) { return n.of_network(); });
  };
  CHECK(of_network(own) >= 1);
  CHECK(of_network(exported({"model=llama3.1-70b"}, LaunchForm::torchtitan)) == 0);
  CHECK(own.text.find("flavor = ") == std::string::npos);
}

TEST_CASE("the network that a launch says comes back whole") {
  for (const LaunchForm form : {LaunchForm::megatron, LaunchForm::nemo, LaunchForm::torchrun}) {
    for (const std::string& id : presets) {
      CAPTURE(id);
      const ExportedLaunch launch = exported({"model=" + id}, form);
      const ImportedLaunch back = read(launch.text, {});
      const Architecture ours = sources().models.find(id);
      const Architecture theirs = network_of(back);
      CHECK(theirs.layers == ours.layers);
      if (!notes(launch, "model.")) {
        CHECK(theirs.id == ours.id);
      }
      const auto expressed = [&](const std::string& key) { return !notes(launch, key); };
      if (expressed("model.norm_eps")) {
        CHECK(theirs.norm_eps == ours.norm_eps);
      }
      if (expressed("model.rope_base:")) {
        CHECK(theirs.rope_base == ours.rope_base);
      }
      CHECK(theirs.rope_share == ours.rope_share);
      if (expressed("model.rope_scaling")) {
        CHECK(theirs.rope_scaling.kind == ours.rope_scaling.kind);
        CHECK(theirs.rope_scaling.factor == ours.rope_scaling.factor);
      }
      if (ours.moe && expressed("model.moe")) {
        CHECK(theirs.moe->score == ours.moe->score);
        CHECK(theirs.moe->normalized == ours.moe->normalized);
        CHECK(theirs.moe->scale == ours.moe->scale);
        CHECK(theirs.moe->groups == ours.moe->groups);
      }
    }
  }
  // Of presets of one size the details tell which it is.
  CHECK(network_of(read(exported({"model=llama3.1-70b"}, LaunchForm::megatron).text, {})).id == "llama3.1-70b");
  CHECK(network_of(read(exported({"model=llama3-70b"}, LaunchForm::megatron).text, {})).id == "llama3-70b");
}

TEST_CASE("how a checkpoint is stored is no matter of a training's launch") {
  for (const LaunchForm form : {LaunchForm::megatron, LaunchForm::nemo}) {
    const ExportedLaunch launch = exported({"model=deepseek-v3"}, form);
    CHECK_FALSE(notes(launch, "model."));
    CHECK(network_of(read(launch.text, {})).id == "deepseek-v3");
    CHECK_FALSE(notes(exported({"model=gpt-oss-20b"}, form), "model.weights"));
  }
}

TEST_CASE("a preset is known whatever the longest sequence of its run") {
  const std::string text = exported({"model=llama3.1-70b"}, LaunchForm::megatron).text;
  const std::string flag = "--max-position-embeddings ";
  CHECK(network_of(read(replaced(text, flag + "131072", flag + "8192"), {})).id == "llama3.1-70b");
  CHECK_THROWS_WITH_AS(read(replaced(text, flag + "131072", flag + "0"), {}),
                       doctest::Contains("'--max-position-embeddings' is 0; it must be 1 to 1073741824"), ConfigError);
}

TEST_CASE("details that a launch leaves to Megatron-LM are its defaults, and are compared with the preset's") {
  const std::string moonlight = exported({"model=moonlight-16b-a3b"}, LaunchForm::megatron).text;
  const ImportedLaunch unscaled = read(without(moonlight, "--moe-router-topk-scaling-factor"), {});
  CHECK(network_of(unscaled).id == "moonlight-16b-a3b");
  CHECK(network_of(unscaled).moe->scale == 1.0);
  CHECK(remarked(unscaled, "model.moe.scale = 1.0, for the file does not say it; moonlight-16b-a3b has 2.446"));
  const std::string neox = exported({"model=gpt-neox-20b"}, LaunchForm::megatron).text;
  const ImportedLaunch turned = read(without(neox, "--rotary-percent"), {});
  CHECK(network_of(turned).id == "gpt-neox-20b");
  CHECK(network_of(turned).rope_share == 1.0);
  CHECK(remarked(turned, "model.rope_share = 1.0, for the file does not say it; gpt-neox-20b has 0.25"));
  std::string deep = exported({"model=deepseek-v3"}, LaunchForm::megatron).text;
  for (const char* flag : {"--moe-router-num-groups", "--moe-router-group-topk", "--mscale-all-dim"}) {
    deep = without(deep, flag);
  }
  const ImportedLaunch ungrouped = read(deep, {});
  CHECK(network_of(ungrouped).id == "deepseek-v3");
  CHECK(network_of(ungrouped).moe->groups == 0);
  CHECK(network_of(ungrouped).moe->top_groups == 0);
  CHECK(network_of(ungrouped).moe->scale == 2.5);
  CHECK(network_of(ungrouped).rope_scaling.mscale_all == 0.0);
  CHECK(network_of(ungrouped).rope_scaling.factor == 40.0);
  CHECK(remarked(ungrouped, "model.moe.groups = 0, for the file does not say it; deepseek-v3 has 8"));
  CHECK(remarked(ungrouped, "model.moe.top_groups = 0, for the file does not say it; deepseek-v3 has 4"));
  CHECK(remarked(ungrouped, "model.rope_scaling.mscale_all = 0.0, for the file does not say it; deepseek-v3 has 1"));
  // All layers turn by one base, which no argument changes.
  const ImportedLaunch one_base = read(exported({"model=gemma3-27b"}, LaunchForm::megatron).text, {"model=gemma3-27b"});
  CHECK(network_of(one_base).rope_base_local == 0);
  CHECK(remarked(one_base, "model.rope_base_local = 0, for the file does not say it; gemma3-27b has 10000"));
  // What a recipe decides is not known, and the preset's.
  const std::string recipe = exported({"model=moonlight-16b-a3b"}, LaunchForm::nemo).text;
  const ImportedLaunch unsaid = read(without(recipe, "model.moe_router_topk_scaling_factor"), {});
  CHECK(network_of(unsaid).id == "moonlight-16b-a3b");
  CHECK(network_of(unsaid).moe->scale == 2.446);
  CHECK_FALSE(remarked(unsaid, "model.moe.scale"));
  // A network of its own is not told what all networks have.
  const ImportedLaunch own = read(replaced(moonlight, "--vocab-size 163840", "--vocab-size 100000"), {});
  CHECK(network_of(own).vocab == 100000);
  CHECK(network_of(own).moe->scale == 2.446);
  for (const char* key : {"top_groups", "rope_base_local", "rope_share"}) {
    CHECK_MESSAGE(own.toml.find(key) == std::string::npos, own.toml);
  }
}

TEST_CASE("NeMo's rotary base may be written as a float") {
  const std::string text = exported({"model=llama3-70b"}, LaunchForm::nemo).text;
  const std::string key = "model.rotary_base=";
  for (const char* base : {"500000.0", "5e5", "500000"}) {
    const ImportedLaunch back = read(replaced(text, key + "500000", key + base), {});
    CHECK(network_of(back).id == "llama3-70b");
    CHECK(network_of(back).rope_base == 500000);
    CHECK_FALSE(remarked(back, "model.rope_base"));
  }
  CHECK_THROWS_WITH_AS(read(replaced(text, key + "500000", key + "500000.5"), {}),
                       doctest::Contains("error: 'model.rotary_base' is '500000.5'; it must be a whole number"),
                       ConfigError);
}

TEST_CASE("NeMo is told the function of a gate by its name") {
  const ExportedLaunch gemma = exported({"model=gemma2-9b"}, LaunchForm::nemo);
  CHECK(says(gemma.text, "model.activation_func=fast_gelu"));
  CHECK(says(gemma.text, "model.gated_linear_unit=true"));
  CHECK_FALSE(notes(gemma, "model.activation"));
  const ImportedLaunch back = read(gemma.text, {"model=gemma2-9b"});
  CHECK(network_of(back).activation == Activation::gelu_tanh);
  CHECK_FALSE(remarked(back, "model.activation"));
  const ExportedLaunch exact = exported({"model.base=llama3-70b", "model.activation=gelu"}, LaunchForm::nemo);
  CHECK(says(exact.text, "model.activation_func=gelu"));
  CHECK(network_of(read(exact.text, {})).activation == Activation::gelu);
  const ExportedLaunch unknown = exported({"model=gpt-oss-20b"}, LaunchForm::nemo);
  CHECK(unknown.text.find("activation_func") == std::string::npos);
  CHECK(notes(unknown, "model.activation: the model's file does not state it"));
  CHECK(notes(exported({"model=gemma2-9b"}, LaunchForm::megatron), "model.activation = \"gelu-tanh\" (--swiglu"));
}

TEST_CASE("a launch with another base than its preset's keeps it, and is told") {
  std::string text = exported({"model=llama3-70b"}, LaunchForm::megatron).text;
  const std::string flag = "  --rotary-base 500000\n";
  const std::size_t at = text.find(flag);
  REQUIRE(at != std::string::npos);
  std::string longer = text;
  longer.replace(at, flag.size(), "  --rotary-base 8000000\n");
  const ImportedLaunch other = read(longer, {});
  CHECK(network_of(other).id == "llama3-70b");
  CHECK(network_of(other).rope_base == 8000000);
  CHECK(remarked(other, "model.rope_base = 8000000; llama3-70b has 500000"));
  // and goes out again as it came
  const auto& train = std::get<TrainScenario>(other.scenario.question);
  CHECK(says(export_launch(other.scenario, train, train.strategy, LaunchForm::megatron).text, "--rotary-base 8000000"));
  text.erase(at, flag.size());
  const ImportedLaunch unsaid = read(text, {});
  CHECK(network_of(unsaid).rope_base == 10000);
  CHECK(remarked(unsaid, "model.rope_base = 10000, for the file does not say it; llama3-70b has 500000"));
  const ImportedLaunch named = read(text, {"model=llama3-70b"});  // the option names the preset, the file its own base
  CHECK(network_of(named).id == "llama3-70b");
  CHECK(network_of(named).rope_base == 10000);
  CHECK(remarked(named, "--set model=llama3-70b: model.rope_base = 10000"));
}
