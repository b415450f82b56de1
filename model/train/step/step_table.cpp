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
#include <utility>
#include <vector>

namespace headroom {

std::shared_ptr<const StepModel::RankProducts> StepModel::products(const LayerKey& k) const {
  const std::array cached{k.micro_batch, k.cp, k.tp, k.ep, k.etp};
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = products_.find(cached); found != products_.end()) {
      return found->second;
    }
  }
  auto made = std::make_shared<RankProducts>();
  made->layers.reserve(kinds_.size());
  for (const Kind& kind : kinds_) {
    made->layers.push_back(pricer_.products(kind.block, k));
  }
  made->head = pricer_.head(k);
  made->head.product *= heads_;
  made->head.loss *= heads_;
  if (on(Term::head)) {
    made->head.product += (heads_ - 1.0) * pricer_.prediction(k);
  }
  // Of a third of a kilobyte a kind: some ten megabytes.
  const std::size_t most_kept = 32'768 / kinds_.size();
  const std::lock_guard lock{mutex_};
  if (products_.size() >= most_kept) {
    products_.clear();
  }
  products_.emplace(cached, made);
  return made;
}

std::shared_ptr<const std::vector<LayerOps>> StepModel::ops_of(std::uint16_t tensor_ranks) const {
  const std::lock_guard lock{mutex_};
  std::shared_ptr<const std::vector<LayerOps>>& known = ops_[tensor_ranks];
  if (!known) {
    std::vector<LayerOps> ops;
    ops.reserve(kinds_.size());
    for (const Kind& kind : kinds_) {
      ops.push_back(pricer_.ops_of(kind.block, tensor_ranks));
    }
    known = std::make_shared<const std::vector<LayerOps>>(std::move(ops));
  }
  return known;
}

std::shared_ptr<const StepModel::BareLayers> StepModel::bare_layers(const LayerKey& k,
                                                                    const RankGroups& ranks,
                                                                    const RankProducts& products,
                                                                    const std::vector<LayerOps>& ops) const {
  LayerKey alike = k;
  alike.recompute = Recompute::none;
  alike.parts = {};
  alike.overlap_experts = false;
  const CacheKey cached = cache_key(alike, ranks);
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = bare_.find(cached); found != bare_.end()) {
      return found->second;
    }
  }
  const StepRecipe& r = pricer_.recipe();
  auto made = std::make_shared<BareLayers>();
  const auto add = [&](ExpertDispatcher dispatcher, bool all) {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const Block& block = kinds_[i].block;
      made->push_back(all || block.feed_forward == FeedForward::moe
                          ? pricer_.bare_layer(block, ops[i], alike, *groups_, dispatcher, products.layers[i])
                          : (*made)[i]);
      made->back().dispatcher = dispatcher;
    }
  };
  made->reserve(kinds_.size() * (1 + r.dispatchers.size()));
  add(r.experts.dispatcher, true);
  for (const ExpertDispatcher dispatcher : r.dispatchers) {
    if (k.ep > 1 && dispatcher != r.experts.dispatcher) {
      add(dispatcher, false);
    }
  }
  constexpr std::size_t most_kept = 4096;  // of a few kilobytes each
  const std::lock_guard lock{mutex_};
  if (bare_.size() >= most_kept) {
    bare_.clear();
  }
  bare_.emplace(cached, made);
  return made;
}

/// Of several dispatchers the one with which a layer takes least.
LayerTimes StepModel::priced_mean(const LayerKey& k, const RankGroups& ranks, const RankProducts& products) const {
  const std::shared_ptr<const std::vector<LayerOps>> ops = ops_of(k.tp);
  const std::shared_ptr<const BareLayers> bare = bare_layers(k, ranks, products, *ops);
  const std::size_t kinds = kinds_.size();
  const auto whole = [&](std::size_t at, std::size_t kind) {
    return pricer_.whole_layer((*bare)[at], kinds_[kind].block, (*ops)[kind], k, products.layers[kind]);
  };
  std::vector<LayerTimes> layers;
  layers.reserve(kinds);
  LayerTimes best;
  for (std::size_t i = 0; i < kinds; ++i) {
    layers.push_back(whole(i, i));
    best.add(layers[i], kinds_[i].layers / layers_);
  }
  best.dispatcher = pricer_.recipe().experts.dispatcher;
  const auto takes = [](const LayerTimes& l) { return l.total() - l.pair_gain(false); };
  for (std::size_t first = kinds; first < bare->size(); first += kinds) {
    LayerTimes other;
    for (std::size_t i = 0; i < kinds; ++i) {
      const bool apart = kinds_[i].block.feed_forward == FeedForward::moe;
      other.add(apart ? whole(first + i, i) : layers[i], kinds_[i].layers / layers_);
    }
    other.dispatcher = (*bare)[first + kinds - 1].dispatcher;
    if (takes(other) < takes(best)) {
      best = other;
    }
  }
  return best;
}

StepModel::CacheKey StepModel::cache_key(const LayerKey& k, const RankGroups& ranks) noexcept {
  const std::uint64_t form = static_cast<std::uint64_t>(k.recompute) | static_cast<std::uint64_t>(k.cp_form) << 8U |
                             std::uint64_t{k.parts.bits()} << 16U | (k.sequence_parallel ? 1ULL << 24U : 0U) |
                             (k.cuda_graphs ? 1ULL << 25U : 0U) | (k.overlap_experts ? 1ULL << 26U : 0U) |
                             std::uint64_t{k.micro_batch} << 32U;
  return {std::uint64_t{k.tp} | std::uint64_t{k.cp} << 16U | std::uint64_t{k.ep} << 32U | std::uint64_t{k.etp} << 48U,
          form, static_cast<std::uint64_t>(ranks.tensor.stride), static_cast<std::uint64_t>(ranks.context.stride),
          static_cast<std::uint64_t>(ranks.experts.stride)};
}

std::size_t StepModel::CacheHash::operator()(const CacheKey& key) const noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t part : key) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio (Knuth 1998, volume 3, section 6.4)
    hash ^= hash >> 32U;
  }
  return hash;
}

LayerTimes StepModel::mean_layer(const LayerKey& k, const RankGroups& ranks, const RankProducts& products) const {
  const CacheKey cached = cache_key(k, ranks);
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = cache_.find(cached); found != cache_.end()) {
      return found->second;
    }
  }
  const LayerTimes mean = priced_mean(k, ranks, products);
  constexpr std::size_t most_kept = 262'144;  // of a few hundred bytes each: searches see millions
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
  StepTable table = tabulate_layers(key, *products(key));
  regroup(key, table);
  return table;
}

void StepModel::regroup(const LayerKey& key, StepTable& table) const {
  set_groups(key, LayerPricer::groups_of(key, *groups_), table);
}

StepTable StepModel::tabulate_layers(const LayerKey& key, const RankProducts& products) const {
  const StepRecipe& r = pricer_.recipe();
  StepTable table;
  table.layer = mean_layer(key, LayerPricer::groups_of(key, *groups_), products);
  table.head = products.head;
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
