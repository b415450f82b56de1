// SPDX-License-Identifier: Apache-2.0
// What proposing the tokens of a speculative step (Leviathan et al. 2023) takes of the step.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/replica/replica.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Drafting on one replica. Asked from any thread, without heap.
class Drafting {
 public:
  /// `stack` and `layout` are the served model's, `clock` is of what multiplies under a power cap. ConfigError where no
  /// measured kernel or link serves the draft model.
  Drafting(const ModelData& data,
           const DraftPlan& plan,
           const Device& device,
           const Node* node,
           const IterationStack& stack,
           const IterationPhysics& physics,
           const ServingLayout& layout,
           Precision kv,
           double clock);

  /// Drafting by modules or heads of the served model, which take `share` of its own iteration of decodes, and nothing
  /// of prompts that is counted. `queries`: tokens that a step verifies of a sequence, 1 + drafts of a chain and more
  /// of a tree. `served` must outlive this.
  Drafting(const Replica& served,
           const Speculation& speculation,
           double queries,
           double share,
           const IterationStack& stack,
           const IterationPhysics& physics);

  [[nodiscard]] const Speculation& speculation() const noexcept { return speculation_; }
  [[nodiscard]] std::int64_t queries() const noexcept { return queries_; }
  /// Whether a model drafts, which needs the prompts too.
  [[nodiscard]] bool has_model() const noexcept { return model_.has_value(); }
  /// Of the draft model; empty without.
  [[nodiscard]] const std::vector<std::string>& sources() const noexcept;

  /// Of a step of so many sequences: `draft` decode iterations of the draft model one after the other, at the same keys
  /// (Leviathan et al. 2023, algorithm 1), or the stated time. Its kernels and the gaps between them count; the host
  /// schedules once for all of them, and where the engine does not overlap drafts host_seconds() are among them.
  [[nodiscard]] double decode_seconds(double sequences, double keys) const noexcept;
  /// Of decode_seconds() what the host takes where the engine does not overlap drafts.
  [[nodiscard]] double host_seconds(double sequences) const noexcept;
  /// The mix's prompts through the draft model, which needs their cache too, as a pass of its own. Zero without a
  /// model.
  [[nodiscard]] IterationTerms prompt_terms(const IterationMix& mix) const noexcept;
  /// Both.
  [[nodiscard]] double seconds(const IterationMix& mix) const noexcept;

 private:
  [[nodiscard]] IterationTerms terms(const IterationMix& mix) const noexcept;

  Speculation speculation_;
  std::int64_t queries_ = 1;
  double time_ = 0.0;
  const Replica* served_ = nullptr;  ///< of modules that the served model has itself
  double share_ = 0.0;               ///< of an iteration of its decodes that they take
  double groups_ = 1.0;
  double clock_ = 1.0;
  std::optional<Replica> model_;
  IterationStack stack_;
  IterationPhysics physics_;
};

}  // namespace headroom
