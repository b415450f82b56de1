// SPDX-License-Identifier: Apache-2.0
// The table of Hugging Face model families: what a family's class means beyond the keys that all share.
#pragma once

#include <headroom/model/workload/architecture.hpp>
#include <headroom/model/workload/hf_reader.hpp>

#include <span>

namespace headroom {

/// Defaults of a family's class for sizes its config.json may leave out; 0: required.
struct HfDefaults {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads
  std::int64_t head_dim = 0;  ///< 0: hidden / heads
  std::int64_t ffn = 0;       ///< 0: required; -4: 4 x hidden
  std::int64_t vocab = 0;
};
inline constexpr std::int64_t four_hidden = -4;

/// One row a model_type. `fill` reads what is peculiar to the family after the shared keys were read.
struct HfFamily {
  std::string_view model_type;
  bool tied = true;  ///< default of tie_word_embeddings; transformers' base class says true
  bool gated = true;
  Norm norm = Norm::rmsnorm;
  bool norm_biases = true;
  bool biases = false;
  bool qkv_bias = false;        ///< default of attention_bias, or implied
  bool bias_covers_out = true;  ///< attention_bias means the output projection too
  QkNorm qk_norm = QkNorm::none;
  std::int64_t norms = 2;
  bool layers_of_list = false;  ///< a list of layers stands for num_hidden_layers where that is null
  HfDefaults defaults = {};
  void (*fill)(HfReader&, Architecture&) = nullptr;
};

/// Families by the file that reads them.
[[nodiscard]] std::span<const HfFamily> hf_decoders();
[[nodiscard]] std::span<const HfFamily> hf_mixtures();
[[nodiscard]] std::span<const HfFamily> hf_hybrids();
[[nodiscard]] std::span<const HfFamily> hf_encoders();

/// Makes `blocks` what arch.blocks() returns: windows by their period when they have one, the rest as variants.
/// Blocks must number arch.layers.
void set_blocks(Architecture& arch, const std::vector<Block>& blocks);

/// Sliding and full layers from `layer_types`, else every `period`-th layer full (0: none).
void read_windows(HfReader& reader, Architecture& arch, std::int64_t window, std::int64_t period);

/// What a launch must say of the network beside its sizes: epsilon, activation, positions, the router's rule.
void read_details(HfReader& reader, const HfFamily& family, Architecture& arch);

}  // namespace headroom
