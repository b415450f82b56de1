// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/layer_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
namespace {

/// A mixer and a feed-forward, each with its norm and residual; hybrids have layers of one of them.
double parts_of(const Block& block) noexcept {
  return (block.mixer != Mixer::none ? 1.0 : 0.0) + (block.feed_forward != FeedForward::none ? 1.0 : 0.0);
}

}  // namespace

LayerPass& LayerPass::add(const LayerPass& other, double weight) noexcept {
  gemm += weight * other.gemm;
  attention += weight * other.attention;
  scan += weight * other.scan;
  elementwise += weight * other.elementwise;
  tp += weight * other.tp;
  cp += weight * other.cp;
  ep += weight * other.ep;
  return *this;
}

LayerTimes& LayerTimes::add(const LayerTimes& other, double weight) noexcept {
  forward.add(other.forward, weight);
  backward.add(other.backward, weight);
  sync += weight * other.sync;
  weight_gradients += weight * other.weight_gradients;
  recompute += weight * other.recompute;
  host_forward += weight * other.host_forward;
  host_backward += weight * other.host_backward;
  accumulation += weight * other.accumulation;
  ep_hidden += weight * other.ep_hidden;
  ep_paired += weight * other.ep_paired;
  wait_hidden += weight * other.wait_hidden;
  wait_paired += weight * other.wait_paired;
  return *this;
}

LayerPricer::LayerPricer(const ModelData& data, StepRecipe recipe)
    : recipe_{std::move(recipe)},
      kernels_{data, recipe_.device, recipe_.stack, recipe_.physics, recipe_.level, recipe_.precision},
      element_{row_of(recipe_.precision).compute_bytes} {
  const Architecture& arch = recipe_.architecture;
  if (recipe_.experts.wide_modules && narrow_recipe(recipe_.precision) && arch.mtp_layers > 0) {
    const Block module = arch.prediction_block();
    const std::vector<CountedBlock> kinds = distinct_blocks(arch);
    wide_modules_ = std::none_of(kinds.begin(), kinds.end(), [&](const CountedBlock& k) { return k.block == module; });
  }
}

double LayerPricer::wide_share(const Block& block, const LayerOp& op) const noexcept {
  if (!narrow_recipe(recipe_.precision)) {
    return 0.0;
  }
  const ExpertHabits& habits = recipe_.experts;
  if (wide_modules_ && block == recipe_.architecture.prediction_block()) {
    return 1.0;
  }
  const bool attends = op.part == LayerPart::mixer && !is_recurrent(block.mixer);
  const bool around_experts = op.part == LayerPart::shared && op.weights.whole > 0.0;
  return habits.wide_mixers && (attends || around_experts)
             ? 1.0
             : std::min(1.0, habits.wide_layers / std::max(1.0, real(recipe_.architecture.layers)));
}

bool LayerPricer::stays_eight_bit(const Block& block, const LayerOp& op) const noexcept {
  return recipe_.experts.eight_bit_outputs && four_bit_recipe(recipe_.precision) && is_recurrent(block.mixer) &&
         op.part == LayerPart::mixer && op.n == real(recipe_.architecture.hidden);
}

void LayerPricer::add_product(
    LayerTimes& t, double m, double n, double k, double wide, double share, bool casts, bool eight) const noexcept {
  const bool frozen = recipe_.options.method != Method::full;
  if (wide > 0.0) {
    const double left = wide * share;
    const ProductTimes p = kernels_.wide_product(m, n, k, left, frozen ? 0.0 : left);
    t.forward.gemm += p.forward;
    t.backward.gemm += p.data_gradient + p.weight_gradient;
    t.weight_gradients += p.weight_gradient;
    share -= left;
  }
  ProductTimes p = kernels_.product(m, n, k, share, frozen ? 0.0 : share);
  if (eight) {
    kernels_.in_eight_bit(p);
  }
  t.forward.gemm += p.forward;
  t.backward.gemm += p.data_gradient;
  t.backward.gemm += p.weight_gradient;
  t.weight_gradients += p.weight_gradient;
  t.forward.elementwise += casts ? p.casts_forward : Seconds{};
  t.backward.elementwise += casts ? p.casts_backward : Seconds{};
  if (recipe_.options.method == Method::qlora) {
    add_unpacking(t, share * n * k);
  }
}

void LayerPricer::add_adapters(LayerTimes& t, double rows, double n, double k) const noexcept {
  const double passes = recipe_.physics.adapter_passes * rows;
  const double dropped = recipe_.drops_inputs ? (2.0 * element_ + 1.0) * k : 0.0;
  t.forward.elementwise += Bytes{passes * (element_ * (k + 4.0 * n) + dropped)} / bandwidth();
  t.backward.elementwise += Bytes{passes * (element_ * (5.0 * k + 2.0 * n) + dropped)} / bandwidth();
}

void LayerPricer::add_unpacking(LayerTimes& t, double weights) const noexcept {
  const Seconds once = Bytes{weights * (recipe_.gathered_bytes + element_)} / bandwidth();
  t.forward.elementwise += once;
  t.backward.elementwise += once;
}

void LayerPricer::add_attention(LayerTimes& t, const LayerOp& op, const Sizes& z) const noexcept {
  const StepRecipe& r = recipe_;
  const bool causal = r.architecture.kind == ArchitectureKind::decoder;
  const double width = 0.5 * (op.width + op.value_width);
  // Context shards are cut so that each has as much of the mask.
  const double heads = op.heads / z.key.cp;
  // Packed documents see themselves alone.
  const double length = r.options.document_tokens > 0.0 ? std::min(r.options.document_tokens, r.seq_len) : r.seq_len;
  const double documents = real(z.key.micro_batch) * (r.seq_len / length);
  const AttentionTimes times =
      r.options.flash_attention
          ? kernels_.attention({documents, length, length, heads, heads, width, op.window, causal},
                               r.attention.narrow(z.key.cp))
          : kernels_.unfused(z.tokens * op.heads * r.seq_len, width, z.block.head_dim % 8 == 0, element_);
  t.forward.attention = times.forward;
  t.backward.attention = times.backward;
}

/// Context ranks run a share of the heads each over whole sequences: what is projected is exchanged for them, and the
/// output back (Megatron-Core, mamba_context_parallel.py).
void LayerPricer::add_scan(LayerTimes& t, const LayerOp& op, const Sizes& z, const JobGroups& groups) const {
  if (const GroupCollectives* cp = groups.find(z.ranks.context)) {
    const double reach = cp->view().domains > 1 ? recipe_.physics.nic * recipe_.stack.nic : recipe_.stack.link;
    const double projected = 2.0 * op.output + 2.0 * op.kv_heads * op.width;
    const auto takes = [&](double width) {
      return cp->time(Collective::all_to_all, Bytes{element_ * z.tokens * width}).time / reach;
    };
    t.forward.cp = t.backward.cp = takes(projected) + takes(op.output);
  }
  ScanShape shape;
  shape.mixer = op.mixer;
  shape.sequences = real(z.key.micro_batch) / z.key.cp;
  shape.tokens = recipe_.seq_len;
  shape.heads = op.heads;
  shape.groups = op.kv_heads;
  shape.key = op.width;
  shape.value = op.value_width;
  shape.chunk = op.chunk;
  t.forward.scan = kernels_.scan().training_forward(shape);
  t.backward.scan = kernels_.scan().backward(shape);
}

/// Grouped products: the rank's experts one after another. A fused kernel casts the second's input as it writes it.
void LayerPricer::add_experts(LayerTimes& t, const LayerOp& op, const Sizes& z) const noexcept {
  const double local = std::max(1.0, op.count / z.key.ep);
  const double ffn = op.width / z.key.etp;
  const double rows = expert_rows(op, z) / local;
  const double grouped = recipe_.stack.moe_gemm * local;
  const double wide = wide_share(z.block, op);
  add_product(t, rows, op.pieces * ffn, op.input, wide, grouped);
  add_product(t, rows, op.input, ffn, wide, grouped, !recipe_.experts.fused_products);
}

double LayerPricer::expert_rows(const LayerOp& op, const Sizes& z) const noexcept {
  return kept_rows() * z.tokens * op.top_k * z.key.etp / z.t;
}

double LayerPricer::kept_rows() const noexcept {
  const double capacity = recipe_.options.experts.capacity;
  return capacity > 0.0 ? capacity : 1.0;
}

/// Permutation around the exchange, and the activation unless the products' kernel does it. Passes go over buffers of a
/// stated size as a whole; products, and what pages hold, are of the rows that came.
double LayerPricer::expert_width(const LayerOp& op, const Sizes& z) const noexcept {
  const ExpertTraffic& stated = recipe_.options.experts;
  const double buffers = stated.paged ? 1.0 : std::max(1.0, stated.rank_capacity);
  const double inner = recipe_.experts.fused_products ? 0.0 : activation_width(op, z);
  // Rows of narrow products are aligned: padded before and unpadded after them, where nothing else has done so
  // (Megatron-Core, moe/experts.py: fp8_padding, fp8_unpadding; HybridEP pads as it permutes, graphs as they route).
  const bool aligns =
      narrow_recipe(recipe_.precision) && z.dispatcher != ExpertDispatcher::hybridep && reads_back(launch_of(z.key));
  const double copies = dispatcher_form(z.dispatcher).permuted + (aligns ? 4.0 : 0.0);
  return buffers * (inner + 2.0 * copies * op.input);
}

double LayerPricer::activation_width(const LayerOp& op, const Sizes& z) const noexcept {
  return (recipe_.architecture.gated_mlp ? 6.0 : 4.0) * op.width / z.key.etp;
}

/// Of `width` bytes a token in 16 bit.
Seconds LayerPricer::passes(double tokens, double width) const noexcept {
  return Bytes{recipe_.stack.elementwise * tokens * width * 0.5 * element_} / bandwidth();
}

void LayerPricer::add_passes(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept {
  const auto add = [&](double tokens, double width) {
    const Seconds once = passes(tokens, width);
    t.forward.elementwise += once;
    t.backward.elementwise += 2.0 * once;
  };
  const double gated = recipe_.architecture.gated_mlp ? 1.0 : 0.0;
  if (const LayerOp* experts = ops.find(LayerOpKind::experts)) {
    add(expert_rows(*experts, z), expert_width(*experts, z));
  }
  const LayerOp* attention = ops.find(LayerOpKind::attention);
  double mixed = attention != nullptr ? 4.0 * (attention->heads + 2.0 * attention->kv_heads) * attention->width : 0.0;
  if (ops.find(LayerOpKind::scan) != nullptr) {
    for (const LayerOp& op : ops) {  // the convolution and the gated norm, in 16 bit
      mixed += op.kind == LayerOpKind::pass && op.of_mixer ? 2.0 * op.forward * op.width : 0.0;
    }
  }
  const double ffn = z.block.feed_forward == FeedForward::dense ? real(z.block.ffn_hidden) : 0.0;
  const double sigma = z.key.sequence_parallel ? z.t : 1.0;  // ranks that share passes over the hidden state
  for (const LayerOp& op : ops) {
    if (op.part == LayerPart::router) {
      add_scores(t, op, z.tokens / sigma);
    } else if (op.kind == LayerOpKind::activation && op.part == LayerPart::shared) {
      add(z.tokens, (4.0 + 2.0 * gated) * op.width);
    }
  }
  add(z.tokens, 10.0 * parts_of(z.block) * z.hidden / sigma + (4.0 + 2.0 * gated) * ffn / z.t + mixed);
}

void LayerPricer::add_reduction(LayerTimes& t, double reductions, const Sizes& z, const JobGroups& groups) const {
  const StepRecipe& r = recipe_;
  if (const GroupCollectives* tp = groups.find(z.ranks.tensor)) {
    const Bytes buffer{element_ * z.tokens * z.hidden};
    const bool leaves = tp->view().domains > 1;
    const double reach = leaves ? r.physics.nic * r.stack.nic : r.stack.link;
    const Seconds once = z.key.sequence_parallel ? tp->time(Collective::all_gather, buffer).time +
                                                       tp->time(Collective::reduce_scatter, buffer).time
                                                 : tp->time(Collective::all_reduce, buffer).time;
    const double exposed = z.key.sequence_parallel ? 1.0 - r.stack.tp_overlap : 1.0;
    t.forward.tp = t.backward.tp = reductions * exposed * once / reach;
  }
}

void LayerPricer::add_context(LayerTimes& t, const LayerOp& op, const Sizes& z, const JobGroups& groups) const {
  const StepRecipe& r = recipe_;
  const GroupCollectives* cp = groups.find(z.ranks.context);
  if (cp == nullptr) {
    return;
  }
  const double ranks = z.key.cp;
  const double keys = op.kv_heads * op.width;
  const double reach = cp->view().domains > 1 ? r.physics.nic * r.stack.nic : r.stack.link;
  const auto takes = [&](Collective collective, double width) {
    return cp->time(collective, Bytes{element_ * z.tokens * width}).time / reach;
  };
  if (z.key.cp_form == CpForm::ulysses) {
    // Jacobs et al. 2023, section 3.2: queries, keys, values and the output are exchanged each way, none of it beside
    // compute. Key-value heads fewer than ranks are sent to each that needs them.
    const double copies = ranks * std::ceil(op.kv_heads / ranks) * op.width;
    t.forward.cp = takes(Collective::all_to_all, op.heads * op.width) + 2.0 * takes(Collective::all_to_all, copies) +
                   takes(Collective::all_to_all, op.heads * op.value_width);
    t.backward.cp = t.forward.cp;
    return;
  }
  if (z.key.cp_form == CpForm::ring) {
    // Liu et al. 2023, section 3.2: while a rank attends to one shard the next is on its way; backward their gradients
    // travel with keys and values. Causal shards are dealt so that all hops do the same work.
    const auto exposed = [&](Seconds hop, Seconds attention) {
      const Seconds work = attention / ranks;
      return (ranks - 1.0) * (std::max(Seconds{}, hop - work) + r.physics.overlap_slowdown * std::min(hop, work));
    };
    t.forward.cp = exposed(takes(Collective::send_recv, 2.0 * keys), t.forward.attention);
    t.backward.cp = exposed(takes(Collective::send_recv, 4.0 * keys), t.backward.attention);
    return;
  }
  // Keys and values of the other shards: gathered, or where nobody says which a ring of as many bytes.
  const Bytes buffer{2.0 * element_ * z.tokens * keys * z.key.cp};
  const Seconds once = cp->time(Collective::all_gather, buffer).time;
  t.forward.cp = (1.0 - r.physics.cp_overlap) * once;
  t.backward.cp = 2.0 * t.forward.cp;
}

double LayerPricer::crowding(const LayerKey& key) const noexcept {
  const std::int64_t kept = recipe_.options.experts.units;
  const auto& units = recipe_.device.compute.units;
  if (kept <= 0 || key.ep <= 1 || !units || kept >= units->value) {
    return 1.0;
  }
  return real(units->value) / real(units->value - kept);
}

/// Products and attention are as slow as their multiprocessors are few; passes wait for the memory instead.
void LayerPricer::leave_to_exchanges(LayerTimes& t, const LayerKey& key) const noexcept {
  const double slower = crowding(key);
  for (LayerPass* pass : {&t.forward, &t.backward}) {
    pass->gemm *= slower;
    pass->attention *= slower;
  }
  t.weight_gradients *= slower;
}

/// Experts launch more; graphs replay with gaps instead. `again`: launches of recomputation over the backward pass's.
void LayerPricer::add_host(LayerTimes& t, const LayerOps& ops, const Sizes& z) const noexcept {
  const StepRecipe& r = recipe_;
  const LayerOp* experts = ops.find(LayerOpKind::experts);
  const ExpertLaunch launch = launch_of(z.key);
  const bool partial = launch == ExpertLaunch::partial_graphs;
  // Graphs of router and preprocessing alone leave attention to the host. Where they hold it, they hold what is alone
  // in a layer of hybrids too.
  const bool beside = partial && !r.experts.eager_attention && (experts != nullptr || parts_of(z.block) < 2.0);
  const bool captured = (z.key.cuda_graphs && experts == nullptr) || beside || launch == ExpertLaunch::full_graphs;
  const double tensor = 1.0 + r.physics.tp_host * std::log2(z.t);
  const bool unfused = !r.options.flash_attention && ops.find(LayerOpKind::attention) != nullptr;
  const Seconds launch_of_one = r.stack.host / ops_of_a_layer;
  const LayerOp* attention = ops.find(LayerOpKind::attention);
  const double latents =
      attention != nullptr && attention->latent > 0.0 ? r.physics.latent_launches + r.stack.rotary_launches : 0.0;
  Seconds host = tensor * ((1.0 + (unfused ? r.physics.unfused_host : 0.0)) * r.stack.host + latents * launch_of_one);
  host *= narrow_recipe(r.precision) ? r.physics.fp8_host : 1.0;
  if (captured) {
    host = r.physics.graph_nodes * r.physics.graph_node;
  }
  if (parts_of(z.block) < 2.0) {
    host *= 0.5;  // half of a dense layer's launches are its mixer's
  }
  Seconds router{};
  Seconds routed{};
  if (experts != nullptr && launch == ExpertLaunch::full_graphs) {
    routed = r.physics.moe_graph_nodes * r.physics.graph_node;
  } else if (experts != nullptr) {
    // Padded experts are one batch of equal rows.
    const bool one_by_one = reads_back(launch) && !r.experts.fused_products && !r.experts.one_launch;
    const double local = one_by_one ? std::max(1.0, experts->count / z.key.ep) : 0.0;
    const Seconds each = expert_launches(r.physics, r.precision) * r.stack.expert_launch;
    const Seconds more = dispatch_launches(launch, z) * launch_of_one;
    routed = tensor * (r.stack.moe_launch + local * each + more);
    router = tensor * (partial ? 0.0 : router_launches()) * launch_of_one;
  }
  host += router + routed;
  const double again = z.key.recompute == Recompute::full ? 1.1 : 0.0;
  t.host_forward = wait_for_host(t.forward.total(), host);
  t.host_backward = wait_for_host(t.backward.total() + t.recompute, (2.0 + again) * host);
  const bool reads = experts != nullptr && reads_back(launch) && on(Term::host_sync);
  const Seconds pair = (3.0 + again) * host + (reads ? (1.0 + again) * r.physics.sync : Seconds{});
  if (!reads) {
    add_pair_waits(t, z.key, pair);
    return;
  }
  // The host waits for the router and launches experts into an empty queue: attention after them hides no launch.
  const Seconds queued = std::max(Seconds{}, t.forward.total() - expert_time(ops, z, t.forward.ep));
  const Seconds lag = wait_for_host(t.forward.total() + t.host_forward, routed + queued);
  t.sync = (1.0 + again) * (r.physics.sync + lag);
  add_pair_waits(t, z.key, pair);
}

ExpertLaunch LayerPricer::launch_of(const LayerKey& key) const noexcept {
  // Dropless shapes are not known beforehand, so that graphs hold what is before the experts.
  const bool graphs = key.cuda_graphs && recipe_.experts.launch == ExpertLaunch::eager;
  return graphs ? ExpertLaunch::partial_graphs : recipe_.experts.launch;
}

/// The forward pass of what comes after the router.
Seconds LayerPricer::expert_time(const LayerOps& ops, const Sizes& z, Seconds exchanges) const noexcept {
  const LayerOp* experts = ops.find(LayerOpKind::experts);
  return z.products->experts + passes(expert_rows(*experts, z), expert_width(*experts, z)) + exchanges;
}

namespace {

void drop(LayerTimes& t, const TermSet& without) noexcept {
  const auto clear = [&](Term term, Seconds LayerPass::*part) {
    if (without.has(term)) {
      t.forward.*part = t.backward.*part = Seconds{};
    }
  };
  clear(Term::gemm, &LayerPass::gemm);
  if (without.has(Term::gemm)) {
    t.weight_gradients = Seconds{};
  }
  clear(Term::attention, &LayerPass::attention);
  clear(Term::scan, &LayerPass::scan);
  clear(Term::elementwise, &LayerPass::elementwise);
  clear(Term::tp_comm, &LayerPass::tp);
  clear(Term::cp_comm, &LayerPass::cp);
  clear(Term::ep_comm, &LayerPass::ep);
}

}  // namespace

RankGroups LayerPricer::groups_of(const LayerKey& key, const JobGroups& groups) noexcept {
  const std::int64_t stage = std::int64_t{key.tp} * key.cp * key.dp;
  // What is left of the job are the stages.
  const std::int64_t stages = key.pp > 0 ? key.pp : groups.ranks() % stage == 0 ? groups.ranks() / stage : 1;
  return headroom::groups_of(key.order, {key.tp, key.cp, key.dp, stages, key.ep, key.etp});
}

LayerPricer::Sizes LayerPricer::sizes_of(const Block& block, const LayerKey& key) const noexcept {
  Sizes z{key, block};
  z.t = key.tp;
  z.tokens = real(key.micro_batch) * recipe_.seq_len / key.cp;
  z.hidden = real(recipe_.architecture.hidden);
  return z;
}

LayerTimes LayerPricer::layer(const Block& block, const LayerKey& key, const JobGroups& groups) const {
  return layer(block, key, groups, recipe_.experts.dispatcher);
}

LayerTimes LayerPricer::layer(const Block& block,
                              const LayerKey& key,
                              const JobGroups& groups,
                              ExpertDispatcher dispatcher) const {
  return layer(block, key, groups, dispatcher, products(block, key));
}

LayerProducts LayerPricer::products(const Block& block, const LayerKey& key) const {
  const Sizes z = sizes_of(block, key);
  const bool adapted = recipe_.options.method != Method::full;
  LayerProducts p;
  for (const LayerOp& op : layer_ops(recipe_.architecture, block, LayerForm::training, z.t)) {
    const bool pairs = adapted && has_adapters(op, recipe_.targets);
    if (op.kind == LayerOpKind::product) {
      if (op.part != LayerPart::router) {
        const auto add = [&](LayerTimes& to) {
          add_product(to, z.tokens, op.n, op.k, wide_share(block, op), 1.0, true, stays_eight_bit(block, op));
        };
        add(p.all);
        if (recipe_.experts.shared_beside && op.part == LayerPart::shared && op.weights.whole == 0.0) {
          LayerTimes alone;
          add(alone);
          p.shared_forward += alone.forward.gemm;
          p.shared_backward += alone.backward.gemm;
          p.shared_weight_gradients += alone.weight_gradients;
        }
      }
      if (op.from_latent) {
        const ProductTimes up = kernels_.product(z.tokens, op.n, op.k, 1.0, 1.0);
        p.up += up.forward;
        p.up_casts += up.casts_forward;
      }
      if (pairs) {
        add_adapters(p.all, z.tokens, op.n, op.k);
      }
    } else if (op.kind == LayerOpKind::experts) {
      LayerTimes alone;
      add_experts(alone, op, z);
      p.experts += alone.forward.total();
      add_experts(p.all, op, z);
      if (pairs) {
        const double ffn = op.width / z.key.etp;
        add_adapters(p.all, expert_rows(op, z), op.pieces * ffn, z.hidden);
        add_adapters(p.all, expert_rows(op, z), z.hidden, ffn);
      }
    }
  }
  return p;
}

LayerTimes LayerPricer::layer(const Block& block,
                              const LayerKey& key,
                              const JobGroups& groups,
                              ExpertDispatcher dispatcher,
                              const LayerProducts& products) const {
  const LayerOps ops = ops_of(block, key.tp);
  return whole_layer(bare_layer(block, ops, key, groups, dispatcher, products), block, ops, key, products);
}

LayerTimes LayerPricer::bare_layer(const Block& block,
                                   const LayerOps& ops,
                                   const LayerKey& key,
                                   const JobGroups& groups,
                                   ExpertDispatcher dispatcher,
                                   const LayerProducts& products) const {
  const StepRecipe& r = recipe_;
  Sizes z = sizes_of(block, key);
  z.dispatcher = dispatcher;
  z.ranks = groups_of(key, groups);
  z.products = &products;
  LayerTimes t = products.all;
  t.dispatcher = dispatcher;
  double reductions = 0.0;
  for (const LayerOp& op : ops) {
    switch (op.kind) {
      case LayerOpKind::attention:
        add_attention(t, op, z);
        add_context(t, op, z, groups);
        break;
      case LayerOpKind::exchange: {
        // Of dispatch and combine each carries one way what goes to the experts and the other way what comes back.
        const Seconds back = exchange(z, groups, element_);
        const Seconds there = r.options.experts.narrow_dispatch ? exchange(z, groups, narrow_element) : back;
        const Seconds one = r.stack.expert_traffic * (0.5 * (there + back));
        t.forward.ep += one;
        t.backward.ep += one;
        break;
      }
      case LayerOpKind::reduction: reductions += 1.0; break;
      case LayerOpKind::scan: add_scan(t, op, z, groups); break;
      case LayerOpKind::product:
      case LayerOpKind::experts:
      case LayerOpKind::activation:
      case LayerOpKind::pass: break;
    }
  }
  add_passes(t, ops, z);
  add_reduction(t, reductions, z, groups);
  leave_to_exchanges(t, key);
  drop(t, r.without);
  return t;
}

LayerTimes LayerPricer::whole_layer(const LayerTimes& bare,
                                    const Block& block,
                                    const LayerOps& ops,
                                    const LayerKey& key,
                                    const LayerProducts& products) const noexcept {
  Sizes z = sizes_of(block, key);
  z.dispatcher = bare.dispatcher;
  z.products = &products;
  LayerTimes t = bare;
  hide_exchanges(t, key, products);
  if (on(Term::recompute)) {
    add_recompute(t, ops, z);
  }
  if (on(Term::host)) {
    add_host(t, ops, z);
  }
  return t;
}

Seconds LayerPricer::newton_schulz(const Block& block, const LayerKey& key) const noexcept {
  constexpr double steps = 5.0;
  const auto of_matrix = [&](double n, double k) {
    const double a = std::min(n, k);
    const double b = std::max(n, k);
    const GemmModel& gemm = kernels_.wide();
    return steps * kernels_.wide_factor() * (gemm.time({a, a, b}) + gemm.time({a, a, a}) + gemm.time({a, b, a}));
  };
  Seconds sum{};
  for (const LayerOp& op : layer_ops(recipe_.architecture, block, LayerForm::training)) {
    if (op.kind == LayerOpKind::experts) {
      const double local = op.count * (op.pieces + 1.0) / (real(key.ep) * key.etp);
      sum += local * of_matrix(op.width, op.input);
    } else if (op.kind == LayerOpKind::product && op.part != LayerPart::router) {
      sum += op.pieces / key.tp * of_matrix(op.n / op.pieces, op.k);
    }
  }
  return sum;
}

}  // namespace headroom
