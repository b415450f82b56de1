// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_reader.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/hf_families.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace headroom {
namespace {

// The spellings of the keys all families share.
const HfKeys layer_keys{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
const HfKeys hidden_keys{"hidden_size", "n_embd", "d_model", "n_embed", "emb_size"};
const HfKeys head_keys{"num_attention_heads", "n_head", "n_heads"};
const HfKeys kv_keys{"num_key_value_heads", "n_head_kv", "num_kv_heads", "attn_config.kv_n_heads"};
const HfKeys head_dim_keys{"head_dim", "attention_head_dim", "key_size"};
const HfKeys ffn_keys{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "ffn_config.ffn_hidden_size"};
const HfKeys position_keys{"max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx"};

/// A family that cannot be held, and why.
struct Refused {
  std::string_view model_type;
  std::string_view reason;
};
constexpr std::string_view two_stacks =
    "an encoder and a decoder of different depths with cross-attention; an architecture here is one stack";
constexpr std::string_view two_towers = "two towers; give the config.json of one of them";
constexpr std::string_view shared_block = "one attention block shared by several layers has no place in a layer list";
constexpr std::string_view kimi_residuals = "residuals that attend to earlier layers have no place here";
constexpr std::string_view v4 =
    "grouped low-rank output projections, compressed caches by layer and hyper-connections have no place here";
constexpr std::string_view gemma_layers = "embeddings and caches by layer have no place here";
constexpr auto refused = std::to_array<Refused>({
    {"t5", two_stacks},
    {"mt5", two_stacks},
    {"umt5", two_stacks},
    {"bart", two_stacks},
    {"mbart", two_stacks},
    {"marian", two_stacks},
    {"pegasus", two_stacks},
    {"whisper", two_stacks},
    {"m2m_100", two_stacks},
    {"clip", two_towers},
    {"siglip", two_towers},
    {"siglip2", two_towers},
    {"zamba", shared_block},
    {"zamba2", shared_block},
    {"kimi_k3", kimi_residuals},
    {"deepseek_v4", v4},
    {"gemma3n", gemma_layers},
    {"gemma3n_text", gemma_layers},

});

std::vector<const HfFamily*> families() {
  std::vector<const HfFamily*> all;
  for (const std::span<const HfFamily> part : {hf_decoders(), hf_mixtures(), hf_hybrids(), hf_encoders()}) {
    for (const HfFamily& family : part) {
      all.push_back(&family);
    }
  }
  return all;
}

const HfFamily* family_of(std::string_view model_type) {
  const std::vector<const HfFamily*> all = families();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const HfFamily* f) { return f->model_type == model_type; });
  return found == all.end() ? nullptr : *found;
}

const Refused* refusal_of(std::string_view model_type) {
  const auto* found = std::find_if(std::begin(refused), std::end(refused),
                                   [&](const Refused& r) { return r.model_type == model_type; });
  return found == std::end(refused) ? nullptr : found;
}

/// "Qwen3MoeForCausalLM" -> "qwen3moe".
std::string class_stem(std::string name) {
  for (const std::string_view tail : {"ForConditionalGeneration", "ForCausalLM", "LMHeadModel", "ForMaskedLM",
                                      "ForPreTraining", "ForImageClassification", "Model"}) {
    if (name.size() > tail.size() && std::string_view{name}.substr(name.size() - tail.size()) == tail) {
      name.resize(name.size() - tail.size());
      break;
    }
  }
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

/// The model_type, or the one whose letters are those of the class in `architectures`.
std::string find_model_type(HfReader& reader) {
  std::string told = reader.text_or({"model_type"}, "");
  if (!told.empty()) {
    return told;
  }
  if (reader.has({"ssm_cfg"})) {  // checkpoints of state-spaces name no type
    return reader.text_or({"ssm_cfg.layer"}, "Mamba1") == "Mamba2" ? "mamba2" : "mamba";
  }
  const std::vector<std::string> classes = reader.words({"architectures"});
  std::string stem = classes.empty() ? "" : class_stem(classes.front());
  for (const HfFamily* family : families()) {
    std::string letters{family->model_type};
    letters.erase(std::remove(letters.begin(), letters.end(), '_'), letters.end());
    if (letters == stem) {
      return std::string{family->model_type};
    }
  }
  for (const Refused& row : refused) {
    if (row.model_type == stem) {
      return std::string{row.model_type};
    }
  }
  return stem;
}

void report_unknown(HfReader& reader, const std::string& model_type) {
  if (!reader.diagnostics().empty()) {
    return;  // model_type is no string
  }
  if (const Refused* row = refusal_of(model_type)) {
    reader.problem({"model_type"},
                   "model_type '" + std::string{row->model_type} + "' is not read: " + std::string{row->reason});
    return;
  }
  const std::vector<std::string_view> known = hf_model_types();
  std::string listed;
  for (const std::string_view name : known) {
    listed += (listed.empty() ? "" : ", ") + std::string{name};
  }
  if (reader.has({"model_type"})) {
    reader.problem({"model_type"}, "model_type " + quoted(model_type) + " is unknown" + suggestion(model_type, known) +
                                       "; known are " + listed);
  } else if (!model_type.empty()) {
    reader.problem({"architectures"}, "class " + quoted(reader.words({"architectures"}).front()) +
                                          " is of no known model_type; state 'model_type', one of " + listed);
  } else {
    reader.problem({"model_type"}, "missing key 'model_type', one of " + listed);
  }
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return std::string{slash == std::string_view::npos ? path : path.substr(slash + 1)};
}

/// "meta-llama/Llama-3-8B" -> "llama-3-8b"; from _name_or_path, the file's stem, or the folder of a config.json.
std::string identifier(HfReader& reader) {
  std::string name = base_name(reader.text_or({"_name_or_path"}, ""));
  if (name.empty()) {
    const std::string& path = reader.file();
    name = base_name(path);
    name = name.substr(0, name.find(".json"));
    if (name == "config") {
      const std::size_t slash = path.find_last_of('/');
      name = slash == std::string::npos ? "" : base_name(path.substr(0, slash));
    }
  }
  std::string id;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    id += std::isalnum(u) != 0 && u < 128 ? static_cast<char>(std::tolower(u)) : c == '.' ? '.' : '-';
  }
  id.erase(0, id.find_first_not_of("-."));
  return id.empty() ? "imported" : id.substr(0, 64);
}

std::int64_t or_default(HfReader& reader, HfKeys keys, std::int64_t fallback) {
  return fallback > 0 ? reader.size_or(keys, fallback) : reader.size(keys);
}

void read_attention(HfReader& reader, const HfFamily& family, Architecture& arch) {
  const std::size_t problems = reader.diagnostics().size();
  arch.heads = or_default(reader, head_keys, family.defaults.heads);
  const std::int64_t kv = family.defaults.kv_heads > 0 ? family.defaults.kv_heads : arch.heads;
  arch.kv_heads = reader.size_or(kv_keys, kv);
  const auto head_dim = reader.maybe(head_dim_keys);
  if (head_dim || family.defaults.head_dim > 0) {
    arch.head_dim = head_dim.value_or(family.defaults.head_dim);
  } else {
    arch.head_dim = std::max<std::int64_t>(1, arch.hidden / arch.heads);
    const bool read = problems == reader.diagnostics().size() && reader.maybe(hidden_keys).has_value();
    if (read && arch.hidden % arch.heads != 0 && !reader.has({"kv_lora_rank"})) {
      reader.problem(head_keys, "hidden size " + std::to_string(arch.hidden) + " does not divide by " +
                                    std::to_string(arch.heads) + " heads; state 'head_dim'");
    }
  }
  const bool attention = reader.flag_or({"attention_bias", "qkv_bias"}, family.qkv_bias);
  arch.biases = family.biases;
  if (attention != arch.biases) {
    arch.attention_biases = attention;
  }
  if ((family.bias_covers_out && attention) != arch.biases && !family.biases) {
    arch.output_bias = attention;
  }
  arch.qk_norm = family.qk_norm;
}

void read_ends(HfReader& reader, const HfFamily& family, Architecture& arch) {
  arch.tied_embeddings = reader.flag_or({"tie_word_embeddings"}, family.tied);
  if (family.norms > 0) {
    arch.norms_per_layer = family.norms;
  }
  arch.norm = family.norm;
  arch.norm_biases = family.norm_biases;
  arch.max_seq_len = reader.size_or(position_keys, 0);
}

/// Sizes of recurrent and vision families are read by their fill.
bool attends(const HfFamily& family) {
  return family.defaults.heads != -1;
}

void check(HfReader& reader, const Architecture& arch) {
  std::vector<Block> blocks = arch.blocks();
  Block usual;
  usual.heads = arch.heads;
  usual.kv_heads = arch.kv_heads;
  blocks.push_back(usual);  // told even when no layer attends
  for (const Block& block : blocks) {
    if (block.heads % block.kv_heads != 0) {
      reader.problem(kv_keys, std::to_string(block.heads) + " heads do not divide by " +
                                  std::to_string(block.kv_heads) + " key-value heads");
      break;
    }
  }
  if (arch.moe && arch.moe->top_k > arch.moe->experts) {
    reader.problem({"num_experts_per_tok", "num_experts_per_token", "moe_top_k", "ffn_config.moe_top_k"},
                   "top_k is " + std::to_string(arch.moe->top_k) + ", more than the " +
                       std::to_string(arch.moe->experts) + " experts");
  }
  if (arch.moe && arch.moe->dense_layers > arch.layers) {
    reader.problem({"first_k_dense_replace"}, std::to_string(arch.moe->dense_layers) +
                                                  " dense layers are more than the " + std::to_string(arch.layers) +
                                                  " layers");
  }
}

Architecture read(HfReader& reader, const HfFamily& family) {
  Architecture arch;
  arch.id = identifier(reader);
  const std::string name = base_name(reader.text_or({"_name_or_path"}, ""));
  arch.name = name.empty() ? arch.id : name;
  arch.family = family.model_type;
  arch.source = "Hugging Face config.json: " + shown(reader.file());
  arch.gated_mlp = family.gated;
  arch.hidden = reader.size(hidden_keys);
  // Some hybrids state a list of their layers alone.
  arch.layers = family.layers_of_list && !reader.has(layer_keys) ? 1 : reader.size(layer_keys);
  if (arch.layers > 65535) {
    reader.problem(layer_keys, std::to_string(arch.layers) + " layers; at most 65535 are read");
    arch.layers = 1;
  }
  if (attends(family)) {
    read_attention(reader, family, arch);
    const std::int64_t ffn = family.defaults.ffn == four_hidden ? 4 * arch.hidden : family.defaults.ffn;
    arch.ffn_hidden = or_default(reader, ffn_keys, ffn);
    arch.vocab = or_default(reader, {"vocab_size"}, family.defaults.vocab);
  }
  read_ends(reader, family, arch);
  if (family.fill != nullptr) {
    family.fill(reader, arch);
  }
  read_details(reader, family, arch);
  if (reader.diagnostics().empty()) {
    check(reader, arch);
  }
  return arch;
}

void read_weights(HfReader& reader, Architecture& arch) {
  const ConfigValue* table = reader.find({"quantization_config"});
  if (table == nullptr) {
    return;
  }
  if (table->kind != ConfigValue::Kind::table) {
    reader.problem({"quantization_config"},
                   "'quantization_config' must be an object, not " + std::string{kind_name(table->kind)});
    return;
  }
  arch.weights = import_weight_format(ConfigTable{*table, "quantization_config", reader.diagnostics()});
}

}  // namespace

std::vector<std::string_view> hf_model_types() {
  std::vector<std::string_view> names;
  for (const HfFamily* family : families()) {
    names.push_back(family->model_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void set_blocks(Architecture& arch, const std::vector<Block>& blocks) {
  const auto same_windows = [&](std::int64_t period) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool full = period > 0 && static_cast<std::int64_t>(i + 1) % period == 0;
      if (blocks[i].window != (full ? 0 : arch.window)) {
        return false;
      }
    }
    return true;
  };
  for (std::int64_t period = 0; arch.window > 0 && period <= 16; ++period) {
    if (same_windows(period)) {
      arch.full_every = period;
      break;
    }
  }
  arch.variants.clear();
  const std::vector<Block> usual = arch.blocks();
  for (std::size_t i = 0; i < blocks.size() && i < usual.size(); ++i) {
    if (blocks[i] == usual[i]) {
      continue;
    }
    auto variant = std::find_if(arch.variants.begin(), arch.variants.end(),
                                [&](const LayerVariant& v) { return v.block == blocks[i]; });
    if (variant == arch.variants.end()) {
      variant = arch.variants.insert(arch.variants.end(), LayerVariant{{}, blocks[i]});
    }
    variant->layers.push_back(static_cast<std::int64_t>(i));
  }
}

void read_windows(HfReader& reader, Architecture& arch, std::int64_t window, std::int64_t period) {
  if (window <= 0 || (arch.max_seq_len > 0 && window >= arch.max_seq_len)) {
    return;  // it never closes
  }
  arch.window = window;
  const std::vector<std::string> types = reader.words_per_layer({"layer_types"}, arch.layers);
  if (types.empty()) {
    arch.full_every = period;
    return;
  }
  std::vector<Block> blocks = arch.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::string& type = types[i];
    if (type != "full_attention" && type != "sliding_attention" && type != "chunked_attention") {
      reader.problem({"layer_types"}, "'layer_types' has " + quoted(type) +
                                          "; it must be one of full_attention, sliding_attention, chunked_attention");
      return;
    }
    blocks[i].window = type == "full_attention" ? 0 : window;
  }
  if (std::none_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.window > 0; })) {
    arch.window = 0;
    return;
  }
  set_blocks(arch, blocks);
}

Architecture import_hf_config(const ConfigValue& root,
                              const std::string& file,
                              Diagnostics& diagnostics,
                              Diagnostics& remarks) {
  Diagnostics own;  // what the caller found elsewhere must not stop the checks here
  HfReader reader{root, file, own, remarks};
  const std::string model_type = find_model_type(reader);
  Architecture arch;
  if (const HfFamily* family = family_of(model_type)) {
    arch = read(reader, *family);
    read_weights(reader, arch);
    if (root.find("vision_config") != nullptr && arch.kind == ArchitectureKind::decoder) {
      arch.notes += std::string{arch.notes.empty() ? "" : "; "} + "the language model alone, without its vision tower";
    }
  } else {
    report_unknown(reader, model_type);
  }
  diagnostics.add(own);
  return arch;
}

Architecture load_hf_config(const std::string& path, Diagnostics& remarks) {
  const ConfigSource source = read_file(path);
  const ConfigValue root = parse_json(source.text, source.file);
  Diagnostics diagnostics;
  Architecture arch = import_hf_config(root, source.file, diagnostics, remarks);
  diagnostics.throw_if_any();
  return arch;
}

}  // namespace headroom
