// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/workload/layer_ops.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

bool divisible(std::int64_t number, std::int64_t by) noexcept {
  return by > 0 && number % by == 0;
}

/// KV heads that a rank holds, of all: fewer heads than ranks are replicated.
double kv_share(std::int64_t kv_heads, std::int64_t tp) noexcept {
  return std::max(1.0 / real(tp), 1.0 / real(std::max<std::int64_t>(1, kv_heads)));
}

struct Formats {
  double gemm = 2.0;     ///< bytes of a weight in attention and dense feed-forward
  double experts = 2.0;  ///< in experts
  double plain = 2.0;    ///< embedding, head, norms, router
  double cache = 2.0;    ///< of a cache element
};

Formats formats_of(const Architecture& arch, Precision weights, Precision kv) noexcept {
  Formats f;
  f.plain = row_of(weights).weight_bytes >= 4.0 ? 4.0 : 2.0;
  f.experts = stored_bytes(weights);
  f.gemm = weights == Precision::mxfp4 && arch.moe ? 2.0 : f.experts;
  f.cache = stored_bytes(kv);
  if (kv == Precision::fp8 || kv == Precision::int8 || kv == Precision::int4) {
    f.cache = row_of(kv).weight_bytes;  // one scale a tensor or head
  }
  return f;
}

/// Adds a layer's cache to its kind; when all kinds are taken it joins the narrowest window that is wide enough.
void add_cache(ServingStage& stage, std::int64_t window, Bytes per_token) noexcept {
  if (window <= 0) {
    stage.cache_per_token += per_token;
    return;
  }
  ServingStage::Window* wider = nullptr;
  for (ServingStage::Window& kind : stage.windows) {
    if (kind.tokens == 0.0 || kind.tokens == real(window)) {
      kind.tokens = real(window);
      kind.per_token += per_token;
      return;
    }
    if (kind.tokens > real(window) && (wider == nullptr || kind.tokens < wider->tokens)) {
      wider = &kind;
    }
  }
  (wider != nullptr ? wider->per_token : stage.cache_per_token) += per_token;
}

/// One layer on one rank.
struct RankLayer {
  LayerOps ops;
  Bytes weights{};
  Bytes experts{};  ///< of them, the routed experts
};

RankLayer layer_on_rank(const Architecture& arch,
                        const Block& b,
                        const ServingLayout& layout,
                        const Formats& f) noexcept {
  RankLayer layer{layer_ops(arch, b, LayerForm::serving)};
  const BlockParameters p = block_parameters(arch, b);
  const double tp = real(layout.tp);
  double mixer = p.mixer / tp + p.mixer_replicated;
  for (const LayerOp& op : layer.ops) {
    mixer += op.weights.key_value * (kv_share(b.kv_heads, layout.tp) - 1.0 / tp);
  }
  const double held = arch.moe ? 1.0 + real(layout.redundant) / real(arch.moe->experts) : 1.0;
  layer.experts = Bytes{f.experts * p.experts * held / std::max(tp, real(layout.ep))};
  layer.weights = Bytes{f.gemm * (mixer + (p.dense_ffn + p.shared_experts) / tp)  //
                        + f.plain * (p.norms + p.router)} +
                  layer.experts;
  return layer;
}

void add_layer(const RankLayer& layer, const ServingLayout& layout, const Formats& f, ServingStage& stage) noexcept {
  for (const LayerOp& op : layer.ops) {
    if (op.cached > 0.0) {
      const double share = kv_share(static_cast<std::int64_t>(op.kv_heads), layout.tp);
      add_cache(stage, static_cast<std::int64_t>(op.window), Bytes{f.cache * op.cached * share});
    }
    stage.state_per_sequence += Bytes{op.state / real(layout.tp)};
  }
  stage.experts += layer.experts;
  stage.weights += layer.weights;
}

/// The widest feed-forward that one token meets.
double active_width(const Architecture& arch, const std::vector<Block>& blocks) noexcept {
  std::int64_t widest = 0;
  for (const Block& b : blocks) {
    if (b.feed_forward == FeedForward::dense) {
      widest = std::max(widest, b.ffn_hidden);
    } else if (b.feed_forward == FeedForward::moe && arch.moe) {
      widest = std::max(widest, arch.moe->top_k * arch.moe->expert_ffn_hidden + arch.moe->shared_ffn_hidden);
    }
  }
  return real(widest);
}

/// First layer of stage p: early stages take one more when layers do not divide.
std::int64_t first_layer(std::int64_t layers, std::int64_t pp, std::int64_t p) noexcept {
  return p * (layers / pp) + std::min(p, layers % pp);
}

ServingStage stage_of(const Architecture& arch,
                      const std::vector<Block>& blocks,
                      const ServingLayout& layout,
                      const Formats& f,
                      std::int64_t p) noexcept {
  const auto layers = static_cast<std::int64_t>(blocks.size());
  ServingStage stage;
  const std::int64_t first = first_layer(layers, layout.pp, p);
  RankLayer layer;  // most layers are as the one before them
  for (std::int64_t i = first; i < first_layer(layers, layout.pp, p + 1); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (i == first || !(blocks[at] == blocks[at - 1])) {
      layer = layer_on_rank(arch, blocks[at], layout, f);
    }
    add_layer(layer, layout, f, stage);
  }
  return stage;
}

void add_ends(const Architecture& arch, const ServingLayout& layout, const Formats& f, CompiledServingMemory& c) {
  const ParameterCount parameters = count_parameters(arch);
  const double tp = real(layout.tp);
  ServingStage& last = c.stages[static_cast<std::size_t>(c.stage_count - 1)];
  c.stages[0].weights += Bytes{f.plain * parameters.embedding / tp};
  last.weights += Bytes{f.plain * (parameters.final_norm + parameters.head / tp)};
  if (arch.tied_embeddings && c.stage_count > 1) {
    last.weights += Bytes{f.plain * parameters.embedding / tp};  // a tied table stands on both ends
  }
}

/// Pool of a stage; below zero when the rest does not even fit.
Bytes pool_of(const CompiledServingMemory& c, const ServingStage& stage, Bytes activations, double fraction) noexcept {
  const EngineMemory& e = c.engine;
  const Bytes framework = c.framework();
  switch (e.fraction_of) {
    case FractionOf::total: return fraction * c.device - stage.weights - activations - framework;
    case FractionOf::free: return fraction * (c.device - stage.weights - activations - framework - e.graphs);
    case FractionOf::fixed_share: break;
  }
  return fraction * (c.device - framework) - stage.weights;
}

std::int64_t whole(double ratio) noexcept {
  constexpr double most = 0x1p53;
  return ratio > 0.0 ? static_cast<std::int64_t>(std::min(std::floor(ratio), most)) : 0;
}

/// What has to fit beside a KV cache, and the room for it.
void judge(const CompiledServingMemory& c, double fraction, ServingMemory& m) noexcept {
  const EngineMemory& e = c.engine;
  if (m.pool.raw() <= 0.0) {
    const Bytes rest = m.terms.total();
    const Bytes room = e.fraction_of == FractionOf::free ? c.device : fraction * c.device;
    const Bytes needed = e.fraction_of == FractionOf::total ? rest - e.graphs : rest;
    m.verdict = Verdict::out_of_memory;
    m.broke = needed.raw();
    m.limit = room.raw();
  } else if (m.capacity < 1) {
    m.verdict = Verdict::kv_cache_too_small;
    m.broke = m.sequence.raw();
    m.limit = m.pool.raw();
  } else if (m.terms.total() > c.device) {
    m.verdict = Verdict::out_of_memory;
    m.broke = m.terms.total().raw();
    m.limit = c.device.raw();
  } else if (m.capacity_low < 1) {
    m.verdict = Verdict::kv_cache_uncertain;  // the low end of the pool holds none
    m.broke = m.sequence.raw();
    m.limit = m.pool.raw();
  }
}

/// What a pool holds, and the verdict on it.
void count_sequences(const CompiledServingMemory& c, const ServingLimits& limits, ServingMemory& result) noexcept {
  const double groups = real(c.layout.attention_groups());
  result.terms[MemoryTerm::kv_cache] = std::max(result.pool, Bytes{0.0});
  const auto sequences = [&](Bytes pool) {
    return pool.raw() <= 0.0 ? 0 : result.sequence.raw() > 0.0 ? whole(pool / result.sequence) : whole(0x1p53 / groups);
  };
  const std::int64_t in_group = sequences(result.pool);
  const std::int64_t all_groups = c.layout.attention_groups();
  result.capacity = all_groups * in_group;
  result.capacity_low = all_groups * sequences(result.pool - c.engine.uncertainty);
  result.capacity_high = all_groups * sequences(result.pool + c.engine.uncertainty);
  result.max_sequences = all_groups * std::min(in_group, limits.max_num_seqs);
  if (result.sequence.raw() > 0.0 && result.pool.raw() > 0.0) {
    result.tokens = groups * std::floor((result.pool / result.sequence) * real(limits.sequence_tokens));
  }
  judge(c, limits.memory_fraction, result);
}

}  // namespace

LayoutProblem check(const Architecture& arch, const ServingLayout& layout, std::int64_t gpus) noexcept {
  const bool whole = layout.ep > 1 && !layout.cut_experts;
  if (whole && (!arch.moe || !divisible(arch.moe->experts + layout.redundant, layout.ep))) {
    return {Verdict::experts_not_divisible, arch.moe ? arch.moe->experts + layout.redundant : 0, layout.ep};
  }
  if (!divisible(layout.ep, layout.tp) && !divisible(layout.tp, layout.ep)) {
    return {Verdict::expert_groups_misfit, layout.tp, layout.ep};
  }
  if (!divisible(gpus, layout.gpus())) {
    return {Verdict::gpus_not_divisible, gpus, layout.gpus()};
  }
  if (!divisible(arch.heads, layout.tp)) {
    return {Verdict::heads_not_divisible, arch.heads, layout.tp};
  }
  if (arch.recurrent && arch.recurrent->heads > 1 && !divisible(arch.recurrent->heads, layout.tp)) {
    return {Verdict::heads_not_divisible, arch.recurrent->heads, layout.tp};
  }
  if (!arch.mla && !divisible(arch.kv_heads, layout.tp) && !divisible(layout.tp, arch.kv_heads)) {
    return {Verdict::kv_heads_not_divisible, arch.kv_heads, layout.tp};
  }
  if (layout.pp > arch.layers) {
    return {Verdict::layers_too_few, arch.layers, layout.pp};
  }
  return {};
}

Bytes ServingStage::sequence(double tokens, double block_tokens) const noexcept {
  const auto paged = [&](double n) { return std::ceil(n / block_tokens) * block_tokens; };
  Bytes sum = paged(tokens) * cache_per_token + state_per_sequence;
  for (const Window& window : windows) {
    sum += paged(std::min(tokens, window.tokens)) * window.per_token;
  }
  return sum;
}

Bytes CompiledServingMemory::framework() const noexcept {
  return engine.framework + std::log2(real(layout.gpus())) * engine.framework_per_doubling;
}

CompiledServingMemory compile_serving_memory(const Architecture& arch,
                                             const Device& device,
                                             const EngineMemory& engine,
                                             const ServingLayout& layout,
                                             Precision weights,
                                             Precision kv) {
  CompiledServingMemory c;
  c.engine = engine;
  c.device = device.visible_capacity().value;
  c.layout = layout;
  const Formats f = formats_of(arch, weights, kv);
  const std::vector<Block> blocks = arch.blocks();
  c.stage_count = static_cast<int>(std::min<std::int64_t>(layout.pp, 3));
  c.stages[0] = stage_of(arch, blocks, layout, f, 0);
  if (layout.pp > 1) {
    c.stages[static_cast<std::size_t>(c.stage_count - 1)] = stage_of(arch, blocks, layout, f, layout.pp - 1);
  }
  for (std::int64_t p = 1; p + 1 < layout.pp; ++p) {
    const ServingStage middle = stage_of(arch, blocks, layout, f, p);
    if (middle.weights > c.stages[1].weights) {
      c.stages[1] = middle;
    }
  }
  add_ends(arch, layout, f, c);
  const bool narrow = f.experts < 2.0;
  c.activation_per_token =
      Bytes{(narrow ? engine.quantised_bytes : engine.wide_bytes) * active_width(arch, blocks) / real(layout.tp)};
  c.activation_per_sequence = Bytes{engine.logit_bytes * real(arch.vocab)};
  return c;
}

void add_model(const ServingStage& other, CompiledServingMemory& c) noexcept {
  for (int i = 0; i < c.stage_count; ++i) {
    ServingStage& stage = c.stages[static_cast<std::size_t>(i)];
    stage.weights += other.weights;
    stage.experts += other.experts;
    stage.cache_per_token += other.cache_per_token;
    stage.state_per_sequence += other.state_per_sequence;
    for (const ServingStage::Window& window : other.windows) {
      add_cache(stage, static_cast<std::int64_t>(window.tokens), window.per_token);
    }
  }
}

ServingMemory serving_memory(const CompiledServingMemory& c, const ServingLimits& limits) noexcept {
  const Bytes activations = std::max(real(limits.max_num_tokens) * c.activation_per_token,
                                     real(limits.max_num_seqs) * c.activation_per_sequence);
  const double block = real(c.engine.block_tokens);
  ServingMemory result;
  double fewest = -1.0;
  for (int i = 0; i < c.stage_count; ++i) {
    const ServingStage& stage = c.stages[static_cast<std::size_t>(i)];
    const Bytes pool = pool_of(c, stage, activations, limits.memory_fraction);
    const Bytes sequence = stage.sequence(real(limits.sequence_tokens), block);
    // A stage without cache (no attention layer) holds any number; one without room is the worst.
    const double sequences = pool.raw() <= 0.0 ? pool.raw() : sequence.raw() > 0.0 ? pool / sequence : 0x1p53;
    if (i > 0 && sequences >= fewest) {
      continue;
    }
    fewest = sequences;
    result.stage = i;
    result.pool = pool;
    result.sequence = sequence;
    result.terms = {};
    result.terms[MemoryTerm::weights] = stage.weights;
  }
  result.terms[MemoryTerm::activations] = activations;
  result.terms[MemoryTerm::cuda_graphs] = c.engine.graphs;
  result.terms[MemoryTerm::framework] = c.framework();
  count_sequences(c, limits, result);
  return result;
}

ServingMemory with_pool(const CompiledServingMemory& c,
                        const ServingLimits& limits,
                        ServingMemory memory,
                        Bytes pool) noexcept {
  memory.pool = pool;
  memory.verdict = Verdict::feasible;
  memory.broke = memory.limit = memory.tokens = 0.0;
  count_sequences(c, limits, memory);
  return memory;
}

Bytes shared_pool(std::span<const ServingMemory> alone, Bytes device, double fraction) noexcept {
  Bytes pool = fraction * device;
  for (const ServingMemory& one : alone) {
    pool += one.pool - fraction * device;
  }
  return pool;
}

std::optional<std::int64_t> longest_sequence(const CompiledServingMemory& c,
                                             const ServingLimits& limits,
                                             std::int64_t sequences) noexcept {
  const auto holds = [&](std::int64_t tokens) {
    ServingLimits asked = limits;
    asked.sequence_tokens = tokens;
    return serving_memory(c, asked).capacity >= sequences;
  };
  std::int64_t low = 0;
  std::int64_t high = std::int64_t{1} << 40;
  if (holds(high)) {
    return std::nullopt;  // windows and states have stopped growing long before
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (holds(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

ReplicaLayout replica_layout(Bytes weights, Bytes capacity, double fraction, std::int64_t gpus) noexcept {
  std::int64_t tp = 1;
  while (weights > real(tp) * fraction * capacity && tp < (std::int64_t{1} << 40)) {
    tp *= 2;
  }
  return {tp, gpus / tp};
}

double contiguous_waste(double reserved_tokens, double mean_tokens) noexcept {
  return 1.0 - mean_tokens / reserved_tokens;
}

double paged_waste(double block_tokens, double mean_tokens) noexcept {
  return (block_tokens - 1.0) / (mean_tokens + block_tokens - 1.0);
}

}  // namespace headroom
