// SPDX-License-Identifier: Apache-2.0
// A network's shape: what its published configuration says, and the parameters that follow from it.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/weight_format.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class ArchitectureKind : std::uint8_t { decoder, encoder };
inline constexpr std::array<std::string_view, 2> architecture_kind_names{"decoder", "encoder"};

enum class Norm : std::uint8_t { rmsnorm, layernorm };
inline constexpr std::array<std::string_view, 2> norm_names{"rmsnorm", "layernorm"};

/// How a layer mixes tokens.
enum class Mixer : std::uint8_t { attention, mla, mamba, mamba2, delta_net, kda, none };
inline constexpr std::array<std::string_view, 7> mixer_names{"attention", "mla", "mamba", "mamba2",
                                                             "delta_net", "kda", "none"};
[[nodiscard]] constexpr bool is_recurrent(Mixer mixer) noexcept {
  return mixer == Mixer::mamba || mixer == Mixer::mamba2 || mixer == Mixer::delta_net || mixer == Mixer::kda;
}

/// Where the norms of queries and keys stand: one of head_dim that all heads share, or one over all heads together.
enum class QkNorm : std::uint8_t { none, head, full };
inline constexpr std::array<std::string_view, 3> qk_norm_names{"none", "head", "full"};

/// How attention learns of positions where no table of them is learned.
enum class Positions : std::uint8_t { rope, alibi, none };
inline constexpr std::array<std::string_view, 3> positions_names{"rope", "alibi", "none"};

/// Of an MLP, or of its gate.
enum class Activation : std::uint8_t { silu, gelu, gelu_tanh, relu, relu2 };
inline constexpr std::array<std::string_view, 5> activation_names{"silu", "gelu", "gelu-tanh", "relu", "relu2"};

/// What a router makes of its logits.
enum class RouterScore : std::uint8_t { softmax, sigmoid };
inline constexpr std::array<std::string_view, 2> router_score_names{"softmax", "sigmoid"};

/// How rotary positions reach beyond those that were trained.
enum class RopeStretch : std::uint8_t { none, linear, dynamic, llama3, yarn, longrope };
inline constexpr std::array<std::string_view, 6> rope_stretch_names{"none",   "linear", "dynamic",
                                                                    "llama3", "yarn",   "longrope"};

enum class FeedForward : std::uint8_t { dense, moe, none };
inline constexpr std::array<std::string_view, 3> feed_forward_names{"dense", "moe", "none"};

/// Mixture of experts in every layer but the first `dense_layers`, or in every `every`-th one of the rest.
struct Moe {
  std::int64_t experts = 1;
  std::int64_t top_k = 1;
  std::int64_t expert_ffn_hidden = 1;
  std::int64_t shared_ffn_hidden = 0;  ///< all shared experts together
  std::int64_t dense_layers = 0;
  std::int64_t every = 1;      ///< layer i is MoE when (i + 1) % every == 0
  bool shared_gate = false;    ///< one sigmoid per token on the shared experts (Qwen2-MoE)
  bool router_bias = false;    ///< one number an expert
  bool expert_biases = false;  ///< gpt-oss
  std::optional<RouterScore> score;
  std::optional<bool> normalized;  ///< whether the weights of the chosen experts are scaled to sum to one
  double scale = 1.0;              ///< on the sum of the routed experts
  std::int64_t groups = 0;         ///< of experts, of which `top_groups` are chosen from; 0: no groups
  std::int64_t top_groups = 0;
  /// Width that routed experts read and write, between projections down to it and back (NVIDIA 2025, Nemotron 3,
  /// LatentMoE); 0: the hidden width.
  std::int64_t latent = 0;
};

/// Rotary positions stretched: Chen et al. 2023 (linear), Llama 3.1, Peng et al. 2023 (YaRN). What a kind has no use
/// for, or a file does not state, is 0.
struct RopeScaling {
  RopeStretch kind = RopeStretch::none;
  double factor = 0.0;
  std::int64_t original_positions = 0;
  double low_freq = 0.0, high_freq = 0.0;   ///< llama3
  double beta_fast = 0.0, beta_slow = 0.0;  ///< yarn
  double mscale = 0.0, mscale_all = 0.0;    ///< yarn
};

/// Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1). The cache holds kv_rank + rope_dim a
/// token.
struct Mla {
  std::int64_t q_rank = 0;  ///< 0: queries are not compressed
  std::int64_t kv_rank = 1;
  std::int64_t nope_dim = 1;
  std::int64_t rope_dim = 1;
  std::int64_t value_dim = 1;
  std::int64_t index_heads = 0;  ///< sparse indexer (DeepSeek-V3.2): heads and width of its own key cache
  std::int64_t index_dim = 0;
};

/// A recurrent mixer: Mamba (Gu and Dao 2023), Mamba-2 (Dao and Gu 2024), gated delta-net (Yang et al. 2024) or Kimi
/// delta attention (Kimi Team 2025). It carries a state of constant size a sequence instead of a cache that grows.
struct Recurrent {
  std::int64_t heads = 1;     ///< value heads; Mamba: 1
  std::int64_t head_dim = 1;  ///< value width of a head; Mamba: the inner width
  std::int64_t groups = 1;    ///< of B and C (Mamba-2); key heads (delta-net, KDA)
  std::int64_t state = 1;     ///< state width; key width of a head (delta-net, KDA)
  std::int64_t conv_kernel = 4;
  std::int64_t step_rank = 0;    ///< Mamba's dt_rank
  std::int64_t gate_rank = 0;    ///< KDA: width between the two matrices of its decay, and of its output gate
  bool inner_norms = false;      ///< Mamba: a norm each on dt, B and C (Jamba)
  std::int64_t chunk = 0;        ///< tokens that its kernels take at once; 0: as their libraries do
  std::int64_t state_bytes = 2;  ///< of an element of the state that is kept between tokens of a served sequence
  [[nodiscard]] std::int64_t inner() const noexcept { return heads * head_dim; }
};

/// One layer's kind. Widths that all layers share (hidden, MoE, MLA, recurrent sizes) stay with the architecture.
struct Block {
  Mixer mixer = Mixer::attention;
  FeedForward feed_forward = FeedForward::dense;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;   ///< of queries and keys
  std::int64_t value_dim = 0;  ///< of values; 0: head_dim
  std::int64_t window = 0;     ///< tokens an attention layer looks back; 0: all
  std::int64_t ffn_hidden = 1;
  bool shared_kv = false;  ///< values are made from the keys' projection (Gemma 4's global layers)
  [[nodiscard]] std::int64_t values() const noexcept { return value_dim > 0 ? value_dim : head_dim; }
  friend bool operator==(const Block&, const Block&) = default;
};

/// Layers that differ from the usual block.
struct LayerVariant {
  std::vector<std::int64_t> layers;  ///< from 0
  Block block;
};

/// The front of a vision transformer (Dosovitskiy et al. 2021): pixels to tokens.
struct Patches {
  std::int64_t image = 224;  ///< pixels a side
  std::int64_t patch = 16;
  std::int64_t channels = 3;
  std::int64_t classes = 0;  ///< width of a classifier head; 0: none
  bool class_token = true;
  bool bias = true;  ///< of the projection
  /// Of one image: (image / patch)^2, and the class token.
  [[nodiscard]] std::int64_t tokens() const noexcept {
    const std::int64_t side = image / patch;
    return side * side + (class_token ? 1 : 0);
  }
};

/// What the details of a network that a launch must say may be, whatever file states them.
struct DetailRanges {
  Range<double> norm_eps{1e-15, 0.1};
  Range<double> factor{1e-6, 1e6};  ///< of stretched positions, and of routed experts
  Range<double> rope_share{1e-3, 1.0};
  Range<std::int64_t> rope_base{1, std::int64_t{1} << 40};
};
inline constexpr DetailRanges detail_ranges;

struct Architecture {
  std::string id;
  std::string name;
  std::vector<std::string> aliases;
  std::string family;
  std::string source;
  std::string notes;
  ArchitectureKind kind = ArchitectureKind::decoder;
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  // The usual block
  Mixer mixer = Mixer::attention;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_dim = 1;
  std::int64_t value_dim = 0;               ///< width of a value; 0: head_dim
  std::optional<FeedForward> feed_forward;  ///< as the table [moe] says when it is not said
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  std::int64_t window = 0;      ///< sliding window in tokens; 0: none
  std::int64_t full_every = 0;  ///< with a window: every n-th layer looks at everything; 0: none does
  std::optional<Mla> mla;
  std::optional<Recurrent> recurrent;
  std::optional<Moe> moe;
  std::vector<LayerVariant> variants;
  // Ends
  std::int64_t vocab = 1;
  bool tied_embeddings = false;
  std::int64_t learned_positions = 0;
  std::int64_t token_types = 0;
  std::int64_t embedding_width = 0;  ///< of the table when it is projected to `hidden` (OPT-350m); 0: hidden
  std::optional<Patches> patches;    ///< vision: replaces the token table
  bool pooler = false;               ///< BERT: h^2 + h behind the first token
  bool mlm_head = false;             ///< BERT: h^2 + h, a norm and a bias per word in front of the tied table
  bool head_bias = false;
  std::int64_t mtp_layers = 0;     ///< multi-token prediction modules; outside the published count
  std::optional<Block> mtp_block;  ///< of each; as the last layer where it is not said
  bool mtp_shared = false;         ///< the modules run one after another on the same weights
  // Small parts
  bool biases = false;                   ///< on every matrix
  std::optional<bool> attention_biases;  ///< on query, key and value; as `biases` when it is not said
  std::optional<bool> output_bias;       ///< on the attention's output projection; as `biases` when it is not said
  QkNorm qk_norm = QkNorm::none;
  bool output_gate = false;  ///< the query projection also makes a gate of its own width (Qwen3-Next)
  bool sinks = false;        ///< one learned logit a head (gpt-oss)
  std::int64_t norms_per_layer = 2;
  bool embedding_norm = false;
  bool final_norm = true;
  Norm norm = Norm::rmsnorm;
  bool norm_biases = true;  ///< of layernorm
  std::int64_t max_seq_len = 0;
  // What no byte, product or second hangs on, but a launch that leaves it out trains another network. 0 or blank: the
  // model's file does not state it.
  double norm_eps = 0.0;
  std::optional<Activation> activation;
  Positions positions = Positions::rope;
  std::int64_t rope_base = 0;
  std::int64_t rope_base_local = 0;  ///< of layers with a window, where it is another
  double rope_share = 1.0;           ///< of a head's width that turns
  RopeScaling rope_scaling;
  double published_parameters = 0.0;  ///< 0: none published
  double published_active = 0.0;
  std::string parameters_source;
  std::optional<WeightFormat> weights;  ///< of a quantised checkpoint
  /// The published fp8 checkpoint has a scale for each block of 128 x 128 weights, so that engines scale activations by
  /// groups of 128 while they serve; false: one scale a matrix.
  bool fp8_blocks = false;

  /// The kind of every layer, first to last.
  [[nodiscard]] std::vector<Block> blocks() const;
  /// The kind of a prediction module's layer.
  [[nodiscard]] Block prediction_block() const;
  /// Prediction modules whose weights are held: one of shared ones.
  [[nodiscard]] std::int64_t mtp_weights() const noexcept {
    return mtp_shared && mtp_layers > 0 ? std::int64_t{1} : mtp_layers;
  }
};

/// The distinct blocks of an architecture with how many layers are of each, in order of first appearance.
struct CountedBlock {
  Block block;
  std::int64_t layers = 0;
};
[[nodiscard]] std::vector<CountedBlock> distinct_blocks(const Architecture& arch);

/// Reads a preset or an inline `[model]` table; every problem goes to `diagnostics`, heads against kv_heads included.
[[nodiscard]] Architecture read_architecture(ConfigTable root);

}  // namespace headroom
