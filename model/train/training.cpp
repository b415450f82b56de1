// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/training.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

double count(std::int64_t n) noexcept {
  return static_cast<double>(n);
}

/// Bytes per parameter of a 4-bit NormalFloat base with double quantisation (Dettmers et al. 2023, section 3).
constexpr double nf4_bytes = 0.5 + 0.5 / 8.0;

constexpr std::string_view rough_form =
    "rough: the sustained rate stands in for element-wise kernels, communication, optimizer and launch gaps";

struct StageLayers {
  double first = 0.0;
  double last = 0.0;
};

/// Layers that do not divide go to the early stages: an uneven split is legal and stated.
StageLayers split_layers(double layers, double stages) noexcept {
  return {std::ceil(layers / stages), std::floor(layers / stages)};
}

/// Chunk-layers a stage holds at its peak. 1F1B: min(m, p - i) micro-batches; interleaved: 2(p - i - 1) + (v-1)p + 1
/// chunks of layers/v (Narayanan et al. 2021, section 2.2; at stage 0 this is Korthikanti et al. 2022, equation 5).
double layers_in_flight(double layers, double stage, double stages, double chunks, double micro_batches) noexcept {
  if (chunks <= 1.0) {
    return layers * std::min(micro_batches, stages - stage);
  }
  const double warm_up = 2.0 * (stages - stage - 1.0) + (chunks - 1.0) * stages + 1.0;
  return layers / chunks * std::min(micro_batches * chunks, warm_up);
}

struct StageQuestion {
  double stage = 0.0;
  double layers = 0.0;
  double micro_batches = 1.0;
  bool first = false;
  bool last = false;
};

MemoryBreakdown stage_memory(const CompiledTraining& c,
                             const LayerTable& t,
                             const Strategy& s,
                             const StageQuestion& q) noexcept {
  const double data_ranks = static_cast<double>(s.dp) * s.cp;
  const double expert_ranks = std::max(1.0, data_ranks * s.tp / (static_cast<double>(s.ep) * s.etp));
  // Tied tables stand on both ends of a pipeline and once without one.
  const bool own_head = q.last && (!c.tied || !q.first);
  const double dense = t.layer_parameters * q.layers               //
                       + (q.first ? t.embedding_parameters : 0.0)  //
                       + (own_head ? t.head_parameters : 0.0);
  const double experts = t.expert_parameters * q.layers;
  const StateMemory own = state_memory(dense, c.work.states, s.zero, data_ranks);
  const StateMemory routed = state_memory(experts, c.work.states, s.zero, expert_ranks);

  MemoryBreakdown m;
  m[MemoryTerm::weights] = own.weights + routed.weights;
  m[MemoryTerm::gradients] = own.gradients + routed.gradients;
  m[MemoryTerm::optimizer] = own.optimizer + routed.optimizer;
  m[MemoryTerm::activations] = t.activations * layers_in_flight(q.layers, q.stage, s.pp, s.vpp, q.micro_batches);
  m[MemoryTerm::recompute_workspace] = t.workspace;
  if (q.last) {
    m[MemoryTerm::logits] = t.logits;
  }
  if (s.zero >= 3) {
    constexpr double layers_gathered = 2.0;  // the one computed and the one prefetched
    m[MemoryTerm::gather_buffers] =
        Bytes{layers_gathered * (t.layer_parameters + t.expert_parameters) * c.work.states.weights};
  }
  m[MemoryTerm::fragmentation] = m.total() * c.fragmentation;
  m[MemoryTerm::framework] = c.framework;
  return m;
}

template <class Recorder>
void record_memory(const CompiledTraining& c, const LayerTable& t, const Strategy& s, const Estimate& e, Recorder& r) {
  if constexpr (Recorder::records) {
    const MemoryBreakdown& m = e.memory;
    const auto bytes = [&](MemoryTerm term) { return m[term].raw(); };
    const double ranks = static_cast<double>(s.dp) * s.cp;
    const std::string zero = "ZeRO " + std::to_string(s.zero) + ", chosen";
    r.line("parameters of one rank and layer", "attention/tp + norms + MLP/tp, experts/(ep etp)",
           "one row of table 1, Shoeybi et al. 2019", t.layer_parameters + t.expert_parameters, Shown::count,
           {{"parameters", c.parameters, Shown::count, c.sources.architecture},
            {"tp", double(s.tp), Shown::count, "strategy"}});
    r.line("weights", "w P (z3: / n)", "Rajbhandari et al. 2020, figure 1", bytes(MemoryTerm::weights), Shown::bytes,
           {{"w", c.work.states.weights, Shown::count, "bytes per parameter of the recipe"},
            {"n", ranks, Shown::count, "dp cp"},
            {"z", double(s.zero), Shown::count, zero}});
    r.line("gradients", "g P (z2: / n)", "Rajbhandari et al. 2020, figure 1", bytes(MemoryTerm::gradients),
           Shown::bytes,
           {{"g", c.work.states.gradients, Shown::count, "bytes per parameter of the recipe"},
            {"n", ranks, Shown::count, "dp cp"}});
    r.line("optimizer", "o P (z1: / n)", "Rajbhandari et al. 2020, figure 1", bytes(MemoryTerm::optimizer),
           Shown::bytes,
           {{"o", c.work.states.optimizer, Shown::count, "bytes per parameter of the recipe"},
            {"n", ranks, Shown::count, "dp cp"}});
    r.line("activations", "A x layers in flight", "Korthikanti et al. 2022, equations 1 to 5",
           bytes(MemoryTerm::activations), Shown::bytes,
           {{"A", t.activations.raw(), Shown::bytes, "one layer and micro-batch"},
            {"in flight", bytes(MemoryTerm::activations) / t.activations.raw(), Shown::count,
             "1F1B or interleaved schedule"}});
    if (t.workspace.raw() > 0.0) {
      r.line("recompute workspace", "one layer in full", "Korthikanti et al. 2022, section 5",
             bytes(MemoryTerm::recompute_workspace), Shown::bytes, {});
    }
    if (bytes(MemoryTerm::logits) > 0.0) {
      r.line("logits", "(8 V/t + 6 h) T", "Megatron-LM, vocabulary-parallel cross-entropy: 16-bit, fp32 and gradient",
             bytes(MemoryTerm::logits), Shown::bytes, {{"V", c.vocab, Shown::count, c.sources.architecture}});
    }
    if (s.zero >= 3) {
      r.line("gather buffers", "2 layers x w", "Zhao et al. 2023, section 3.3: one layer computed, one prefetched",
             bytes(MemoryTerm::gather_buffers), Shown::bytes, {});
    }
    r.line("fragmentation", "f x allocated", "", bytes(MemoryTerm::fragmentation), Shown::bytes,
           {{"f", c.fragmentation, Shown::fraction, c.sources.fragmentation}});
    r.line("framework", "constant", "", bytes(MemoryTerm::framework), Shown::bytes,
           {{"context, communicators", c.framework.raw(), Shown::bytes, c.sources.framework}});
    r.line("memory of the fullest stage", "sum, against the capacity", "", m.total().raw(), Shown::bytes,
           {{"capacity", c.capacity.raw(), Shown::bytes, c.sources.capacity},
            {"stage", double(e.stage), Shown::count, "0 is the first"}});
  }
}

template <class Recorder>
void record_time(
    const CompiledTraining& c, const LayerTable& t, const Strategy& s, const Estimate& e, double layers, Recorder& r) {
  if constexpr (Recorder::records) {
    const double m = e.micro_batches;
    const double tokens = static_cast<double>(s.micro_batch) * c.seq_len / s.cp;
    r.line("gemm", "m L/p T 2 P_layer (1 + b) / (t R)", rough_form, e.time[Term::gemm].raw(), Shown::seconds,
           {{"m", m, Shown::count, "micro-batches: global_batch / (dp micro_batch)"},
            {"L/p", layers, Shown::count, "layers of the slowest stage"},
            {"T", tokens, Shown::count, "micro_batch seq_len / cp"},
            {"2 P_layer", c.gemm_per_token.raw(), Shown::flops, c.sources.architecture},
            {"b", c.gemm_backward, Shown::count, "backward / forward"},
            {"R", c.gemm_rate.raw(), Shown::flops_per_second, c.sources.sustained},
            {"peak", c.gemm_peak.raw(), Shown::flops_per_second, c.sources.peak}});
    r.line("attention", "m L/p T 4 s q k (1 + b) / (t R)",
           "scores and values; k = 1/2 where a fused kernel skips the causal half (Dao 2023, section 3.1)",
           e.time[Term::attention].raw(), Shown::seconds,
           {{"4 s q k", c.attention_per_token.raw(), Shown::flops, c.sources.architecture},
            {"b", c.attention_backward, Shown::count, "backward / forward"},
            {"R", c.wide_rate.raw(), Shown::flops_per_second, c.sources.sustained}});
    if (t.recompute.raw() > 0.0) {
      r.line("recompute", "one forward more of what is recomputed", "Korthikanti et al. 2022, section 5",
             e.time[Term::recompute].raw(), Shown::seconds, {});
    }
    r.line("head", "m T 2 h V (1 + b) / (t R)", "on the last stage", e.time[Term::head].raw(), Shown::seconds,
           {{"2 h V", c.head_per_token.raw(), Shown::flops, c.sources.architecture}});
    r.line("bubble", "(p - 1)/v x one micro-batch of the slowest stage", "Narayanan et al. 2021, section 2.2",
           e.time[Term::bubble].raw(), Shown::seconds,
           {{"p", double(s.pp), Shown::count, "strategy"},
            {"v", double(s.vpp), Shown::count, "strategy"},
            {"bubble / step", e.bubble_fraction, Shown::fraction, ""}});
    r.line("step", "sum", "", e.step.raw(), Shown::seconds, {});
  }
}

template <class Recorder>
Estimate evaluate_with(const CompiledTraining& c, const LayerTable& t, const Strategy& s, Recorder& recorder) {
  Estimate e;
  const Legality legality = check(c.architecture, c.work.shape, s);
  if (legality.verdict != Verdict::feasible) {
    e.verdict = legality.verdict;
    e.broke = legality.broke;
    e.limit = legality.limit;
    return e;
  }
  const double m = count(c.work.shape.global_batch) / (static_cast<double>(s.dp) * s.micro_batch);
  e.micro_batches = static_cast<std::int32_t>(m);
  const StageLayers split = split_layers(c.layers, s.pp);

  const bool single = s.pp == 1;
  const MemoryBreakdown first = stage_memory(c, t, s, {0.0, split.first, m, true, single});
  const MemoryBreakdown last = single ? first : stage_memory(c, t, s, {s.pp - 1.0, split.last, m, false, true});
  const bool first_fuller = first.total() >= last.total();
  e.memory = first_fuller ? first : last;
  e.stage = first_fuller ? 0 : s.pp - 1;
  if (e.memory.total() > c.capacity) {
    e.verdict = Verdict::out_of_memory;
    e.broke = e.memory.total().raw();
    e.limit = c.capacity.raw();
  }
  record_memory(c, t, s, e, recorder);

  // The slowest stage sets the pace: the first has the most layers, the last the head.
  const Seconds layer = t.gemm + t.attention + t.recompute;
  const bool head_binds = split.last * layer + t.head > split.first * layer;
  const double layers = head_binds ? split.last : split.first;
  const Seconds head = head_binds || single ? t.head : Seconds{};
  const Seconds micro_batch = layers * layer + head;
  e.time[Term::gemm] = m * layers * t.gemm;
  e.time[Term::attention] = m * layers * t.attention;
  e.time[Term::recompute] = m * layers * t.recompute;
  e.time[Term::head] = m * head;
  e.time[Term::bubble] = (s.pp - 1.0) / s.vpp * micro_batch;
  e.step = e.time.total();
  e.bubble_fraction = e.time[Term::bubble] / e.step;
  record_time(c, t, s, e, layers, recorder);
  return e;
}

}  // namespace

namespace {

/// Means over the layers, which need not be alike: what the rough form prices.
void compile_layers(const Architecture& arch, CompiledTraining& c) {
  double ffn = 0.0;
  for (const Block& block : arch.blocks()) {
    const BlockParameters p = block_parameters(arch, block);
    c.split_parameters += (p.mixer + p.dense_ffn + p.shared_experts) / c.layers;
    c.whole_parameters += (p.mixer_replicated + p.norms + p.router) / c.layers;
    c.expert_parameters += p.experts / c.layers;
    c.score_flops += Flops{score_flops(arch, block, c.seq_len) / c.layers};
    if (block.feed_forward == FeedForward::dense) {
      ffn += count(block.ffn_hidden);
    } else if (block.feed_forward == FeedForward::moe && arch.moe) {
      ffn += count(arch.moe->top_k * arch.moe->expert_ffn_hidden + arch.moe->shared_ffn_hidden);
    }
  }
  c.ffn = ffn / c.layers;
}

}  // namespace

CompiledTraining compile(const Architecture& arch,
                         const Device& device,
                         const RoughStack& stack,
                         const TrainingWorkload& work) {
  const ParameterCount parameters = count_parameters(arch);
  CompiledTraining c;
  c.architecture = arch;
  c.work = work;
  c.hidden = count(arch.hidden);
  c.query_width = count(arch.heads * arch.head_dim);
  c.kv_width = count(arch.kv_heads * arch.head_dim);
  c.heads = count(arch.heads);
  c.vocab = count(arch.vocab);
  c.seq_len = count(work.shape.seq_len);
  c.layers = count(arch.layers);
  c.gated = arch.gated_mlp;
  c.tied = arch.tied_embeddings;
  compile_layers(arch, c);
  c.embedding_parameters = parameters.embedding;
  c.head_parameters = parameters.final_norm + (arch.tied_embeddings ? c.vocab * c.hidden : parameters.head);
  c.parameters = parameters.total;
  c.active_parameters = parameters.active;

  const double head_matrix = c.vocab * c.hidden;
  c.gemm_per_token = Flops{2.0 * (parameters.active_matrices - head_matrix) / c.layers};
  const bool halves = work.flash_attention && arch.kind == ArchitectureKind::decoder;
  c.attention_per_token = (halves ? 0.5 : 1.0) * c.score_flops;
  c.head_per_token = Flops{2.0 * head_matrix};
  c.gemm_backward = work.method == Method::full ? 2.0 : 1.0;
  c.attention_backward = work.flash_attention ? 2.5 : 2.0;
  c.model_flops_per_token = Flops{6.0 * parameters.active_matrices} + 3.0 * c.layers * c.score_flops;

  const bool narrow = row_of(work.precision).compute_bytes <= 2.0;
  const Precision wide = narrow && work.precision != Precision::fp16 ? Precision::bf16 : work.precision;
  c.gemm_rate = stack.sustained_rate(device, work.precision);
  c.gemm_peak = device.peak_of(row_of(work.precision).rate);
  // Where only narrow runs were measured, attention and head are taken to sustain the same share of their own peak.
  const FittedFraction* narrow_share = stack.share(device, work.precision);
  c.wide_rate = stack.share(device, wide) != nullptr ? stack.sustained_rate(device, wide)
                                                     : narrow_share->value * device.peak_of(row_of(wide).rate);
  c.capacity = device.capacity().value;
  c.fragmentation = stack.fragmentation.value;
  c.framework = stack.framework;
  if (work.method != Method::full) {
    c.work.states.gradients = 0.0;  // adapters are below 1 % of the weights: left out of the rough form
    c.work.states.optimizer = 0.0;
    if (work.method == Method::qlora) {
      c.work.states.weights = nf4_bytes;
    }
  }
  const Rate rate = row_of(work.precision).rate;
  const FittedFraction* share = stack.share(device, work.precision);
  c.sources.architecture = arch.source;
  if (const auto& peak = device.peak[static_cast<std::size_t>(rate)]) {
    c.sources.peak = peak->source;
  }
  c.sources.sustained =
      format_number(100.0 * share->value) + " % of the dense " + std::string{name_of(rate)} + " peak; " + share->source;
  c.sources.capacity = device.capacity().source;
  c.sources.fragmentation = stack.fragmentation.source;
  c.sources.framework = stack.framework_source;
  return c;
}

LayerKey key_of(const Strategy& s) noexcept {
  return {s.tp, s.cp, s.ep, s.etp, s.micro_batch, s.sequence_parallel, s.recompute};
}

LayerTable tabulate(const CompiledTraining& c, const LayerKey& k) noexcept {
  const double tokens = static_cast<double>(k.micro_batch) * c.seq_len / k.cp;
  const double t = k.tp;

  LayerTable table;
  const Seconds gemm = c.gemm_per_token * tokens / t / c.gemm_rate;
  const Seconds attention = c.attention_per_token * tokens / t / c.wide_rate;
  table.gemm = (1.0 + c.gemm_backward) * gemm;
  table.attention = (1.0 + c.attention_backward) * attention;
  if (k.recompute == Recompute::full) {
    table.recompute = gemm + attention;
  } else if (k.recompute == Recompute::selective && !c.work.flash_attention) {
    table.recompute = attention;
  }
  table.head = (1.0 + c.gemm_backward) * (c.head_per_token * tokens / t / c.wide_rate);

  ActivationShape shape;
  shape.micro_batch = k.micro_batch;
  shape.seq_len = c.seq_len;
  shape.hidden = c.hidden;
  shape.query_width = c.query_width;
  shape.kv_width = c.kv_width;
  shape.heads = c.heads;
  shape.ffn = c.ffn;  // each token fills top_k expert buffers and the shared experts'
  shape.tp = t;
  shape.cp = k.cp;
  shape.gated = c.gated;
  shape.sequence_parallel = k.sequence_parallel;
  shape.flash_attention = c.work.flash_attention;
  shape.dropout = c.work.dropout;
  shape.recompute = k.recompute;
  table.activations = layer_activations(shape);
  if (k.recompute == Recompute::full) {
    shape.recompute = Recompute::none;
    table.workspace = layer_activations(shape);
  }
  // Logits in 16 bit, their fp32 copy and the gradient (Megatron-LM, vocabulary-parallel cross-entropy): 2 + 4 + 2
  // bytes; the head's input, its normed copy and its gradient: 3 x 2 h.
  table.logits = Bytes{tokens * (8.0 * c.vocab / t + 6.0 * c.hidden)};

  table.layer_parameters = c.split_parameters / t + c.whole_parameters;
  table.expert_parameters = c.expert_parameters / (static_cast<double>(k.ep) * k.etp);
  table.embedding_parameters = c.embedding_parameters / t;
  table.head_parameters = c.head_parameters / t;
  return table;
}

Estimate evaluate(const CompiledTraining& compiled, const LayerTable& table, const Strategy& strategy) noexcept {
  NoRecorder recorder;
  return evaluate_with(compiled, table, strategy, recorder);
}

Estimate explain(const CompiledTraining& compiled,
                 const LayerTable& table,
                 const Strategy& strategy,
                 ExplainRecorder& recorder) {
  return evaluate_with(compiled, table, strategy, recorder);
}

}  // namespace headroom
