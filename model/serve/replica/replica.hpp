// SPDX-License-Identifier: Apache-2.0
// What one iteration of one replica computes, moves and sends: its kernels and collectives by the fitted curves, summed
// by kind over all layers. Nothing of an engine's own habits is in here (iteration_stack.hpp).
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/engine/weight_kernels.hpp>
#include <headroom/model/serve/replica/iteration_terms.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// How the numbers of a replica are held. `activations` is what products multiply in: 16 bit of weight-only formats.
struct ReplicaFormats {
  Precision weights = Precision::bf16;
  Precision activations = Precision::bf16;
  Precision cache = Precision::bf16;
  WeightKernels kernels = WeightKernels::fused;  ///< of weight-only products
};

/// Whether a layout's tokens meet their experts over NICs: attention-DP over the ranks of several NVLink domains.
[[nodiscard]] bool experts_over_nics(const Device& device, const Node* node, const ServingLayout& layout) noexcept;

/// One replica, compiled: curves chosen, layers counted. Asked from any thread, without heap.
class Replica {
 public:
  /// `node` is what joins the ranks; nullptr takes the SKU's own link. ConfigError where no curve or link serves.
  /// Precondition: check() of the layout is feasible.
  Replica(const ModelData& data,
          const Architecture& architecture,
          const Device& device,
          const Node* node,
          const EngineKernels& kernels,
          const ServingLayout& layout,
          const ReplicaFormats& formats);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;
  Replica(Replica&&) noexcept;
  Replica& operator=(Replica&&) noexcept;

  /// Per layer and rank, for m tokens of the step and m' = m / groups of an attention rank:
  ///   products           the GEMMs of m' tokens (gemm.hpp), narrow formats at the launch of 16-bit ones
  ///   experts            the fused layer on m tokens of the expert group (grouped_gemm.hpp), redundant experts among
  ///                      those that they meet; with balanced placement no rank is hotter than the others
  ///   decode attention   b / groups sequences over `keys` keys (attention.hpp), a draft's tokens with its sequence;
  ///                      latents count once for keys and values, recurrent states are read, written and kept after
  ///                      each token
  ///   prefill attention  chunks / groups sequences
  ///   prompt scans       the unfused kernels of a recurrent mixer over the chunks (scan.hpp), a launch each
  ///   all-reduce         two of 2 m' h bytes over tp (custom_all_reduce.hpp)
  ///   exchange           under attention-DP the tokens to their experts and back (expert_exchange.hpp)
  ///   passes             two norms with their residuals, 8 h m' elements, and the activation, 3 f m' / tp
  ///   head               h x V / tp of the rows that are sampled, their gather, two passes over the logits, and the
  ///                      bytes that filtering them by top-p or top-k moves
  /// summed over all layers of all stages. `gaps` and `host` stay zero: they are the engine's.
  [[nodiscard]] IterationTerms terms(const IterationMix& mix) const noexcept;
  /// Of terms(mix) those of attention and recurrent states alone; every other term is zero.
  [[nodiscard]] IterationTerms attention(const IterationMix& mix) const noexcept;
  /// Whether halves of the batch take turns: the layout says so, tokens are exchanged, and each half has one a rank.
  /// Then the terms are those of both halves, exchanges in full: what they hide beside is the engine's.
  [[nodiscard]] bool takes_turns(const IterationMix& mix) const noexcept;

  [[nodiscard]] double layers() const noexcept;
  [[nodiscard]] double expert_layers() const noexcept;
  [[nodiscard]] double delta_layers() const noexcept;  ///< layers of gated delta rules
  /// Kernels that a step with prompts launches one by one, over all layers (prompt_launches.hpp).
  [[nodiscard]] double prompt_kernels() const noexcept;
  [[nodiscard]] bool weight_only()
      const noexcept;  ///< products by curves of wide kernels, with narrow weights that are unpacked on the way
  [[nodiscard]] bool narrow_experts_wide() const noexcept;  ///< the same of the experts
  /// How experts in mxfp4 multiply: not at all, unpacked to 16 bit, or on units for 4-bit floats.
  enum class Mxfp4Experts : std::uint8_t { none, unpacked, native };
  [[nodiscard]] Mxfp4Experts mxfp4_experts() const noexcept;
  [[nodiscard]] bool nvfp4() const noexcept;             ///< products in nvfp4
  [[nodiscard]] bool block_experts() const noexcept;     ///< experts in fp8 with a scale for each block of weights
  [[nodiscard]] double indexed_layers() const noexcept;  ///< layers with a sparse indexer
  /// Whether the exchange of an iteration, with prompts or without, is by measured kernels of dispatch and combine.
  [[nodiscard]] bool dispatches(bool prompts) const noexcept;
  [[nodiscard]] const ServingLayout& layout() const noexcept;
  /// What each kind of term stands on.
  [[nodiscard]] const std::vector<std::string>& sources() const noexcept;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace headroom
