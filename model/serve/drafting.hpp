// SPDX-License-Identifier: Apache-2.0
// Who proposes the tokens of a speculative step (Leviathan et al. 2023), what that takes of the step, and what it holds
// of the memory.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog.hpp>
#include <headroom/model/precision.hpp>
#include <headroom/model/serve/iteration_stack.hpp>
#include <headroom/model/serve/layout.hpp>
#include <headroom/model/serve/memory.hpp>
#include <headroom/model/serve/replica.hpp>
#include <headroom/model/serve/simulation/scheduler.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct DraftPlan {
  Speculation speculation;                    ///< tokens of a step, and how many of them are accepted
  std::string method;                         ///< as engines name it: "draft_model", "ngram"; empty: not said
  std::shared_ptr<const Architecture> model;  ///< that drafts on the replica's GPUs; null: there is none
  std::int64_t tp = 0;                        ///< its tensor ranks; 0: as many as the served model's
  Precision weights = Precision::bf16;        ///< its own; its cache is held as the served model's is
  Seconds time{};                             ///< without a model: of all drafting of a step, stated
  /// Tokens of a sequence that a step verifies.
  [[nodiscard]] double queries() const noexcept { return static_cast<double>(1 + speculation.draft); }
};

/// The draft's ranks in each attention group of a replica. It is no pipeline, and its experts lie on its tensor ranks.
[[nodiscard]] ServingLayout draft_layout(const DraftPlan& plan, const ServingLayout& served) noexcept;

/// Adds the draft to what a replica keeps on a GPU, of `compiled`'s engine and layout: weights and cache of a draft
/// model; the logits of every token that is verified; and of recurrent layers a state for each token, to go back to
/// where the rest is rejected. Precondition: check() of its layout is feasible; with a model no pipeline.
void add_draft(const DraftPlan& plan, const Device& device, Precision kv, CompiledServingMemory& compiled);

/// Drafting on one replica. Asked from any thread, without heap.
class Drafting {
 public:
  /// `stack` and `layout` are the served model's, `clock` is of what multiplies under a power cap. ConfigError where no
  /// measured kernel or link serves the draft model.
  Drafting(const DraftPlan& plan,
           const Device& device,
           const Node* node,
           const IterationStack& stack,
           const IterationPhysics& physics,
           const ServingLayout& layout,
           Precision kv,
           double clock);

  [[nodiscard]] const Speculation& speculation() const noexcept { return speculation_; }
  [[nodiscard]] std::int64_t queries() const noexcept { return 1 + speculation_.draft; }
  /// Whether a model drafts, which needs the prompts too.
  [[nodiscard]] bool has_model() const noexcept { return model_.has_value(); }
  /// Of the draft model; empty without.
  [[nodiscard]] const std::vector<std::string>& sources() const noexcept;

  /// Of a step of so many sequences: `draft` decode iterations of the draft model one after the other, at the same keys
  /// (Leviathan et al. 2023, algorithm 1), or the stated time. Its kernels and the gaps between them count; the host
  /// schedules once for all of them.
  [[nodiscard]] double decode_seconds(double sequences, double keys) const noexcept;
  /// The mix's prompts through the draft model, which needs their cache too, as a pass of its own. Zero without a
  /// model.
  [[nodiscard]] IterationTerms prompt_terms(const IterationMix& mix) const noexcept;
  /// Both.
  [[nodiscard]] double seconds(const IterationMix& mix) const noexcept;

 private:
  [[nodiscard]] IterationTerms terms(const IterationMix& mix) const noexcept;

  Speculation speculation_;
  double time_ = 0.0;
  double groups_ = 1.0;
  double clock_ = 1.0;
  std::optional<Replica> model_;
  IterationStack stack_;
  IterationPhysics physics_;
};

}  // namespace headroom
