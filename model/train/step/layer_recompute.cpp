// SPDX-License-Identifier: Apache-2.0
// What the backward pass of a layer forms again, and what a router does to its scores.
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

namespace headroom {

/// Of the 34 launches that are counted of an unfused router (docs/train-model.md) 244 bytes a score forward, the
/// selections' sixteen looks at each score among them, and 100 backward.
void LayerPricer::add_scores(LayerTimes& t, const LayerOp& router, double tokens) const noexcept {
  constexpr double forward = 7.0;
  constexpr double backward = 3.0;
  const Seconds byte = Bytes{router_launches() * router.n * tokens} / bandwidth();
  t.forward.elementwise += forward * byte;
  t.backward.elementwise += backward * byte;
}

/// The stated parts once more. A norm reads and writes its width, an up-projection is followed by the rotary pass.
Seconds LayerPricer::parts_again(const LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept {
  const RecomputeParts parts = recomputed_parts(z.key);
  const LayerOp* attention = ops.find(LayerOpKind::attention);
  Seconds again{};
  if (parts.has(RecomputePart::core_attn)) {
    again += t.forward.attention;
  }
  if (parts.has(RecomputePart::layernorm)) {
    const double sigma = z.key.sequence_parallel ? z.t : 1.0;
    again += passes(z.tokens, (8.0 * z.hidden + 4.0 * (attention != nullptr ? attention->latent : 0.0)) / sigma);
  }
  if (parts.has(RecomputePart::mla_up_proj) && attention != nullptr) {
    again += crowding(z.key) * z.products->up + z.products->up_casts;
    again += passes(z.tokens, 4.0 * (attention->heads + 2.0 * attention->kv_heads) * attention->width);
  }
  const LayerOp* experts = ops.find(LayerOpKind::experts);
  if (parts.has(RecomputePart::moe_act) && experts != nullptr) {
    again += passes(expert_rows(*experts, z), activation_width(*experts, z));
  }
  return again;
}

Seconds LayerPricer::not_again(const LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept {
  const StepRecipe& r = recipe_;
  if (r.recompute_end == RecomputeEnd::whole) {
    return {};
  }
  const bool latent = r.architecture.moe && r.architecture.moe->latent > 0;
  Seconds rest =
      on(Term::elementwise) ? passes(z.tokens, 6.0 * z.hidden / (z.key.sequence_parallel ? z.t : 1.0)) : Seconds{};
  if (ops.find(LayerOpKind::experts) != nullptr && !latent) {
    rest += 0.5 * t.forward.ep;
  }
  return rest;
}

void LayerPricer::add_recompute(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept {
  const StepRecipe& r = recipe_;
  if (z.key.recompute == Recompute::full) {
    t.recompute = t.forward.total() - not_again(t, ops, z);
  } else if (z.key.recompute == Recompute::selective && recomputed_parts(z.key).any()) {
    t.recompute = parts_again(t, ops, z);
  } else if (z.key.recompute == Recompute::selective) {
    t.recompute = !r.options.flash_attention ? t.forward.attention
                  : r.selective == SelectiveRecompute::every_second_matmul
                      ? r.stack.selective_recompute * t.forward.total()
                      : Seconds{};
  }
}

}  // namespace headroom
