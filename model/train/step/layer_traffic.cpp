// SPDX-License-Identifier: Apache-2.0
// What a rank sends of a layer and a micro-batch over its tensor, context and expert groups.
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/collective.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <cmath>

namespace headroom {
namespace {

/// Passes that send as the forward pass does: it, the backward pass, and one more where whole layers are formed again.
double sending_passes(const LayerKey& key) {
  return key.recompute == Recompute::full ? 3.0 : 2.0;
}

}  // namespace

Bytes LayerPricer::tensor_bytes(const Block& block, const LayerKey& key) const {
  const StepRecipe& r = recipe_;
  double reductions = 0.0;
  for (const LayerOp& op : layer_ops(r.architecture, block, LayerForm::training, key.tp)) {
    reductions += op.kind == LayerOpKind::reduction ? 1.0 : 0.0;
  }
  const double tokens = real(key.micro_batch) * r.seq_len / key.cp;
  const Bytes buffer{element_ * tokens * real(r.architecture.hidden)};
  return sending_passes(key) * reductions * bytes_per_rank(Collective::all_reduce, buffer, key.tp);
}

Bytes LayerPricer::context_bytes(const Block& block, const LayerKey& key) const {
  if (key.cp <= 1) {
    return {};
  }
  const double ranks = key.cp;
  const double tokens = sizes_of(block, key).tokens;
  const double again = sending_passes(key);
  const auto exchanged = [&](double width) {
    return bytes_per_rank(Collective::all_to_all, Bytes{element_ * tokens * width}, key.cp);
  };
  Bytes sent{};
  for (const LayerOp& op : layer_ops(recipe_.architecture, block, LayerForm::training, key.tp)) {
    const double keys = op.kv_heads * op.width;
    if (op.kind == LayerOpKind::scan) {
      sent += again * exchanged(3.0 * op.output + 2.0 * keys);
    } else if (op.kind == LayerOpKind::attention && key.cp_form == CpForm::ulysses) {
      const double copies = ranks * std::ceil(op.kv_heads / ranks) * op.width;
      sent += again * exchanged(op.heads * (op.width + op.value_width) + 2.0 * copies);
    } else if (op.kind == LayerOpKind::attention) {
      // Keys and values pass every other rank once forward; backward with their gradients.
      sent += (again + 1.0) * (ranks - 1.0) * Bytes{2.0 * element_ * tokens * keys};
    }
  }
  return sent;
}

Bytes LayerPricer::expert_bytes(const Block& block,
                                const LayerKey& key,
                                const JobGroups& groups,
                                ExpertDispatcher dispatcher) const {
  Sizes z = sizes_of(block, key);
  z.dispatcher = dispatcher;
  z.ranks = groups_of(key, groups);
  const GroupCollectives* group = groups.find(z.ranks.experts);
  if (group == nullptr || !recipe_.architecture.moe) {
    return {};
  }
  const auto one = [&](double element) {
    const Exchanged sent = exchanged(z, group->view(), element);
    return bytes_per_rank(Collective::dispatch, sent.buffer, group->view().ranks) + sent.inside + sent.outside;
  };
  Bytes sent{};
  for (const LayerOp& op : layer_ops(recipe_.architecture, block, LayerForm::training, key.tp)) {
    if (op.kind == LayerOpKind::exchange) {
      const Bytes back = one(element_);
      sent +=
          sending_passes(key) * 0.5 * ((recipe_.options.experts.narrow_dispatch ? one(narrow_element) : back) + back);
    }
  }
  return sent;
}

}  // namespace headroom
