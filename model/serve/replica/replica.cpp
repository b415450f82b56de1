// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/collectives/custom_all_reduce.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/layers/layer_ops.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/replica/expert_exchange.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace headroom {
namespace {

/// A product of `rows` x `k` activations with `k` x `n` weights, `times` in a layer.
struct Product {
  double n = 0.0, k = 0.0;
  double row_factor = 1.0;  ///< rows for each token
  double times = 1.0;
  bool half = false;  ///< in 16 bit whatever the format of the weights
  enum class Of : std::uint8_t { all, decodes, prompts } of = Of::all;
};

/// The layers of one kind, as one rank runs them.
struct Layer {
  double count = 0.0;
  std::vector<Product> products;
  bool attends = false;
  AttentionShape decode, prefill;   ///< heads and widths; batch and lengths are the step's
  double selected = 0.0;            ///< keys that a sparse indexer keeps; 0: none
  double indexed = 0.0;             ///< bytes of the indexer's own cache a key, over those of the attended cache
  double state_bytes = 0.0;         ///< of a recurrent layer, of one sequence and rank
  std::optional<MoeShape> experts;  ///< without its tokens
  double activation = 0.0;          ///< width of the feed-forward on a rank
  bool feeds = false;               ///< has a feed-forward
};

struct Ranks {
  double tp = 1.0;      ///< of attention
  double groups = 1.0;  ///< attention-DP
  double ffn = 1.0;     ///< ranks that share a dense feed-forward
  double expert_tp = 1.0, ep = 1.0;
};

Ranks ranks_of(const ServingLayout& layout) noexcept {
  Ranks r;
  r.tp = real(layout.tp);
  r.groups = real(layout.attention_groups());
  r.ffn = r.tp;
  r.ep = real(layout.ep);
  r.expert_tp = layout.ep >= layout.tp ? 1.0 : real(layout.tp) / real(layout.ep);
  return r;
}

/// Curves of the engine where it was measured, else of any.
template <typename Choose>
auto of_engine(const std::string& engine, const Choose& choose) {
  try {
    return choose(std::string_view{engine});
  } catch (const ConfigError&) {
    return choose(std::string_view{});
  }
}

GemmModel product_model(const CurveSet& set,
                        const Device& device,
                        const std::string& engine,
                        const GemmFormat& format,
                        const GemmFormat& wide,
                        std::vector<std::string>& sources,
                        bool& borrowed) {
  const auto chosen = of_engine(engine, [&](std::string_view e) { return choose_gemm(set, device, format, e); });
  borrowed = chosen.curve->provenance.format != format.name;
  const auto plain = of_engine(engine, [&](std::string_view e) { return choose_gemm(set, device, wide, e); });
  GemmCurve curve = chosen.curve->values;
  // Benchmarks of narrow products launch the cast of their activations too; an engine fuses it into the pass before.
  constexpr auto launch = static_cast<std::size_t>(GemmParameter::launch);
  curve[launch] = std::min(curve[launch], plain.curve->values[launch]);
  sources.push_back("products: " + chosen.why);
  return GemmModel{curve, kernel_device(device, format.rate), format};
}

double vector_peak_of(const Device& device) noexcept {
  const auto& peak = device.peak[static_cast<std::size_t>(Rate::fp32_vector)];
  return peak ? peak->value.raw() : HUGE_VAL;
}

/// Attention of a cache of the formats, with the bytes of an element scaled: latents serve as keys and as values.
AttentionFormat attention_format_of(const ReplicaFormats& formats, double share) {
  AttentionFormat f = *find_attention_format(stored_bytes(formats.cache) < 2.0 ? "bf16/fp8" : "bf16/bf16");
  f.cache_bytes = share * row_of(formats.cache).weight_bytes;
  return f;
}

}  // namespace

struct Replica::Compiled {
  ServingLayout layout;
  Ranks ranks;
  std::vector<Layer> layers;
  double layer_count = 0.0, expert_layers = 0.0;
  double hidden = 0.0, vocab = 0.0, logit_bytes = 4.0;
  bool weight_only = false, experts_wide = false;
  GemmModel product, half;
  PrefillModel prefill;
  DecodeModel decode;
  MemoryModel memory;
  std::vector<MoeModel> experts;  ///< families of kernels, of which the engine takes the fastest
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
  void attention_terms(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept;
  void end_terms(const IterationMix& mix, IterationTerms& t) const noexcept;
  [[nodiscard]] double all_reduce(double tokens) const noexcept;
};

namespace {

void attention_layer(const Architecture& arch, const Block& b, double tp, Layer& layer) {
  const double heads = real(b.heads) / tp;
  const double kv_heads = std::max(1.0, real(b.kv_heads) / tp);
  const double width = real(b.head_dim);
  const double values = real(b.values());
  const double gate = arch.output_gate ? heads * values : 0.0;
  layer.products.push_back({heads * width + gate + kv_heads * (width + values), real(arch.hidden)});
  layer.products.push_back({real(arch.hidden), heads * values});
  layer.attends = true;
  layer.decode = {1.0, 1.0, 1.0, heads, kv_heads, 0.5 * (width + values), real(b.window)};
  layer.prefill = layer.decode;
}

/// DeepSeek-AI 2024 (DeepSeek-V2), section 2.1. Decode absorbs the up-projections: queries meet the latent itself, so
/// that a key counts kv_rank + rope_dim numbers once; prompts form keys and values again.
void latent_layer(const Architecture& arch, const Block& b, double tp, Layer& layer) {
  using Of = Product::Of;
  const Mla mla = arch.mla.value_or(Mla{});
  const double heads = real(b.heads) / tp;
  const double nope = real(mla.nope_dim);
  const double rope = real(mla.rope_dim);
  const double values = real(mla.value_dim);
  const double latent = real(mla.kv_rank);
  const double q_rank = real(mla.q_rank);
  layer.products.push_back({q_rank + latent + rope + (q_rank > 0.0 ? 0.0 : heads * (nope + rope)), real(arch.hidden)});
  if (q_rank > 0.0) {
    layer.products.push_back({heads * (nope + rope), q_rank});
  }
  layer.products.push_back({latent, nope, heads, 1.0, false, Of::decodes});
  layer.products.push_back({values, latent, heads, 1.0, false, Of::decodes});
  layer.products.push_back({heads * (nope + values), latent, 1.0, 1.0, false, Of::prompts});
  layer.products.push_back({real(arch.hidden), heads * values});
  layer.attends = true;
  layer.decode = {1.0, 1.0, 1.0, heads, 1.0, latent + 0.5 * rope, real(b.window)};
  layer.prefill = {1.0, 1.0, 1.0, heads, heads, 0.5 * (nope + rope + values), real(b.window)};
  if (mla.index_heads > 0) {
    // DeepSeek-AI 2025 (DeepSeek-V3.2-Exp), section 2: 2,048 keys are attended, all are scored by the indexer.
    layer.selected = 2048.0;
    layer.indexed = real(mla.index_dim) / (latent + rope);
  }
}

void dense_feed_forward(const Architecture& arch, double width, Layer& layer) {
  layer.products.push_back({(arch.gated_mlp ? 2.0 : 1.0) * width, real(arch.hidden)});
  layer.products.push_back({real(arch.hidden), width});
  layer.activation += width;
}

void expert_feed_forward(const Architecture& arch, const Ranks& ranks, Layer& layer) {
  const Moe moe = arch.moe.value_or(Moe{});
  Product router{real(moe.experts), real(arch.hidden)};
  router.half = true;
  layer.products.push_back(router);
  MoeShape shape;
  shape.hidden = real(arch.hidden);
  shape.inter = real(moe.expert_ffn_hidden);
  shape.topk = real(moe.top_k);
  shape.experts = real(moe.experts);
  shape.tp = ranks.expert_tp;
  shape.ep = ranks.ep;
  shape.gated = arch.gated_mlp;
  layer.experts = shape;
  if (moe.shared_ffn_hidden > 0) {
    dense_feed_forward(arch, real(moe.shared_ffn_hidden) / ranks.ffn, layer);
  }
}

Layer compile_layer(const Architecture& arch, const CountedBlock& counted, const Ranks& ranks) {
  Layer layer;
  layer.count = real(counted.layers);
  const Block& b = counted.block;
  switch (b.mixer) {
    case Mixer::attention: attention_layer(arch, b, ranks.tp, layer); break;
    case Mixer::mla: latent_layer(arch, b, ranks.tp, layer); break;
    case Mixer::none: break;
    case Mixer::mamba:
    case Mixer::mamba2:
    case Mixer::delta_net:
      // Its matrices as one product; its state is read and written once a step.
      layer.products.push_back({block_parameters(arch, b).mixer / ranks.tp / real(arch.hidden), real(arch.hidden)});
      layer.state_bytes = 2.0 * state_elements(arch, b) / ranks.tp;
      break;
  }
  layer.feeds = b.feed_forward != FeedForward::none;
  if (b.feed_forward == FeedForward::moe) {
    expert_feed_forward(arch, ranks, layer);
  } else if (layer.feeds) {
    dense_feed_forward(arch, real(b.ffn_hidden) / ranks.ffn, layer);
  }
  return layer;
}

constexpr auto moe_launch = static_cast<std::size_t>(MoeParameter::launch);

/// The shortest chain of launches around an engine's grouped products. Benchmarks of some families launch host work and
/// casts with them that a replayed graph does not hold.
double least_launch(const CurveSet& set, const std::string& engine) {
  double least = std::numeric_limits<double>::max();
  for (const FittedMoe& c : set.moe) {
    least = c.provenance.engine == engine ? std::min(least, c.values[moe_launch]) : least;
  }
  return least;
}

/// The one family that the engine's release ran in a format, where it was measured; empty: any.
std::string_view only_family(const CurveSet& set,
                             const Device& device,
                             const EngineKernels& kernels,
                             std::string_view format) {
  for (const ExpertFamily& family : kernels.families) {
    const bool measured = std::any_of(set.moe.begin(), set.moe.end(), [&](const FittedMoe& c) {
      const CurveProvenance& p = c.provenance;
      return p.engine == kernels.curves && p.format == format && p.kernel == family.kernel;
    });
    if (family.format == format && family.generation == device.generation && measured) {
      return family.kernel;
    }
  }
  return {};
}

/// Every family of kernels that the engine was measured with in these formats, with loads like the routing's where
/// there are such; of any engine where it was not measured. Weights that nobody measured narrow run the wide kernels.
std::vector<MoeModel> expert_models(const CurveSet& set,
                                    const Device& device,
                                    const EngineKernels& kernels,
                                    const std::vector<const GemmFormat*>& formats,
                                    const GemmFormat& half,
                                    std::vector<std::string>& sources,
                                    bool& borrowed) {
  const std::string_view wanted = kernels.routing.kind == Routing::power_law ? "power-law" : "balanced";
  std::vector<MoeModel> models;
  const auto gather = [&](std::string_view engine, const GemmFormat& measured, const GemmFormat& format) {
    const std::string_view only = engine.empty() ? "" : only_family(set, device, kernels, measured.name);
    for (const FittedMoe& c : set.moe) {
      const CurveProvenance& p = c.provenance;
      const bool twin =
          p.routing != wanted && std::any_of(set.moe.begin(), set.moe.end(), [&](const FittedMoe& other) {
            const CurveProvenance& o = other.provenance;
            return o.routing == wanted && o.engine == p.engine && o.format == p.format && o.kernel == p.kernel;
          });
      const bool other = !only.empty() && p.kernel != only;
      if (p.format == measured.name && (engine.empty() || p.engine == engine) && !twin && !other) {
        MoeCurve curve = c.values;
        curve[moe_launch] = std::min(curve[moe_launch], least_launch(set, p.engine));
        models.emplace_back(curve, kernel_device(device, format.rate), format);
        sources.push_back("experts: " + p.engine + " " + p.version + " " + p.kernel + " " + p.format + " kernels of " +
                          p.sku);
      }
    }
  };
  for (const std::string_view engine : {std::string_view{kernels.curves}, std::string_view{}}) {
    for (const GemmFormat* format : formats) {
      gather(engine, *format, *format);
    }
    if (!models.empty()) {
      return models;
    }
  }
  borrowed = true;
  gather("", half, *formats.front());
  if (models.empty()) {
    throw ConfigError{"no layer of experts was measured on the SKU whose curves serve " + device.id};
  }
  return models;
}

/// The engine's kernel for small all-reduces inside graphs; nothing where it was not measured on this link.
std::optional<CustomAllReduceModel> custom_all_reduce(const ChosenCollectives& chosen, const EngineKernels& kernels) {
  for (const FittedCustom& c : chosen.set.custom) {
    if (c.provenance.engine == kernels.curves && c.provenance.format.find("eager") == std::string::npos) {
      return CustomAllReduceModel{c.values, chosen.curves(), false};
    }
  }
  return std::nullopt;
}

/// Cards of a box without a switch: beyond a bridge they meet over PCIe, with peer access, in boxes of up to eight.
constexpr std::int64_t cards_of_a_box = 8;

GroupView card_view(const Device& device, std::int64_t ranks) {
  if (!device.pcie.rate) {
    throw ConfigError{device.id + " has no rate of PCIe in the catalog (pcie.rate)"};
  }
  GroupView view;
  view.ranks = view.per_domain = ranks;
  view.inside = LinkKind::pcie;
  view.inside_ring = view.inside_all = view.inside_pair = device.pcie.rate->value;
  return view;
}

/// GPUs of one host or one NVLink domain, whichever is more.
std::int64_t joined_gpus(const Device& device, const Node* node) noexcept {
  return std::max<std::int64_t>(device.scale_up.domain, node != nullptr ? node->gpus : std::int64_t{1});
}

GroupView group_view(const Device& device, const Node* node, std::int64_t ranks) {
  const LinkTopology topology = node != nullptr ? node->topology : device.scale_up.topology;
  const bool plain =
      topology == LinkTopology::bridge || topology == LinkTopology::pcie || topology == LinkTopology::none;
  const bool cards = plain && !device.power.of_superchip;
  const std::int64_t joined = std::max<std::int64_t>(
      device.scale_up.domain, node != nullptr && topology != LinkTopology::bridge ? node->gpus : std::int64_t{1});
  if (cards && ranks > joined && ranks <= cards_of_a_box) {
    return card_view(device, ranks);
  }
  const std::int64_t each = joined_gpus(device, node);
  const std::int64_t nodes = ranks > each && each > 1 ? (ranks + each - 1) / each : 1;
  return hosts_view(device, node, ranks, nodes);
}

}  // namespace

bool experts_over_nics(const Device& device, const Node* node, const ServingLayout& layout) noexcept {
  return layout.attention_groups() > 1 && layout.ep > joined_gpus(device, node);
}

Replica::Replica(const Architecture& arch,
                 const Device& device,
                 const Node* node,
                 const EngineKernels& kernels,
                 const ServingLayout& layout,
                 const ReplicaFormats& formats) {
  const CurveSet& set = kept_curve_set(device);
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
  const std::string& engine = kernels.curves;
  std::vector<std::string> sources;
  const auto prefill = of_engine(engine, [&](std::string_view e) { return choose_prefill(set, device, fresh, e); });
  const auto decode = of_engine(engine, [&](std::string_view e) { return choose_decode(set, device, cache, e); });
  const ChosenMemory memory =
      of_engine(engine, [&](std::string_view e) { return choose_memory(set, device, "scale_matrix", e); });
  sources.push_back("prefill attention: " + prefill.why);
  sources.push_back("decode attention: " + decode.why);
  sources.push_back("passes: " + memory.why);
  bool narrow_borrowed = false;
  bool half_borrowed = false;
  compiled_ = std::make_unique<Compiled>(Compiled{
      layout,
      ranks_of(layout),
      {},
      real(arch.layers),
      0.0,
      real(arch.hidden),
      real(arch.vocab),
      4.0,
      false,
      false,
      product_model(set, device, engine, product, half, sources, narrow_borrowed),
      product_model(set, device, engine, half, half, sources, half_borrowed),
      PrefillModel{prefill.curve->values, wide, fresh},
      DecodeModel{decode.curve->values, wide, cache},
      MemoryModel{memory.values, wide},
      {},
      kernels.routing,
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
  c.weight_only = narrow_borrowed && product.weight_bytes < 2.0 && product.activation_bytes >= 2.0;
  for (const CountedBlock& counted : distinct_blocks(arch)) {
    c.layers.push_back(compile_layer(arch, counted, c.ranks));
    c.expert_layers += c.layers.back().experts ? real(counted.layers) : 0.0;
  }
  if (c.expert_layers > 0.0) {
    bool borrowed = false;
    c.experts = expert_models(set, device, kernels, names.experts, half, sources, borrowed);
    c.experts_wide = borrowed && grouped.weight_bytes < 2.0 && grouped.activation_bytes >= 2.0;
  }
  if (layout.tp > 1) {
    c.tensor_view = group_view(device, node, layout.tp);
    const ChosenCollectives chosen = choose_collectives(device, c.tensor_view);
    c.tensor.emplace(chosen.curves(), find_transport("infiniband").curve, c.tensor_view);
    c.custom = custom_all_reduce(chosen, kernels);
    sources.push_back("all-reduce: " + chosen.why);
  }
  if (c.ranks.groups > 1.0) {
    const Moe moe = arch.moe.value_or(Moe{});
    const ExpertExchange::Layer exchanged{real(arch.hidden), real(moe.top_k), real(moe.experts),
                                          std::min(2.0, grouped.activation_bytes), formats.activations};
    c.exchange.emplace(device, group_view(device, node, layout.ep), kernels.all_to_all, exchanged);
    sources.push_back(c.exchange->source());
  }
  if (layout.pp > 1) {
    c.send =
        group_view(device, node, std::max<std::int64_t>(2, std::min(layout.gpus(), node != nullptr ? node->gpus : 2)))
            .inside_pair;
  }
  c.sources = std::move(sources);
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

double IterationTerms::total() const noexcept {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double Replica::Compiled::all_reduce(double tokens) const noexcept {
  if (!tensor) {
    return 0.0;
  }
  const Bytes bytes{2.0 * tokens * hidden};
  const Seconds library = tensor->time(Collective::all_reduce, bytes).time;
  return (custom ? custom->time(bytes, tensor_view, library) : library).raw();
}

void Replica::Compiled::attention_terms(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept {
  if (mix.decodes > 0.0) {
    AttentionShape s = layer.decode;
    s.batch = std::max(1.0, mix.decodes / ranks.groups);
    s.tokens = mix.queries;
    s.context = mix.keys + (mix.queries - 1.0);
    if (layer.selected > 0.0 && mix.keys > layer.selected) {
      // Each token selects keys of its own.
      s.batch *= mix.queries;
      s.tokens = 1.0;
      s.context = layer.selected + layer.indexed * mix.keys;
    }
    t[IterationTerm::decode_attention] += layer.count * decode.time(s).raw();
    t.least_decode += layer.count * attention_bytes(s, cache).raw() / bandwidth;
    t.decode_on_vector_units += layer.count * (attention_flops(s).raw() / vector_peak);
  }
  if (mix.chunks > 0.0) {
    AttentionShape s = layer.prefill;
    s.batch = std::max(1.0, mix.chunks / ranks.groups);
    s.tokens = mix.chunk_tokens;
    s.context = mix.chunk_keys;
    t[IterationTerm::prefill_attention] += layer.count * prefill.time(s).raw();
    t.least_prefill += layer.count * attention_flops(s).raw() / wide_peak;
  }
}

void Replica::Compiled::layer_terms(const Layer& layer, const IterationMix& mix, IterationTerms& t) const noexcept {
  const double n = layer.count;
  const double all = mix.tokens();
  // Under attention-DP a sequence stays in its group: one prompt is one group's alone.
  const double prompts = mix.chunks > 0.0 ? std::max(1.0, mix.chunks / ranks.groups) * mix.chunk_tokens : 0.0;
  const double decoded = mix.decodes * mix.queries / ranks.groups;
  const double own = std::max(1.0, decoded + prompts);
  for (const Product& p : layer.products) {
    const double rows = p.of == Product::Of::decodes ? decoded : p.of == Product::Of::prompts ? prompts : own;
    if (rows > 0.0) {
      const GemmShape shape{std::max(1.0, rows * p.row_factor), p.n, p.k};
      const GemmModel& kernel = p.half ? half : product;
      t[IterationTerm::products] += n * p.times * kernel.time(shape).raw();
      t.sustained_products += n * p.times * kernel.sustained(shape).raw();
      const double read = p.n * p.k * (p.half ? 2.0 : weight_bytes) / bandwidth;
      const double work = gemm_flops(shape.m, shape.n, shape.k).raw() / (p.half ? wide_peak : product_peak);
      t.least_products += n * p.times * std::max(read, work);
    }
  }
  if (layer.attends) {
    attention_terms(layer, mix, t);
  }
  if (layer.state_bytes > 0.0) {
    const double sequences = std::max(1.0, (mix.decodes + mix.chunks) / ranks.groups);
    const double drafts = mix.decodes * (mix.queries - 1.0) / ranks.groups;  // states to go back to
    const Bytes in{sequences * layer.state_bytes};
    const Bytes out{(sequences + drafts) * layer.state_bytes};
    t[IterationTerm::decode_attention] += n * memory.time({in, out, 0.0}).raw();
  }
  if (layer.experts) {
    MoeShape shape = *layer.experts;
    shape.tokens = std::max(1.0, all);
    const ExpertLoad load = expert_load(shape, routing);
    double fastest = std::numeric_limits<double>::max();
    for (const MoeModel& kernel : experts) {
      fastest = std::min(fastest, kernel.time(shape, load).raw());
    }
    t[IterationTerm::experts] += n * fastest;
  }
  const double parts = layer.feeds ? 2.0 : 1.0;
  const double reduces = layer.experts && exchange ? 1.0 : parts;
  t[IterationTerm::all_reduce] += n * reduces * all_reduce(own);
  if (layer.experts && exchange) {
    // Tensor ranks of a group share its tokens out.
    t[IterationTerm::exchange] += n * exchange->seconds({own / ranks.tp, all, prompts > 0.0});
  }
  const Bytes rows{4.0 * own * hidden};  // two operands of 16 bit in, two out: the sum and its norm
  Seconds passes = parts * memory.time({rows, rows, own});
  if (layer.activation > 0.0) {
    passes += memory.time({Bytes{4.0 * own * layer.activation}, Bytes{2.0 * own * layer.activation}, 0.0});
  }
  t[IterationTerm::passes] += n * passes.raw();
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
    head += memory.time({logits, logits, 0.0});
    t[IterationTerm::head] += head.raw();
  }
  if (layout.pp > 1) {
    t[IterationTerm::stages] +=
        (real(layout.pp) - 1.0) * (Bytes{2.0 * mix.tokens() * hidden} / send + Seconds{10e-6}).raw();
  }
}

IterationTerms Replica::terms(const IterationMix& mix) const noexcept {
  IterationTerms t;
  for (const Layer& layer : compiled_->layers) {
    compiled_->layer_terms(layer, mix, t);
  }
  compiled_->end_terms(mix, t);
  return t;
}

double Replica::layers() const noexcept {
  return compiled_->layer_count;
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
