// SPDX-License-Identifier: Apache-2.0
// A launch says the whole network: what changes no byte and no second goes out, is told where it cannot, and comes
// back.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

const Sources& sources() {
  static const Sources standard = Sources::standard();
  return standard;
}

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
                     [&](const std::string& note) { return note.starts_with(start); });
}

ImportedLaunch read(const std::string& text, std::vector<std::string> assignments) {
  assignments.insert(assignments.end(), {"hardware.gpu=h100-sxm-80gb", "hardware.gpus=1024"});
  return import_launch({"run", text}, {std::nullopt, std::move(assignments), false}, sources());
}

Architecture network_of(const ImportedLaunch& launch) {
  return std::get<TrainScenario>(launch.scenario.question).architecture;
}

bool remarked(const ImportedLaunch& launch, const std::string& part) {
  return std::any_of(launch.remarks.begin(), launch.remarks.end(),
                     [&](const std::string& remark) { return remark.find(part) != std::string::npos; });
}

/// Every preset that Megatron-LM's arguments can hold but for what they list.
const std::vector<std::string> presets{"llama2-70b",    "llama3-70b",      "llama3.1-405b",     "llama3.2-1b",
                                       "mistral-7b",    "mixtral-8x7b",    "qwen2.5-72b",       "qwen3-32b",
                                       "deepseek-v2",   "deepseek-v3",     "gpt3-175b",         "gpt-neox-20b",
                                       "nemotron4-15b", "qwen3-235b-a22b", "moonlight-16b-a3b", "gemma3-27b"};

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
