// SPDX-License-Identifier: Apache-2.0
// Who proposes the tokens of a speculative step (Leviathan et al. 2023), and what that holds of the memory.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headroom {

struct DraftPlan {
  Speculation speculation;                             ///< tokens of a step, and how many of them are accepted
  double acceptance_low = 0.0, acceptance_high = 0.0;  ///< where nobody stated the acceptance; 0: stated
  std::string method;                                  ///< as engines name it: "draft_model", "ngram"; empty: not said
  std::shared_ptr<const Architecture> model;           ///< that drafts on the replica's GPUs; null: there is none
  std::int64_t tp = 0;                                 ///< its tensor ranks; 0: as many as the served model's
  Precision weights = Precision::bf16;                 ///< its own; its cache is held as the served model's is
  Seconds time{};                                      ///< without a model: of all drafting of a step, stated
  bool heads = false;                                  ///< `model` is a head of the served model, made by eagle_head()
  /// Tokens of a sequence that a step verifies.
  [[nodiscard]] double queries() const noexcept { return static_cast<double>(1 + speculation.draft); }
};

/// What EAGLE (Li et al. 2024, section 3.1) and EAGLE-3 (Li et al. 2025, section 3.1) train to draft for a model: one
/// dense decoder layer of its width behind a matrix that fuses two vectors of `hidden` into one, with EAGLE-3 three,
/// whose attention then reads two side by side; embedding and head share a table of the whole vocabulary, which
/// published heads may cut to its most frequent tokens. The fusing matrices are counted as width of the MLP, in steps
/// of 256, for their bytes and FLOP are a draft's whole time. nullopt: the model's usual layers are recurrent.
[[nodiscard]] std::optional<Architecture> eagle_head(const Architecture& served, bool third);

/// The draft's ranks in each attention group of a replica. It is no pipeline, and its experts lie on its tensor ranks.
[[nodiscard]] ServingLayout draft_layout(const DraftPlan& plan, const ServingLayout& served) noexcept;

/// Adds the draft to what a replica keeps on a GPU, of `compiled`'s engine and layout: weights and cache of a draft
/// model; the logits of every token that is verified; and of recurrent layers a state for each token, to go back to
/// where the rest is rejected. Precondition: check() of its layout is feasible; with a model no pipeline.
void add_draft(const DraftPlan& plan, const Device& device, Precision kv, CompiledServingMemory& compiled);

}  // namespace headroom
