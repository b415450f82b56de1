// SPDX-License-Identifier: Apache-2.0
// Encoders: BERT and its kin, vision transformers.
#include <headroom/model/workload/hf_families.hpp>

#include <array>

namespace headroom {
namespace {

bool class_ends(HfReader& reader, std::string_view tail) {
  const std::vector<std::string> classes = reader.words({"architectures"});
  return !classes.empty() && classes.front().size() >= tail.size() &&
         std::string_view{classes.front()}.substr(classes.front().size() - tail.size()) == tail;
}

/// The head follows from the class: masked language model, both heads, or the pooler alone.
void bert(HfReader& reader, Architecture& arch) {
  arch.kind = ArchitectureKind::encoder;
  arch.learned_positions = arch.max_seq_len > 0 ? arch.max_seq_len : 512;
  arch.token_types = reader.size_or({"type_vocab_size"}, 2, hf_size_or_none);
  arch.embedding_norm = true;
  arch.final_norm = false;
  arch.tied_embeddings = true;
  const bool both = class_ends(reader, "ForPreTraining");
  arch.mlm_head = both || class_ends(reader, "ForMaskedLM");
  arch.pooler = both || !arch.mlm_head;
}

void vision(HfReader& reader, Architecture& arch, bool class_token, bool patch_bias) {
  arch.kind = ArchitectureKind::encoder;
  Patches p;
  p.image = reader.size_or({"image_size"}, 224);
  p.patch = reader.size_or({"patch_size"}, 16, {1, 32768});
  p.channels = reader.size_or({"num_channels"}, 3, {1, 32768});
  p.class_token = class_token;
  p.bias = patch_bias;
  if (p.patch > p.image) {
    reader.problem({"patch_size"},
                   "'patch_size' " + std::to_string(p.patch) + " is more than 'image_size' " + std::to_string(p.image));
    return;
  }
  const std::int64_t side = p.image / p.patch;
  arch.learned_positions = side * side + (class_token ? 1 : 0);
  arch.max_seq_len = arch.learned_positions;
  arch.tied_embeddings = false;
  arch.patches = p;
}

void vit(HfReader& reader, Architecture& arch) {
  vision(reader, arch, true, true);
  if (arch.patches && class_ends(reader, "ForImageClassification")) {
    const ConfigValue* labels = reader.find({"id2label"});
    const bool named = labels != nullptr && labels->kind == ConfigValue::Kind::table;
    arch.patches->classes =
        named ? static_cast<std::int64_t>(labels->entries.size()) : reader.size_or({"num_labels"}, 1000);
  }
  arch.pooler = class_ends(reader, "ViTModel");
}

/// No bias on the projection of patches, one norm before the layers and one behind (Radford et al. 2021).
void clip_vision(HfReader& reader, Architecture& arch) {
  vision(reader, arch, true, false);
  arch.embedding_norm = true;
}

/// No class token; the pooling head is left out, as it is in language models with this tower.
void siglip_vision(HfReader& reader, Architecture& arch) {
  vision(reader, arch, false, true);
  arch.notes = "without the attention pooling head";
}

constexpr HfFamily encoder(std::string_view model_type, HfDefaults defaults, void (*fill)(HfReader&, Architecture&)) {
  return {.model_type = model_type,
          .gated = false,
          .norm = Norm::layernorm,
          .biases = true,
          .qkv_bias = true,
          .defaults = defaults,
          .fill = fill};
}

constexpr HfDefaults no_words{.vocab = 1};

constexpr auto encoders = std::to_array<HfFamily>({
    encoder("bert", {}, bert),
    encoder("roberta", {}, bert),
    encoder("xlm-roberta", {}, bert),
    encoder("vit", no_words, vit),
    encoder("clip_vision_model", no_words, clip_vision),
    encoder("siglip_vision_model", no_words, siglip_vision),
});

}  // namespace

std::span<const HfFamily> hf_encoders() {
  return encoders;
}

}  // namespace headroom
