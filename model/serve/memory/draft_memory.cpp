// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/memory/draft_memory.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

std::optional<Architecture> eagle_head(const Architecture& served, bool third) {
  if (is_recurrent(served.mixer) || served.mixer == Mixer::none) {
    return std::nullopt;
  }
  constexpr double step = 256.0;
  Architecture head = served;
  head.id = std::string{third ? "the EAGLE-3" : "the EAGLE"} + " head of " + served.id;
  head.name = head.id;
  head.aliases.clear();
  head.layers = 1;
  head.variants.clear();
  head.window = 0;
  head.full_every = 0;
  head.feed_forward = FeedForward::dense;
  head.moe.reset();
  head.recurrent.reset();
  head.weights.reset();
  head.mtp_layers = 0;
  head.tied_embeddings = true;
  head.published_parameters = 0.0;
  head.published_active = 0.0;
  const auto hidden = static_cast<double>(served.hidden);
  const auto value_dim = static_cast<double>(served.value_dim > 0 ? served.value_dim : served.head_dim);
  const double read = static_cast<double>(served.heads + served.kv_heads) * static_cast<double>(served.head_dim) +
                      static_cast<double>(served.kv_heads) * value_dim;
  const double fusing = third ? hidden * (3.0 * hidden + read) : hidden * 2.0 * hidden;
  const double of_width = (served.gated_mlp ? 3.0 : 2.0) * hidden;
  head.ffn_hidden += static_cast<std::int64_t>(std::ceil(fusing / of_width / step) * step);
  return head;
}

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
