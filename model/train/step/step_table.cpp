// SPDX-License-Identifier: Apache-2.0
// What a search shares out among the strategies that price a layer alike: products, layers, parameters and groups.
#include <headroom/core/real.hpp>
#include <headroom/model/layers/layer_kernels.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_table.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headroom {

std::shared_ptr<const StepModel::RankProducts> StepModel::products_of(const LayerKey& k) const {
  const std::array cached{k.micro_batch, k.cp, k.tp, k.ep, k.etp};
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = products_.find(cached); found != products_.end()) {
      return found->second;
    }
  }
  auto products = std::make_shared<RankProducts>();
  products->layers.reserve(kinds_.size());
  for (const Kind& kind : kinds_) {
    products->layers.push_back(pricer_.products(kind.block, k));
  }
  products->head = pricer_.head(k);
  products->head.product *= heads_;
  products->head.loss *= heads_;
  if (on(Term::head)) {
    products->head.product += (heads_ - 1.0) * pricer_.prediction(k);
  }
  constexpr std::size_t most_kept = 4096;  // of some kilobytes each where a network has many kinds of layers
  const std::lock_guard lock{mutex_};
  if (products_.size() >= most_kept) {
    products_.clear();
  }
  products_.emplace(cached, products);
  return products;
}

/// Of several dispatchers the one with which a layer takes least.
LayerTimes StepModel::priced_mean(const LayerKey& k, const RankProducts& products) const {
  const StepRecipe& r = pricer_.recipe();
  const ExpertDispatcher own = r.experts.dispatcher;
  std::vector<LayerTimes> layers;
  layers.reserve(kinds_.size());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    layers.push_back(pricer_.layer(kinds_[i].block, k, *groups_, own, products.layers[i]));
  }
  const auto with = [&](ExpertDispatcher dispatcher) {
    LayerTimes mean;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const Kind& kind = kinds_[i];
      const bool other = dispatcher != own && kind.block.feed_forward == FeedForward::moe;
      mean.add(other ? pricer_.layer(kind.block, k, *groups_, dispatcher, products.layers[i]) : layers[i],
               kind.layers / layers_);
    }
    mean.dispatcher = dispatcher;
    return mean;
  };
  const auto takes = [](const LayerTimes& l) { return l.total() - l.pair_gain(false); };
  LayerTimes best = with(own);
  for (const ExpertDispatcher dispatcher : r.dispatchers) {
    if (k.ep <= 1 || dispatcher == own) {
      continue;
    }
    if (const LayerTimes other = with(dispatcher); takes(other) < takes(best)) {
      best = other;
    }
  }
  return best;
}

LayerTimes StepModel::mean_layer(const LayerKey& k, const RankGroups& ranks, const RankProducts& products) const {
  const CacheKey cached{k.tp,
                        k.cp,
                        k.ep,
                        k.etp,
                        k.micro_batch,
                        k.sequence_parallel ? 1 : 0,
                        static_cast<std::int64_t>(k.recompute),
                        static_cast<std::int64_t>(k.cp_form),
                        k.cuda_graphs ? 1 : 0,
                        k.overlap_experts ? 1 : 0,
                        k.parts.bits(),
                        ranks.tensor.stride,
                        ranks.context.stride,
                        ranks.experts.stride};
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = cache_.find(cached); found != cache_.end()) {
      return found->second;
    }
  }
  const LayerTimes mean = priced_mean(k, products);
  constexpr std::size_t most_kept = 65'536;  // of a few hundred bytes each: searches see millions
  const std::lock_guard lock{mutex_};
  if (cache_.size() >= most_kept) {
    cache_.clear();
  }
  cache_.emplace(cached, mean);
  return mean;
}

void StepModel::add_parameters(const LayerKey& k, StepTable& table) const noexcept {
  const StepRecipe& r = pricer_.recipe();
  const bool full = r.options.method == Method::full;
  RankParameters& p = table.of_layer;
  for (const Kind& kind : kinds_) {
    const double weight = kind.held / layers_;
    const BlockParameters& b = kind.parameters;
    const double dense = (b.mixer + b.dense_ffn + b.shared_experts) / k.tp + b.mixer_replicated + b.norms + b.router;
    const double experts = b.experts / (static_cast<double>(k.ep) * k.etp);
    p.dense += weight * dense;
    p.experts += weight * experts;
    p.trained_dense += weight * (full ? dense : kind.adapters.dense);
    p.trained_experts += weight * (full ? experts : kind.adapters.experts / k.ep);
  }
  table.embedding = embedding_ / k.tp;
  table.head_parameters = head_ / k.tp;
}

void StepModel::set_groups(const LayerKey& k, const RankGroups& ranks, StepTable& table) const {
  const std::int64_t expert_group = std::int64_t{k.ep} * k.etp;
  table.data = groups_->find(ranks.data);
  table.stages = groups_->find(ranks.stages);
  // Of an order that the experts' grid does not fit there is no such group, and check() refuses it.
  const bool whole = std::int64_t{k.dp} * k.cp * k.tp % expert_group == 0;
  table.experts = whole ? groups_->find(ranks.expert_data) : nullptr;
  table.shard = table.data;
  if (k.shard_ranks > 0) {
    const auto shares = shard_groups(ranks.data, k.shard_ranks);
    table.shard = shares ? groups_->find(shares->shard) : nullptr;
    table.replicas = shares ? groups_->find(shares->replicas) : nullptr;
  }
}

StepTable StepModel::tabulate(const LayerKey& key) const {
  StepTable table = tabulate_layers(key);
  regroup(key, table);
  return table;
}

void StepModel::regroup(const LayerKey& key, StepTable& table) const {
  set_groups(key, LayerPricer::groups_of(key, *groups_), table);
}

StepTable StepModel::tabulate_layers(const LayerKey& key) const {
  const StepRecipe& r = pricer_.recipe();
  StepTable table;
  const std::shared_ptr<const RankProducts> products = products_of(key);
  table.layer = mean_layer(key, LayerPricer::groups_of(key, *groups_), *products);
  table.head = products->head;
  table.head.host = pricer_.head_wait(table.head, key);
  add_parameters(key, table);
  if (r.options.optimizer == Optimizer::muon && r.options.method == Method::full) {
    for (const Kind& kind : kinds_) {
      table.newton_schulz += kind.layers / layers_ * pricer_.newton_schulz(kind.block, key);
    }
  }
  if (on(Term::elementwise) && r.options.method == Method::full) {
    table.layer.accumulation =
        Bytes{r.stack.accumulation_bytes * (table.of_layer.dense + table.of_layer.experts)} / pricer_.bandwidth();
  }
  const double tokens = real(key.micro_batch) * r.seq_len / key.cp;
  const double shared = r.stack.full_tensor_sends ? 1.0 : key.tp;
  table.boundary = row_of(r.precision).compute_bytes * tokens * real(r.architecture.hidden) / shared;
  return table;
}

}  // namespace headroom
