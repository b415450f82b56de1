// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/collectives/custom_all_reduce.hpp>
#include <headroom/model/collectives/prior_collectives.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/prior_curves.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/kernels/scan.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/replica/expert_exchange.hpp>
#include <headroom/model/serve/replica/prompt_launches.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/model/serve/replica/replica_kernels.hpp>
#include <headroom/model/serve/replica/replica_links.hpp>
#include <headroom/model/workload/layer_ops.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace headroom {
namespace {

/// The layers of one kind, as one rank runs them.
struct Layer {
  double count = 0.0;
  double parts = 1.0;  ///< norms with their residuals, and reductions of tensor ranks
  LayerOps ops;
};

struct Ranks {
  double tp = 1.0;      ///< of attention and dense feed-forwards
  double groups = 1.0;  ///< attention-DP
  double expert_tp = 1.0, ep = 1.0;
};

Ranks ranks_of(const ServingLayout& layout) noexcept {
  Ranks r;
  r.tp = real(layout.tp);
  r.groups = real(layout.attention_groups());
  r.ep = real(layout.ep);
  r.expert_tp = layout.ep >= layout.tp ? 1.0 : real(layout.tp) / real(layout.ep);
  if (layout.cut_experts) {
    std::swap(r.ep, r.expert_tp);
  }
  return r;
}

/// The engines' own kernels move words of 16 bytes (vllm/distributed/device_communicators/custom_all_reduce.py,
/// should_custom_ar): sums of one token go through NCCL.
constexpr Bytes least_custom{16.0};

/// Attention of a cache of the formats, with the bytes of an element scaled: latents serve as keys and as values.
AttentionFormat attention_format_of(const ReplicaFormats& formats, double share) {
  AttentionFormat f = *find_attention_format(stored_bytes(formats.cache) < 2.0 ? "bf16/fp8" : "bf16/bf16");
  f.cache_bytes = share * row_of(formats.cache).weight_bytes;
  return f;
}

/// Share of a product of narrow weights that multiplies rather than reads: nothing while one tile of 16 rows holds all
/// rows, all of it from 64 rows on, between them by the logarithm.
double many_rows(double rows) noexcept {
  return std::clamp(0.5 * std::log2(std::max(1.0, rows) / 16.0), 0.0, 1.0);
}

/// The share of a tile of 64 rows that so many rows leave empty: the one tile for fp8 scaled by blocks that vLLM has
/// where nobody tuned one (fused_moe.py, get_default_config).
double unfilled_tile(double rows) noexcept {
  return std::max(0.0, 1.0 - rows / 64.0);
}

/// Projections to and from a latent of the experts are of that part too, but whole on each rank, and all experts wait
/// for them.
bool of_shared_expert(const LayerOp& op) noexcept {
  return op.part == LayerPart::shared && op.weights.whole == 0.0;
}

Replica::Mxfp4Experts mxfp4_experts_of(const KernelFormats& names) noexcept {
  using Form = Replica::Mxfp4Experts;
  const bool packed = names.experts.front()->name == "w4a16_mxfp4";
  return !packed && names.experts.front()->name != "w4a8_mxfp4_mxfp8" ? Form::none
         : packed && names.experts.size() == 1                        ? Form::unpacked
                                                                      : Form::native;
}

}  // namespace

struct Replica::Compiled {
  ServingLayout layout;
  Ranks ranks;
  std::vector<Layer> layers;
  double layer_count = 0.0;  ///< of a mixer and a feed-forward; a layer of one of them is half of one
  double expert_layers = 0.0, delta_layers = 0.0, prompt_kernels = 0.0;
  double hidden = 0.0, vocab = 0.0, logit_bytes = 4.0, filter_bytes = 0.0;
  bool gated = false;
  bool weight_only = false, experts_wide = false;
  bool nvfp4 = false, gptq = false;
  bool block_experts = false, mixed_attention = false;  ///< mixed: decodes beside prompts run in their call
  double shared_beside = 0.0;                           ///< most tokens with shared experts beside the routed ones
  bool joined_norms = false;                            ///< a norm whose sums are reduced is one kernel
  Mxfp4Experts mxfp4 = Mxfp4Experts::none;
  double indexed_layers = 0.0;
  GemmModel product, half;
  PrefillModel prefill;
  DecodeModel decode;
  MemoryModel memory;
  ScanModel scan;
  std::vector<ExpertKernels> experts;  ///< families of kernels, of which the engine takes the fastest
  MoeRouting routing;
  std::optional<GroupCollectives> tensor;
  std::optional<ExpertExchange> exchange;
  std::optional<CustomAllReduceModel> custom;
  GroupView tensor_view;
  BytesPerSecond send{};
  AttentionFormat cache;
  double bandwidth = 1.0, wide_peak = 1.0, product_peak = 1.0;  ///< of the datasheet
  double weight_bytes = 2.0;                                    ///< of a product's weight
  double vector_peak = HUGE_VAL;                                ///< FLOP/s of fp32 on the vector units
  std::vector<std::string> sources;

  void layer_terms(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept;
  void layer_attention(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept;
  using OfLayer = void (Compiled::*)(const Layer&, const IterationMix&, IterationTerms&) const noexcept;
  /// `of` summed over the layers, of both halves of a batch that takes turns.
  [[nodiscard]] IterationTerms all_layers(bool halves, IterationMix mix, OfLayer of) const noexcept {
    if (halves) {
      mix.decodes *= 0.5;
      mix.chunk_tokens *= 0.5;
    }
    IterationTerms t;
    for (const Layer& layer : layers) {
      (this->*of)(layer, mix, t);
    }
    if (halves) {
      t.double_all();
    }
    return t;
  }
  void product_terms(const LayerOp& op, double count, double rows, IterationTerms& t) const noexcept;
  /// Seconds of ExLlama's kernels: of the product, and of writing the weights out before it.
  [[nodiscard]] double gptq_product(const GemmShape& shape) const noexcept;
  [[nodiscard]] double writing_out(const GemmShape& shape) const noexcept;
  void attention_terms(const LayerOp& op, double count, const IterationMix& mix, IterationTerms& t) const noexcept;
  void state_terms(const LayerOp& op, double count, const IterationMix& mix, IterationTerms& t) const noexcept;
  void beside_experts(const IterationTerms& shared, double routed, double count, IterationTerms& t) const noexcept;
  void expert_terms(const LayerOp& op, double count, double tokens, IterationTerms& t) const noexcept;
  void end_terms(const IterationMix& mix, IterationTerms& t) const noexcept;
  [[nodiscard]] double all_reduce(Bytes bytes) const noexcept;
};

namespace {

/// The engine's kernel for small all-reduces inside graphs; nothing where it was not measured on this link.
std::optional<CustomAllReduceModel> custom_all_reduce(const ChosenCollectives& chosen, const EngineKernels& kernels) {
  for (const FittedCustom& c : chosen.set.custom) {
    if (c.provenance.engine == kernels.curves && c.provenance.format.find("eager") == std::string::npos) {
      return CustomAllReduceModel{c.values, chosen.curves(), false};
    }
  }
  return std::nullopt;
}

}  // namespace

Replica::Replica(const ModelData& data,
                 const Architecture& arch,
                 const Device& sku,
                 const Node* node,
                 const EngineKernels& kernels,
                 const ServingLayout& layout,
                 const ReplicaFormats& formats) {
  const CurveSet& set = curve_set_or_prior(data, sku);
  const double slower = board_factor(data, sku);
  std::optional<Device> changed;
  if (sku.curves.empty()) {
    changed = with_measured_units(sku);
  } else if (slower > 1.0) {
    changed = with_lower_peaks(sku, slower);
  }
  const Device& device = changed ? *changed : sku;
  const KernelFormats names = kernel_formats(arch, device, formats);
  const GemmFormat& product = *names.product;
  const GemmFormat& half = *names.half;
  const GemmFormat& grouped = *names.experts.front();
  const double share = arch.mla ? (real(arch.mla->kv_rank) + real(arch.mla->rope_dim)) /
                                      (2.0 * real(arch.mla->kv_rank) + real(arch.mla->rope_dim))
                                : 1.0;
  const AttentionFormat cache = attention_format_of(formats, share);
  const AttentionFormat fresh = attention_format_of(formats, 1.0);
  const KernelDevice wide = kernel_device(device, half.rate);
  EngineKernels placed = kernels;
  for (const GenerationKernels& other : kernels.generations) {
    placed.curves = other.generation == device.generation ? other.curves : placed.curves;
  }
  const std::string& engine = placed.curves;
  if (layout.balanced) {
    placed.routing = {Routing::uniform, 0.0};
  }
  std::vector<std::string> sources;
  const auto prefill = of_engine(engine, [&](std::string_view e) { return choose_prefill(set, device, fresh, e); });
  const auto decode = of_engine(engine, [&](std::string_view e) { return choose_decode(set, device, cache, e); });
  const ChosenMemory memory =
      of_engine(engine, [&](std::string_view e) { return choose_memory(set, device, "scale_matrix", e); });
  sources.push_back("prefill attention: " + prefill.why);
  sources.push_back("decode attention: " + decode.why);
  sources.push_back("passes: " + memory.why);
  if (slower > 1.0) {
    sources.push_back("products at " + percent(1.0 / slower) + " of that rate, by the board's power");
  }
  if (formats.weights == Precision::mxfp4 && !arch.moe) {
    sources.push_back("products of mxfp4 are those of " + std::string{product.name} +
                      "'s kernels: 4 bits a weight as well, in blocks of another size");
  }
  bool narrow_borrowed = false;
  bool half_borrowed = false;
  compiled_ = std::make_unique<Compiled>(Compiled{
      layout,
      ranks_of(layout),
      {},
      0.0,
      0.0,
      0.0,
      0.0,
      real(arch.hidden),
      real(arch.vocab),
      4.0,
      kernels.filter_bytes,
      arch.gated_mlp,
      false,
      false,
      product.name == "nvfp4",
      formats.kernels == WeightKernels::gptq && product.weight_bytes < 2.0 && product.activation_bytes >= 2.0,
      names.experts.front()->name == "fp8_block",
      attention_is_mixed(data, engine, device, arch, sources),
      kernels.shared_beside,
      kernels.joined_norms,
      mxfp4_experts_of(names),
      0.0,
      product_model(set, device, engine, product, half, sources, narrow_borrowed),
      product_model(set, device, engine, half, half, sources, half_borrowed),
      PrefillModel{prefill_of(prefill.curve->values, data, engine, device, arch, sources), wide, fresh},
      DecodeModel{decode.curve->values, wide, cache},
      MemoryModel{memory.values, wide},
      ScanModel{data, device, half.rate},
      {},
      placed.routing,
      std::nullopt,
      std::nullopt,
      std::nullopt,
      {},
      {},
      cache,
      device.bandwidth().raw(),
      wide.peak.raw(),
      kernel_device(device, product.rate).peak.raw(),
      product.weight_bytes,
      vector_peak_of(device),
      {},
  });
  Compiled& c = *compiled_;
  c.weight_only = narrow_borrowed && product.weight_bytes < 2.0 && product.activation_bytes >= 2.0 && !c.gptq;
  if (c.gptq) {
    sources.push_back("products by ExLlama's kernels: " + format_number(gptq_rows) +
                      " rows a pass over the weights, from " + format_number(gptq_largest(product.weight_bytes) + 1.0) +
                      " on a 16-bit product of weights that are "
                      "written out first");
  }
  const LaunchedForm launched{
      product.activation_bytes<2.0, grouped.activation_bytes<2.0, layout.tp> 1, c.ranks.groups> 1.0};
  for (const CountedBlock& counted : distinct_blocks(arch)) {
    const Block& block = counted.block;
    const double parts =
        (block.mixer != Mixer::none ? 1.0 : 0.0) + (block.feed_forward != FeedForward::none ? 1.0 : 0.0);
    c.layers.push_back({real(counted.layers), parts, layer_ops(arch, block, LayerForm::serving, c.ranks.tp)});
    c.layer_count += 0.5 * parts * real(counted.layers);
    c.expert_layers += block.feed_forward == FeedForward::moe ? real(counted.layers) : 0.0;
    c.delta_layers += block.mixer == Mixer::delta_net || block.mixer == Mixer::kda ? real(counted.layers) : 0.0;
    c.prompt_kernels += real(counted.layers) * launched_kernels(arch, c.layers.back().ops, parts, launched);
    const LayerOp* const attention = c.layers.back().ops.find(LayerOpKind::attention);
    c.indexed_layers += attention != nullptr && attention->selected > 0.0 ? real(counted.layers) : 0.0;
  }
  if (c.expert_layers > 0.0) {
    bool borrowed = false;
    c.experts = expert_models(set, device, placed, names.experts, half, sources, borrowed);
    c.experts_wide = borrowed && grouped.weight_bytes < 2.0 && grouped.activation_bytes >= 2.0;
  }
  if (layout.tp > 1) {
    const GroupView view = group_view(device, node, layout.tp);
    const ChosenCollectives chosen = collectives_or_prior(data, device, view);
    c.tensor_view = mesh_view(device, node, view);
    c.tensor.emplace(chosen.curves(), find_transport(data, "infiniband").curve, c.tensor_view);
    c.custom = custom_all_reduce(chosen, kernels);
    sources.push_back("all-reduce: " + chosen.why);
  }
  if (c.ranks.groups > 1.0) {
    const Moe moe = arch.moe.value_or(Moe{});
    const ExpertExchange::Layer exchanged{real(moe.latent > 0 ? moe.latent : arch.hidden),
                                          real(moe.top_k),
                                          real(moe.experts),
                                          std::min(2.0, grouped.activation_bytes),
                                          formats.activations,
                                          {moe.groups, moe.top_groups},
                                          layout.balanced ? ExpertPlaces::balanced : ExpertPlaces::contiguous};
    const GroupView view = group_view(device, node, layout.ep);
    // Slices of experts need every token on every rank.
    const std::span<const AllToAllRule> rules =
        layout.cut_experts ? std::span<const AllToAllRule>{} : std::span<const AllToAllRule>{kernels.all_to_all};
    c.exchange.emplace(data, device, mesh_view(device, node, view), rules, exchanged,
                       collectives_or_prior(data, device, view));
    sources.push_back(c.exchange->source());
  }
  if (layout.pp > 1) {
    const std::int64_t joined = std::max<std::int64_t>(2, std::min(layout.gpus(), node != nullptr ? node->gpus : 2));
    c.send = mesh_view(device, node, group_view(device, node, joined)).inside_pair;
  }
  c.sources = std::move(sources);
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

double Replica::Compiled::all_reduce(Bytes bytes) const noexcept {
  if (!tensor) {
    return 0.0;
  }
  const Seconds library = tensor->time(Collective::all_reduce, bytes).time;
  return (custom && bytes >= least_custom ? custom->time(bytes, tensor_view, library) : library).raw();
}

double Replica::Compiled::writing_out(const GemmShape& shape) const noexcept {
  const double weights = shape.n * shape.k;
  return shape.m <= gptq_largest(weight_bytes)
             ? 0.0
             : memory.time({Bytes{weights * weight_bytes}, Bytes{2.0 * weights}, 0.0}).raw();
}

double Replica::Compiled::gptq_product(const GemmShape& shape) const noexcept {
  if (shape.m > gptq_largest(weight_bytes)) {
    return half.time(shape).raw();
  }
  // All blocks of rows run beside each other, so that the weights come from memory once and from L2 for the others.
  const double l2 = gemm_parameters()[static_cast<std::size_t>(GemmParameter::l2_rate)].prior;
  const double further = std::ceil(shape.m / gptq_rows) - 1.0;
  return product.time({std::min(shape.m, gptq_rows), shape.n, shape.k}).raw() +
         further * shape.n * shape.k * weight_bytes / (l2 * bandwidth);
}

void Replica::Compiled::product_terms(const LayerOp& op, double count, double rows, IterationTerms& t) const noexcept {
  if (rows <= 0.0) {
    return;
  }
  const bool wide_weights = op.part == LayerPart::router;  // in 16 bit whatever the format of the others
  const GemmShape shape{std::max(1.0, rows * op.rows), op.n, op.k};
  const GemmModel& kernel = wide_weights ? half : product;
  const bool by_gptq = gptq && !wide_weights;
  const double written_out = by_gptq ? count * writing_out(shape) : 0.0;
  const double seconds = count * (by_gptq ? gptq_product(shape) : kernel.time(shape).raw()) + written_out;
  t[IterationTerm::products] += seconds;
  t.written_out_products += written_out;
  t.unpacked_products += weight_only && !wide_weights ? many_rows(shape.m) * seconds : 0.0;
  t.sustained_products += count * (by_gptq ? half : kernel).sustained(shape).raw();
  const double read = op.n * op.k * (wide_weights ? 2.0 : weight_bytes) / bandwidth;
  const double work = gemm_flops(shape.m, shape.n, shape.k).raw() / (wide_weights ? wide_peak : product_peak);
  t.least_products += count * std::max(read, work);
}

void Replica::Compiled::attention_terms(const LayerOp& op,
                                        double count,
                                        const IterationMix& mix,
                                        IterationTerms& t) const noexcept {
  AttentionShape s{1.0, 1.0, 1.0, op.heads, op.kv_heads, 0.5 * (op.width + op.value_width), op.window};
  if (mix.chunks > 0.0 && op.tokens != LayerTokens::decodes) {
    s.batch = std::max(1.0, mix.chunks / ranks.groups);
    s.tokens = mix.chunk_tokens;
    s.context = mix.chunk_keys;
    t[IterationTerm::prefill_attention] += count * prefill.time(s).raw();
    t.least_prefill += count * attention_flops(s).raw() / wide_peak;
  }
  if (mix.decodes > 0.0 && op.tokens != LayerTokens::prompts) {
    s.batch = std::max(1.0, mix.decodes / ranks.groups);
    s.tokens = mix.queries;
    s.context = mix.keys + (mix.queries - 1.0);
    if (op.selected > 0.0 && mix.keys > op.selected) {
      // Each token selects keys of its own.
      s.batch *= mix.queries;
      s.tokens = 1.0;
      s.context = op.selected + op.indexed * mix.keys;
    }
    t.least_decode += count * attention_bytes(s, cache).raw() / bandwidth;
    if (mixed_attention && mix.chunks > 0.0 && op.tokens == LayerTokens::all) {
      s.kv_heads = s.heads;  // each query head reads the cache by itself
    }
    t[IterationTerm::decode_attention] += count * decode.time(s).raw();
    t.decode_on_vector_units += count * (attention_flops(s).raw() / vector_peak);
  }
}

/// A recurrent state is read and written once a step, and kept after each token of a draft to go back to. Chunks of
/// prompts run the kernels of training, one after another.
void Replica::Compiled::state_terms(const LayerOp& op,
                                    double count,
                                    const IterationMix& mix,
                                    IterationTerms& t) const noexcept {
  const double bytes = op.state / ranks.tp;
  if (mix.decodes > 0.0) {
    const double sequences = std::max(1.0, mix.decodes / ranks.groups);
    const double drafts = sequences * (mix.queries - 1.0);
    t[IterationTerm::decode_attention] +=
        count * memory.time({Bytes{sequences * bytes}, Bytes{(sequences + drafts) * bytes}, 0.0}).raw();
    t.least_decode += count * (2.0 * sequences + drafts) * bytes / bandwidth;
  }
  if (mix.chunks > 0.0) {
    const double sequences = std::max(1.0, mix.chunks / ranks.groups);
    const ScanShape shape{op.mixer,    sequences, mix.chunk_tokens, op.heads,
                          op.kv_heads, op.width,  op.value_width,   op.chunk};
    const Seconds launches = scan_kernels(op.mixer) * memory.time({});
    t[IterationTerm::scan] += count * (scan.forward(shape) + launches).raw();
  }
}

void Replica::Compiled::expert_terms(const LayerOp& op, double count, double tokens, IterationTerms& t) const noexcept {
  const double held = op.count + real(layout.redundant);
  const MoeShape shape{std::max(1.0, tokens), op.input, op.width, op.top_k, held, ranks.expert_tp, ranks.ep, gated};
  const ExpertLoad load = expert_load(shape, routing);
  double fastest = std::numeric_limits<double>::max();
  double launch = 0.0;
  for (const ExpertKernels& kernel : experts) {
    const double seconds = kernel.model.time(shape, load).raw();
    launch = seconds < fastest ? kernel.launch : launch;
    fastest = std::min(fastest, seconds);
  }
  t[IterationTerm::experts] += count * fastest;
  t.expert_launches += count * launch;
  t.unfilled_experts += count * fastest * unfilled_tile(shape.tokens * shape.topk / shape.experts);
}

/// Adds shared experts of `count` layers that run beside routed ones of so many seconds each: what the routed ones do
/// not hide, but no less than their own bytes and FLOP, which both have to share.
void Replica::Compiled::beside_experts(const IterationTerms& shared,
                                       double routed,
                                       double count,
                                       IterationTerms& t) const noexcept {
  const double alone = shared[IterationTerm::products];
  if (alone <= 0.0) {
    return;
  }
  const double least = std::min(alone, std::max(shared.least_products, shared.sustained_products));
  const double left = std::max(least, alone + shared[IterationTerm::passes] - routed);
  t[IterationTerm::products] += count * left;
  t.least_products += count * shared.least_products;
  t.sustained_products += count * std::min(least, shared.sustained_products);
  t.unpacked_products += count * left * shared.unpacked_products / alone;
  t.written_out_products += count * left * shared.written_out_products / alone;
}

void Replica::Compiled::layer_terms(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept {
  const double n = layer.count;
  const double all = mix.tokens();
  // Under attention-DP a sequence stays in its group: one prompt is one group's alone.
  const double prompts = mix.chunks > 0.0 ? std::max(1.0, mix.chunks / ranks.groups) * mix.chunk_tokens : 0.0;
  const double decoded = mix.decodes * mix.queries / ranks.groups;
  const double own = std::max(1.0, decoded + prompts);
  bool routed = false;
  const bool beside = mix.chunks <= 0.0 && own <= shared_beside;
  IterationTerms shared;  // of one layer, beside its routed experts
  Seconds shared_passes{};
  const double experts_before = t[IterationTerm::experts];
  const Bytes rows{4.0 * own * hidden};  // two operands of 16 bit in, two out: the sum and its norm
  Seconds passes = layer.parts * memory.time({rows, rows, own});
  for (const LayerOp& op : layer.ops) {
    switch (op.kind) {
      case LayerOpKind::product:
        if (beside && of_shared_expert(op)) {
          product_terms(op, 1.0, own, shared);
          break;
        }
        product_terms(op, n,
                      op.tokens == LayerTokens::decodes   ? decoded
                      : op.tokens == LayerTokens::prompts ? prompts
                                                          : own,
                      t);
        break;
      case LayerOpKind::attention: attention_terms(op, n, mix, t); break;
      case LayerOpKind::scan: state_terms(op, n, mix, t); break;
      case LayerOpKind::experts:
        expert_terms(op, n, all, t);
        routed = exchange.has_value();
        break;
      case LayerOpKind::pass:
        if (op.of_mixer) {  // one row in or out is written, the others are read
          const double row = 2.0 * own * op.width;
          passes += memory.time({Bytes{(op.forward - 1.0) * row}, Bytes{row}, 0.0});
        }
        break;
      case LayerOpKind::activation:
        (beside && of_shared_expert(op) ? shared_passes : passes) +=
            memory.time({Bytes{4.0 * own * op.width}, Bytes{2.0 * own * op.width}, 0.0});
        break;
      case LayerOpKind::reduction:
        if (op.width > 0.0) {
          const Bytes sums{4.0 * own * op.width};
          t[IterationTerm::all_reduce] += n * all_reduce(sums);
          passes += joined_norms ? Seconds{} : memory.time({Bytes{2.0 * own * op.input}, sums, 0.0});
        }
        break;
      case LayerOpKind::exchange: break;
    }
  }
  shared[IterationTerm::passes] = shared_passes.raw();
  beside_experts(shared, (t[IterationTerm::experts] - experts_before) / n, n, t);
  t[IterationTerm::all_reduce] +=
      n * (routed ? layer.parts - 1.0 : layer.parts) * all_reduce(Bytes{2.0 * own * hidden});
  if (routed) {
    // Tensor ranks of a group share its tokens out.
    t[IterationTerm::exchange] += n * exchange->seconds({own / ranks.tp, all, prompts > 0.0});
  }
  t[IterationTerm::passes] += n * passes.raw();
}

void Replica::Compiled::layer_attention(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept {
  for (const LayerOp& op : layer.ops) {
    if (op.kind == LayerOpKind::attention) {
      attention_terms(op, layer.count, mix, t);
    } else if (op.kind == LayerOpKind::scan) {
      state_terms(op, layer.count, mix, t);
    }
  }
}

void Replica::Compiled::end_terms(const IterationMix& mix, IterationTerms& t) const noexcept {
  const double rows = (mix.decodes * mix.queries + mix.ending) / ranks.groups;
  if (rows > 0.0) {
    const double sampled = std::max(1.0, rows);
    Seconds head = half.time({sampled, vocab / ranks.tp, hidden});
    if (tensor) {
      head += tensor->time(Collective::all_gather, Bytes{2.0 * sampled * vocab}).time;
    }
    const Bytes logits{logit_bytes * sampled * vocab};
    head += memory.time({logits, logits, 0.0}) + Seconds{filter_bytes * sampled * vocab / bandwidth};
    t[IterationTerm::head] += head.raw();
  }
  if (layout.pp > 1) {
    t[IterationTerm::stages] +=
        (real(layout.pp) - 1.0) * (Bytes{2.0 * mix.tokens() * hidden} / send + Seconds{10e-6}).raw();
  }
}

bool Replica::takes_turns(const IterationMix& mix) const noexcept {
  return compiled_->layout.two_batches && compiled_->exchange && mix.tokens() >= 2.0 * compiled_->ranks.groups;
}

IterationTerms Replica::terms(const IterationMix& mix) const noexcept {
  IterationTerms t = compiled_->all_layers(takes_turns(mix), mix, &Compiled::layer_terms);
  compiled_->end_terms(mix, t);
  return t;
}

IterationTerms Replica::attention(const IterationMix& mix) const noexcept {
  return compiled_->all_layers(takes_turns(mix), mix, &Compiled::layer_attention);
}

double Replica::layers() const noexcept {
  return compiled_->layer_count;
}
double Replica::prompt_kernels() const noexcept {
  return compiled_->prompt_kernels;
}
double Replica::delta_layers() const noexcept {
  return compiled_->delta_layers;
}
double Replica::expert_layers() const noexcept {
  return compiled_->expert_layers;
}
bool Replica::weight_only() const noexcept {
  return compiled_->weight_only;
}
bool Replica::narrow_experts_wide() const noexcept {
  return compiled_->experts_wide;
}
Replica::Mxfp4Experts Replica::mxfp4_experts() const noexcept {
  return compiled_->expert_layers > 0.0 ? compiled_->mxfp4 : Mxfp4Experts::none;
}
bool Replica::nvfp4() const noexcept {
  return compiled_->nvfp4;
}
bool Replica::block_experts() const noexcept {
  return compiled_->block_experts;
}
double Replica::indexed_layers() const noexcept {
  return compiled_->indexed_layers;
}
bool Replica::dispatches(bool prompts) const noexcept {
  return compiled_->exchange && compiled_->exchange->measured(prompts);
}
const ServingLayout& Replica::layout() const noexcept {
  return compiled_->layout;
}
const std::vector<std::string>& Replica::sources() const noexcept {
  return compiled_->sources;
}

}  // namespace headroom
