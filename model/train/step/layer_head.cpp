// SPDX-License-Identifier: Apache-2.0
// The last stage's head, loss and prediction modules.
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <cmath>

namespace headroom {

HeadTimes LayerPricer::head(const LayerKey& key) const noexcept {
  const StepRecipe& r = recipe_;
  if (!on(Term::head)) {
    return {};
  }
  const double tokens = real(key.micro_batch) * r.seq_len / key.cp;
  // The fullest rank of a vocabulary that tp does not divide (torch.chunk, by which DTensor shards).
  const double columns =
      std::ceil(real(padded_vocabulary(r.architecture.vocab, r.options.vocab_multiple, key.tp)) / key.tp);
  const double hidden = real(r.architecture.hidden);
  HeadTimes t;
  t.product = kernels_.wide().time({tokens, columns, hidden}) + kernels_.wide().time({tokens, hidden, columns});
  if (r.options.method == Method::full) {
    t.product += kernels_.wide_gradient().time({columns, hidden, tokens});
  }
  t.product *= kernels_.wide_factor() * kernels_.unaligned_rows({tokens, columns, hidden});
  t.loss = Bytes{r.physics.logit_bytes * tokens * columns} / bandwidth();
  return t;
}

Seconds LayerPricer::head_wait(const HeadTimes& head, const LayerKey& key) const noexcept {
  if (!on(Term::head) || !on(Term::host)) {
    return {};
  }
  const StepRecipe& r = recipe_;
  const bool captured = key.cuda_graphs || launch_of(key) == ExpertLaunch::full_graphs;
  const Seconds launches = captured ? r.physics.graph_nodes * r.physics.graph_node
                                    : (1.0 + r.physics.tp_host * std::log2(real(key.tp))) * r.stack.host;
  return wait_for_host(head.product + head.loss, 3.0 * launches);
}

Seconds LayerPricer::prediction(const LayerKey& key) const noexcept {
  const double tokens = real(key.micro_batch) * recipe_.seq_len / key.cp;
  const double hidden = real(recipe_.architecture.hidden);
  const ProductTimes p = wide_modules_ ? kernels_.wide_product(tokens, hidden, 2.0 * hidden, 1.0, 1.0)
                                       : kernels_.product(tokens, hidden, 2.0 * hidden, 1.0, 1.0);
  return p.forward + p.data_gradient + p.weight_gradient + p.casts_forward + p.casts_backward;
}

}  // namespace headroom
