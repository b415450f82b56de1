// SPDX-License-Identifier: Apache-2.0
// What no byte or second hangs on and a launch must say all the same: of presets beside what their models' config.json
// publish, and of a config.json.
#include <headroom/core/json_reader.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace headroom;

namespace {

const ModelLibrary& models() {
  static const ModelLibrary library = ModelLibrary::standard();
  return library;
}

struct Imported {
  Architecture arch;
  std::string remarks;
};
Imported imported_with_remarks(const std::string& text) {
  Diagnostics diagnostics;
  Diagnostics remarks;
  Imported result{import_hf_config(parse_json(text, "config.json"), "config.json", diagnostics, remarks), ""};
  diagnostics.throw_if_any();
  for (const Diagnostic& remark : remarks.sorted()) {
    result.remarks += remark.warning() + "\n";
  }
  return result;
}

Architecture imported(const std::string& text) {
  Imported result = imported_with_remarks(text);
  CHECK(result.remarks == "");
  return std::move(result.arch);
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(imported(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

/// A network of the family with more keys.
std::string config(const std::string& model_type, const std::string& more) {
  return R"({"model_type": ")" + model_type + R"(", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 100)" +
         (more.empty() ? "" : ", " + more) + "}";
}

struct Published {
  const char* id;
  double norm_eps;
  std::int64_t rope_base;
  double share = 1.0;
  RopeStretch stretch = RopeStretch::none;
  double factor = 0.0;
};
// Typed from each model's config.json (rms_norm_eps, rope_theta, partial_rotary_factor, rope_scaling).
const std::vector<Published> published{
    {"llama2-7b", 1e-5, 10000},
    {"llama3-8b", 1e-5, 500000},
    {"llama3.1-70b", 1e-5, 500000, 1.0, RopeStretch::llama3, 8.0},
    {"llama3.2-1b", 1e-5, 500000, 1.0, RopeStretch::llama3, 32.0},
    {"mistral-7b-v0.3", 1e-5, 1000000},
    {"mixtral-8x7b", 1e-5, 1000000},
    {"qwen2.5-7b", 1e-6, 1000000},
    {"qwen2.5-72b", 1e-5, 1000000},
    {"qwen3-32b", 1e-6, 1000000},
    {"gemma2-9b", 1e-6, 10000},
    {"gemma3-27b", 1e-6, 1000000, 1.0, RopeStretch::linear, 8.0},
    {"phi4", 1e-5, 250000},
    {"gpt-neox-20b", 1e-5, 10000, 0.25},
    {"deepseek-v3", 1e-6, 10000, 1.0, RopeStretch::yarn, 40.0},
    {"kimi-k2", 1e-6, 50000, 1.0, RopeStretch::yarn, 32.0},
    {"gpt-oss-120b", 1e-5, 150000, 1.0, RopeStretch::yarn, 32.0},
};

}  // namespace

TEST_CASE("presets say what their config.json says of norms and positions") {
  for (const Published& p : published) {
    CAPTURE(p.id);
    const Architecture arch = models().find(p.id);
    CHECK(arch.norm_eps == p.norm_eps);
    CHECK(arch.rope_base == p.rope_base);
    CHECK(arch.rope_share == p.share);
    CHECK(arch.rope_scaling.kind == p.stretch);
    CHECK(arch.rope_scaling.factor == p.factor);
    CHECK(arch.positions == Positions::rope);
  }
  CHECK(models().find("bloom-176b").positions == Positions::alibi);
  CHECK(models().find("deepseek-v3").moe->score == RouterScore::sigmoid);
  CHECK(models().find("deepseek-v3").moe->scale == 2.5);
  CHECK(models().find("mixtral-8x7b").moe->score == RouterScore::softmax);
}

TEST_CASE("positions of a preset are one of three: a learned table, rotary ones, or what is stated instead") {
  for (const std::string& id : models().ids()) {
    CAPTURE(id);
    const Architecture arch = models().find(id);
    if (arch.learned_positions > 0 || arch.positions != Positions::rope) {
      CHECK(arch.rope_base == 0);
      CHECK(arch.rope_scaling.kind == RopeStretch::none);
    }
    if (arch.rope_base == 0) {  // nothing half-known
      CHECK(arch.rope_base_local == 0);
      CHECK(arch.rope_scaling.kind == RopeStretch::none);
    }
  }
}

TEST_CASE("config.json of today and of yesterday say the same of rotation") {
  const Architecture old =
      imported(config("llama", R"("rms_norm_eps": 1e-05, "rope_theta": 500000.0, "hidden_act": "silu",
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192})"));
  const Architecture fresh = imported(config("llama", R"("rms_norm_eps": 1e-05, "hidden_act": "silu", "rope_parameters":
    {"rope_theta": 500000.0, "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192})"));
  for (const Architecture& arch : {old, fresh}) {
    CHECK(arch.norm_eps == 1e-5);
    CHECK(arch.activation == Activation::silu);
    CHECK(arch.rope_base == 500000);
    CHECK(arch.rope_scaling.kind == RopeStretch::llama3);
    CHECK(arch.rope_scaling.factor == 8.0);
    CHECK(arch.rope_scaling.original_positions == 8192);
    CHECK(arch.rope_scaling.low_freq == 1.0);
    CHECK(arch.rope_scaling.high_freq == 4.0);
  }
}

TEST_CASE("what a config.json leaves out stays unknown") {
  const Architecture arch = imported(config("llama", ""));
  CHECK(arch.norm_eps == 0.0);
  CHECK(arch.rope_base == 0);
  CHECK_FALSE(arch.activation);
  CHECK(arch.rope_scaling.kind == RopeStretch::none);
  const std::string toml = architecture_toml(arch);
  for (const char* key : {"norm_eps", "rope_", "activation", "positions"}) {
    CHECK(toml.find(key) == std::string::npos);
  }
  // Lists by layer and kinds that stretch nothing are no refusal.
  CHECK(imported(config("qwen3", R"("head_dim": 16, "rope_theta": [10000.0, 1000000.0])")).rope_base == 0);
  CHECK(imported(config("qwen2", R"("rope_scaling": {"type": "mrope", "mrope_section": [2]}, "rope_theta": 1e6)"))
            .rope_scaling.kind == RopeStretch::none);
}

TEST_CASE("other ways to know positions, and routers, are read where a family has them") {
  CHECK(imported(R"({"model_type": "bloom", "n_embed": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100})").positions ==
        Positions::alibi);
  CHECK(imported(config("gpt_neox", R"("rotary_pct": 0.25, "rotary_emb_base": 10000)")).rope_share == 0.25);
  const Architecture gptj =
      imported(R"({"model_type": "gptj", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64,
    "rotary_dim": 8, "vocab_size": 100, "activation_function": "gelu_new"})");
  CHECK(gptj.rope_share == 0.5);
  CHECK(gptj.activation == Activation::gelu_tanh);
  const Architecture experts = imported(config("qwen3_moe", R"("num_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "norm_topk_prob": true, "head_dim": 16)"));
  CHECK(experts.moe->score == RouterScore::softmax);
  CHECK(experts.moe->normalized == true);
  const Architecture deep = imported(config("deepseek_v3", R"("n_routed_experts": 8, "num_experts_per_tok": 2,
    "moe_intermediate_size": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16,
    "scoring_func": "sigmoid", "routed_scaling_factor": 2.5, "n_group": 4, "topk_group": 2, "rope_theta": 10000,
    "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32,
    "beta_slow": 1, "original_max_position_embeddings": 4096})"));
  CHECK(deep.moe->score == RouterScore::sigmoid);
  CHECK(deep.moe->scale == 2.5);
  CHECK(deep.moe->groups == 4);
  CHECK(deep.moe->top_groups == 2);
  CHECK(deep.rope_scaling.mscale_all == 1.0);
}

TEST_CASE("details of a network go through its TOML and back") {
  for (const std::string& id : models().ids()) {
    CAPTURE(id);
    const Architecture arch = models().find(id);
    const ConfigValue root = parse_toml(architecture_toml(arch), "model.toml");
    Diagnostics diagnostics;
    const Architecture again = read_architecture(ConfigTable{root, "", diagnostics});
    CHECK_NOTHROW(diagnostics.throw_if_any());
    CHECK(architecture_toml(again) == architecture_toml(arch));
    if (arch.weights) {  // 0 bits are those that nobody told
      CHECK((architecture_toml(arch).find("\nbits = ") != std::string::npos) == (arch.weights->bits > 0.0));
    }
  }
}

TEST_CASE("details that no network has stay blank, and are told with their place") {
  const struct {
    const char *stated, *remark;
  } cases[] = {
      {R"("rms_norm_eps": -1e-5)", "'rms_norm_eps' is -1e-05; it must be 1e-15 to 0.1; it is left blank"},
      {R"("rms_norm_eps": 1e-16)", "'rms_norm_eps' is 1e-16; it must be 1e-15 to 0.1; it is left blank"},
      {R"("rope_theta": 0)", "'rope_theta' is 0; it must be 1 to 1099511627776; it is left blank"},
      {R"("rope_theta": -1.5)", "'rope_theta' is -1.5; it must be 1 to "},
      {R"("partial_rotary_factor": 2)", "'partial_rotary_factor' is 2; it must be 0.001 to 1; it is left blank"},
  };
  const std::string blank = architecture_toml(imported(config("llama", "")));
  for (const auto& c : cases) {
    CAPTURE(c.stated);
    const Imported read = imported_with_remarks(config("llama", c.stated));
    CHECK_MESSAGE(read.remarks.starts_with("config.json:2:"), read.remarks);
    CHECK_MESSAGE(read.remarks.find(std::string{": warning: "} + c.remark) != std::string::npos, read.remarks);
    CHECK(architecture_toml(read.arch) == blank);
  }
  const Imported stretched = imported_with_remarks(config("deepseek_v3", R"("n_routed_experts": 8,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8, "v_head_dim": 16, "routed_scaling_factor": 0, "n_group": -1, "rope_theta": 10000,
    "rope_scaling": {"type": "yarn", "factor": 40, "mscale": 0.5, "mscale_all_dim": 0,
    "original_max_position_embeddings": -1})"));
  for (const char* key : {"'routed_scaling_factor' is 0; ", "'n_group' is -1; ", "'rope_scaling.mscale_all_dim' is 0; ",
                          "'rope_scaling.original_max_position_embeddings' is -1; "}) {
    CHECK_MESSAGE(stretched.remarks.find(key) != std::string::npos, stretched.remarks);
  }
  CHECK(stretched.arch.rope_scaling.kind == RopeStretch::yarn);
  CHECK(stretched.arch.rope_scaling.factor == 40.0);
  CHECK(stretched.arch.rope_scaling.mscale == 0.5);
  CHECK(stretched.arch.rope_scaling.mscale_all == 0.0);
  CHECK(stretched.arch.moe->scale == 1.0);
  // A number of another kind is a mistake in the file.
  CHECK(refused(config("llama", R"("rms_norm_eps": "small")")).find("'rms_norm_eps' must be a number, not a string") !=
        std::string::npos);
}

TEST_CASE("the ends of what an importer takes are taken again from what it writes") {
  for (const char* details : {R"("rms_norm_eps": 1e-15, "rope_theta": 1, "partial_rotary_factor": 0.001,
           "rope_scaling": {"type": "linear", "factor": 1e-6})",
                              R"("rms_norm_eps": 0.1, "rope_theta": 1099511627776, "partial_rotary_factor": 1,
           "rope_scaling": {"type": "linear", "factor": 1e6})",
                              R"("rms_norm_eps": 1e-16, "rope_theta": 1099511627777, "partial_rotary_factor": 1e-4,
           "rope_scaling": {"type": "linear", "factor": 1e7})"}) {
    CAPTURE(details);
    const std::string toml = architecture_toml(imported_with_remarks(config("llama", details)).arch);
    const ConfigValue root = parse_toml(toml, "model.toml");
    Diagnostics diagnostics;
    CHECK(architecture_toml(read_architecture(ConfigTable{root, "", diagnostics})) == toml);
    CHECK_NOTHROW(diagnostics.throw_if_any());
  }
}

TEST_CASE("a network's name is one line") {
  const std::string named = refused(config("llama", R"("_name_or_path": "acme/a\ntouch X")"));
  CHECK_MESSAGE(named.find("config.json:2:") == 0, named);
  CHECK(named.find("'_name_or_path' is 'acme/a\\x0atouch X'; it must be one line of printable text") !=
        std::string::npos);
}
