// SPDX-License-Identifier: Apache-2.0
// The ops of one layer, first to last: the one list that parameters, memory, training steps, serving and rooflines
// walk. Shapes and weights only; what an op takes is said by those who walk.
#pragma once

#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom {

enum class LayerOpKind : std::uint8_t {
  product,     ///< activations of `rows` a token and width k by weights of k x n
  experts,     ///< grouped products of routed experts
  attention,   ///< scores and weighted values
  scan,        ///< a recurrent mixer, its matrices included
  activation,  ///< the nonlinearity between the products of a feed-forward
  pass,        ///< rows of the hidden state through memory: norms, residuals, positions
  reduction,   ///< over tensor ranks
  exchange,    ///< of tokens with the ranks of their experts
};

/// What an op is part of, and so which ranks share its weights: tensor ranks those of the mixer, of a dense
/// feed-forward and of shared experts; nobody the router's; expert ranks the experts, expert tensor ranks each of them.
enum class LayerPart : std::uint8_t { mixer, dense, router, experts, shared };

/// Tokens that an op runs on when prompts and decoding sequences are served together.
enum class LayerTokens : std::uint8_t { all, decodes, prompts };

/// How the matrices of a layer are laid out.
enum class LayerForm : std::uint8_t {
  training,  ///< latent projections one by one; values as wide as keys in plain products, no output gate
  serving,   ///< what one input meets joined to one product; decoding absorbs the up-projections of latents
};

/// Elements of an op's weights in the whole layer.
struct LayerWeights {
  double shared = 0.0;     ///< matrices that the ranks of the part share out
  double whole = 0.0;      ///< matrices that each of them holds
  double small = 0.0;      ///< biases, norms, gates
  double key_value = 0.0;  ///< of `shared`, those of key and value heads: a rank holds one head at least
};

/// One op on one of tp ranks. Sizes that a kind does not have stay as they are.
struct LayerOp {
  std::string_view name;
  LayerOpKind kind = LayerOpKind::pass;
  LayerPart part = LayerPart::mixer;
  LayerTokens tokens = LayerTokens::all;
  LayerWeights weights;
  // Product
  double n = 0.0, k = 0.0;
  double rows = 1.0;         ///< for each token
  double pieces = 1.0;       ///< matrices side by side in it
  bool from_latent = false;  ///< it reads a compressed input
  // Attention; a scan has one head of its inner width
  double heads = 0.0, kv_heads = 0.0;
  double width = 0.0;        ///< of a head's queries and keys; of one expert's inner side; of a row of passes
  double value_width = 0.0;  ///< of a head's values
  double output = 0.0;       ///< of all heads, as the projection behind reads it
  double window = 0.0;       ///< keys that a token sees at most; 0: all
  double latent = 0.0;       ///< width of compressed queries, keys and values; 0: none are compressed
  double rope = 0.0;         ///< width of the rotary key that all heads share
  double selected = 0.0;     ///< keys that a sparse indexer keeps; 0: no indexer
  double indexed = 0.0;      ///< elements of the indexer's own cache over those that attention reads, a token
  double cached = 0.0;       ///< elements that a token adds to the cache of the whole layer
  double state = 0.0;        ///< elements of a scan's constant state of one sequence, of the whole layer
  // Experts
  double count = 0.0, top_k = 0.0;
  // Activation and pass: how often the rows are read or written
  double forward = 0.0, backward = 0.0;
  double stored = 0.0;  ///< elements a token that it writes to the cache
};

/// The list, without heap.
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

/// The ops of a layer as one of `tp` ranks runs them. Latent attention: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
/// Fewer key-value heads than ranks are replicated.
[[nodiscard]] LayerOps layer_ops(const Architecture& architecture,
                                 const Block& block,
                                 LayerForm form,
                                 double tp = 1.0) noexcept;

}  // namespace headroom
