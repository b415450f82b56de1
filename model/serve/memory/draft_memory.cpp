// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/memory/draft_memory.hpp>

#include <algorithm>

namespace headroom {

ServingLayout draft_layout(const DraftPlan& plan, const ServingLayout& served) noexcept {
  return {plan.tp > 0 ? std::min(plan.tp, served.tp) : served.tp, 1, 1};
}

void add_draft(const DraftPlan& plan, const Device& device, Precision kv, CompiledServingMemory& c) {
  const double tokens = plan.queries();
  c.activation_per_sequence = tokens * c.activation_per_sequence;
  for (ServingStage& stage : c.stages) {
    stage.state_per_sequence = tokens * stage.state_per_sequence;
  }
  if (plan.model) {
    add_model(
        compile_serving_memory(*plan.model, device, c.engine, draft_layout(plan, c.layout), plan.weights, kv).stages[0],
        c);
  }
}

}  // namespace headroom
