// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

Drafting::Drafting(const ModelData& data,
                   const DraftPlan& plan,
                   const Device& device,
                   const Node* node,
                   const IterationStack& stack,
                   const IterationPhysics& physics,
                   const ServingLayout& layout,
                   Precision kv,
                   double clock)
    : speculation_{plan.speculation},
      queries_{1 + plan.speculation.draft},
      time_{plan.time.raw()},
      groups_{real(layout.attention_groups())},
      clock_{clock},
      stack_{stack},
      physics_{physics} {
  stack_.step = stack_.sequence = Seconds{};
  if (plan.model) {
    const ReplicaFormats formats{plan.weights, activation_precision(device, plan.weights), kv};
    const EngineKernels kernels{stack.curves, {Routing::power_law, physics.routing}, {}, {}};
    model_.emplace(data, *plan.model, device, node, kernels, draft_layout(plan, layout), formats);
  }
}

Drafting::Drafting(const Replica& served,
                   const Speculation& speculation,
                   double queries,
                   double share,
                   const IterationStack& stack,
                   const IterationPhysics& physics)
    : speculation_{speculation},
      queries_{std::llround(queries)},
      served_{&served},
      share_{share},
      groups_{real(served.layout().attention_groups())},
      stack_{stack},
      physics_{physics} {
  stack_.step = stack_.sequence = Seconds{};
}

const std::vector<std::string>& Drafting::sources() const noexcept {
  static const std::vector<std::string> none;
  return model_ ? model_->sources() : none;
}

IterationTerms Drafting::terms(const IterationMix& mix) const noexcept {
  return engine_terms(*model_, mix, model_->terms(mix), stack_, physics_);
}

double Drafting::host_seconds(double sequences) const noexcept {
  return speculation_.overlapped ? 0.0 : drafting_host(stack_, sequences, groups_);
}

double Drafting::decode_seconds(double sequences, double keys) const noexcept {
  IterationMix mix;
  mix.keys = keys;
  const double host = host_seconds(sequences);
  if (served_ != nullptr) {
    mix.decodes = sequences;
    return host + share_ * engine_terms(*served_, mix, served_->terms(mix), stack_, physics_).total();
  }
  if (!model_) {
    return host + time_;
  }
  mix.decodes = std::max(1.0, sequences / groups_);
  return host + real(speculation_.draft) * terms(mix).total();
}

IterationTerms Drafting::prompt_terms(const IterationMix& mix) const noexcept {
  if (!model_) {
    return {};
  }
  IterationMix prompts = mix;
  prompts.decodes = prompts.keys = prompts.ending = 0.0;  // the served model gives the first token
  prompts.chunks = std::max(1.0, mix.chunks / groups_);
  IterationTerms t = terms(prompts);
  for (const IterationTerm multiplies :
       {IterationTerm::products, IterationTerm::experts, IterationTerm::prefill_attention}) {
    t[multiplies] /= clock_;
  }
  return t;
}

double Drafting::seconds(const IterationMix& mix) const noexcept {
  return (mix.decodes > 0.0 ? decode_seconds(mix.decodes, mix.keys) : 0.0) +
         (mix.chunks > 0.0 ? prompt_terms(mix).total() : 0.0);
}

}  // namespace headroom
