// SPDX-License-Identifier: Apache-2.0
// The ops of one layer, first to last, with their shapes and weights: the one list from which parameters, memory,
// training steps, serving and rooflines are counted. An op's time, bytes and FLOP are not here.
#pragma once

#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

enum class LayerOpKind : std::uint8_t {
  product,     ///< matrix product: `rows` rows per token, k wide, by weights of k x n
  experts,     ///< grouped products of routed experts
  attention,   ///< scores and weighted values
  scan,        ///< the state of a recurrent mixer: read, updated and written for each token or chunk of tokens
  activation,  ///< the nonlinearity between the products of a feed-forward
  pass,        ///< rows of the hidden state read from and written to memory: norms, residuals, positions
  reduction,   ///< all-reduce over tensor ranks
  exchange,    ///< all-to-all of tokens with the ranks of their experts
};

/// The part of the layer that an op belongs to, which says how its weights are split. Tensor ranks split those of the
/// mixer, of a dense feed-forward and of shared experts. Every rank holds the whole router. Expert ranks hold whole
/// experts; expert tensor ranks split each expert.
enum class LayerPart : std::uint8_t { mixer, dense, router, experts, shared };

/// Tokens of an iteration that an op runs on, where one iteration serves prompts and decoding sequences together.
enum class LayerTokens : std::uint8_t { all, decodes, prompts };

/// How the matrices of a layer are laid out.
enum class LayerForm : std::uint8_t {
  training,  ///< one product for each latent projection; values as wide as keys; no product for an output gate
  serving,   ///< matrices of the same input joined to one product; decoding absorbs the up-projections of latents
};

/// Elements (not bytes) of an op's weights, of the whole layer before it is split; >= 0.
struct LayerWeights {
  double shared = 0.0;     ///< of matrices that the ranks of the op's LayerPart split evenly
  double whole = 0.0;      ///< of matrices of which each of these ranks holds a copy
  double small = 0.0;      ///< of biases, norms and gates
  double key_value = 0.0;  ///< of `shared`, those of key and value heads, of which a rank holds at least one head
};

/// One op on one of tp ranks. Sizes are elements, counts and widths >= 0; those that a kind does not use keep the
/// values below.
struct LayerOp {
  std::string_view name;
  LayerOpKind kind = LayerOpKind::pass;
  LayerPart part = LayerPart::mixer;
  LayerTokens tokens = LayerTokens::all;
  LayerWeights weights;
  // Of a product.
  double n = 0.0, k = 0.0;   ///< columns and rows of the weights
  double rows = 1.0;         ///< rows of the input per token
  double pieces = 1.0;       ///< matrices that are joined side by side in it, >= 1
  bool from_latent = false;  ///< whether it reads a compressed input
  // Of attention. A scan has a state of `width` x `value_width` a head; its key-value heads are groups of B and C (Dao
  // and Gu 2024) or heads of keys, which its heads share.
  double heads = 0.0, kv_heads = 0.0;
  /// Elements of a head's query or key; of an expert's inner side; of a row of a pass; of a reduction of sums the fp32
  /// numbers per token (0: it reduces the hidden state).
  double width = 0.0;
  double value_width = 0.0;  ///< elements of a head's value
  double output = 0.0;       ///< elements per token that the output projection reads, all heads together
  double window = 0.0;       ///< most keys that a token attends to; 0: all before it
  double latent = 0.0;       ///< elements of a compressed query, key and value; 0: none are compressed
  double rope = 0.0;         ///< elements of the rotary key that all heads have in common
  double selected = 0.0;     ///< keys that a sparse indexer selects per token; 0: no indexer
  double indexed = 0.0;      ///< ratio of the indexer's own cache to what attention reads, elements per token
  double cached = 0.0;       ///< elements per token in the KV cache, of the whole layer
  // Of a scan.
  Mixer mixer = Mixer::none;  ///< whose form it has
  double chunk = 0.0;         ///< tokens that its kernels take at once, where the model states them; 0: it does not
  double state = 0.0;         ///< bytes kept per sequence between tokens, of the whole layer
  // Of experts.
  double count = 0.0, top_k = 0.0;  ///< routed experts of the layer, and how many of them a token visits
  double input = 0.0;  ///< elements of a row that an expert reads and writes, or that sums to be reduced are formed of
  // Of an activation or a pass.
  double forward = 0.0, backward = 0.0;  ///< times that a row is read or written in each pass
  bool of_mixer = false;                 ///< a recurrent mixer's own pass, beside norms and residuals
  double stored = 0.0;                   ///< elements per token that are written to the KV cache
};

/// The ops of one layer, at most 24, in the order in which they run.
class LayerOps {
 public:
  LayerOp& add(std::string_view name, LayerOpKind kind, LayerPart part) noexcept;
  [[nodiscard]] const LayerOp* begin() const noexcept { return ops_.data(); }
  [[nodiscard]] const LayerOp* end() const noexcept { return ops_.data() + size_; }
  /// The first of a kind; nullptr: none.
  [[nodiscard]] const LayerOp* find(LayerOpKind kind) const noexcept;

 private:
  std::array<LayerOp, 24> ops_;
  std::size_t size_ = 0;
};

/// The ops of a layer as one of `tp` (>= 1) ranks runs them. Latent attention: DeepSeek-AI 2024 (DeepSeek-V2),
/// section 2.1. Key-value heads fewer than `tp` are replicated, so that each rank holds one.
[[nodiscard]] LayerOps layer_ops(const Architecture& architecture,
                                 const Block& block,
                                 LayerForm form,
                                 double tp = 1.0) noexcept;

}  // namespace headroom
