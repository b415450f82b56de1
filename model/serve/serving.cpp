// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/serving.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

bool has_rate(const Device& device, Precision precision) noexcept {
  return device.peak[static_cast<std::size_t>(row_of(precision).rate)].has_value();
}

struct Rates {
  FlopsPerSecond matrix;  ///< sustained, of the weights' recipe
  FlopsPerSecond wide;    ///< sustained, of attention
  BytesPerSecond memory;
};

/// The first rule that the layout breaks.
bool legal(const Architecture& arch, const ServingWorkload& w, ServingEstimate& e) noexcept {
  const LayoutProblem problem = check_layout(arch, w);
  e.verdict = problem.verdict;
  e.broke = real(problem.broke);
  e.limit = real(problem.limit);
  return problem.verdict == Verdict::feasible;
}

void fill_memory(const Architecture& arch,
                 const Device& device,
                 const ServingStack& engine,
                 const ServingWorkload& w,
                 ServingEstimate& e) {
  e.memory = serving_memory(served_memory(arch, device, engine.memory, w), w.limits());
  e.verdict = e.memory.verdict;
  e.broke = e.memory.broke;
  e.limit = e.memory.limit;
  // Requests above what the cache holds wait; the batch is what decodes together.
  const std::int64_t wanted = (w.concurrency + e.replicas - 1) / e.replicas;
  e.batch = std::max<std::int64_t>(1, std::min(wanted, e.memory.max_sequences));
  e.kv_in_use = real(e.batch) / real(w.layout.attention_groups()) * e.memory.sequence;
}

std::string_view pool_formula(FractionOf of) noexcept {
  switch (of) {
    case FractionOf::total: return "f D - weights - activations - framework";
    case FractionOf::free: return "f (D - weights - activations - framework - graphs)";
    case FractionOf::fixed_share: break;
  }
  return "f (D - framework) - weights";
}

void record_memory(const Architecture& arch,
                   const Device& device,
                   const ServingStack& engine,
                   const ServingWorkload& w,
                   const ServingEstimate& e,
                   ExplainRecorder& r) {
  const MemoryBreakdown& m = e.memory.terms;
  const EngineMemory& numbers = engine.memory;
  r.line("weights", "(P_gemm w + P_rest 2) / ranks", "embedding, head, norms and router in 16 bit",
         m[MemoryTerm::weights].raw(), Shown::bytes,
         {{"P", count_parameters(arch).total, Shown::count, arch.source},
          {"w", stored_bytes(w.weights), Shown::count, "bytes of a GEMM weight with its scales"}});
  r.line("activations", "max(a f T / tp, l V S)", "", m[MemoryTerm::activations].raw(), Shown::bytes,
         {{"a", stored_bytes(w.weights) < 2.0 ? numbers.quantised_bytes : numbers.wide_bytes, Shown::count,
           engine.activation_source},
          {"l", numbers.logit_bytes, Shown::count, engine.activation_source},
          {"T", real(w.max_num_tokens), Shown::count, "scenario or engine default"},
          {"S", real(w.max_num_seqs), Shown::count, "scenario or engine default"}});
  r.line("cuda graphs", "constant", "", m[MemoryTerm::cuda_graphs].raw(), Shown::bytes,
         {{"graphs", numbers.graphs.raw(), Shown::bytes, engine.graphs_source}});
  r.line("framework", "c + d log2(n)", "", m[MemoryTerm::framework].raw(), Shown::bytes,
         {{"c", numbers.framework.raw(), Shown::bytes, engine.framework_source},
          {"d", numbers.framework_per_doubling.raw(), Shown::bytes, engine.framework_source},
          {"n", real(w.layout.gpus()), Shown::count, "ranks of a replica"}});
  r.line("KV pool", pool_formula(numbers.fraction_of), "", e.memory.pool.raw(), Shown::bytes,
         {{"D", device.visible_capacity().value.raw(), Shown::bytes, device.visible_capacity().source},
          {"f", w.memory_fraction, Shown::fraction, "scenario or engine default"}});
  r.line("KV of a sequence", "blocks x 2 L max(g / tp, 1) d w", "Kwon et al. 2023; Shazeer 2019; Ainslie et al. 2023",
         e.memory.sequence.raw(), Shown::bytes,
         {{"tokens", real(w.limits().sequence_tokens), Shown::count, "isl + osl, or max_seq_len"},
          {"block", real(numbers.block_tokens), Shown::count, engine.limits_source},
          {"2 L g d w", e.kv_per_token.raw(), Shown::bytes, arch.source}});
  r.line("sequences", "min(floor(KV pool / KV of a sequence), S)", "", real(e.memory.max_sequences), Shown::count,
         {{"S", real(w.max_num_seqs), Shown::count, "scenario or engine default"}});
}

void record_time(const Architecture& arch,
                 const RoughStack& stack,
                 const ServingEstimate& e,
                 const Rates& rates,
                 ExplainRecorder& r) {
  const ParameterCount parameters = count_parameters(arch);
  r.line("ttft", "isl (2 P_active + 2 L isl q) / (tp R)", "Pope et al. 2022, section 2; a prompt alone, pp in turn",
         e.ttft.raw(), Shown::seconds,
         {{"P_active", parameters.active_matrices, Shown::count, arch.source},
          {"R", rates.matrix.raw(), Shown::flops_per_second, "sustained"}});
  r.line("tpot", "max(bytes read / B, FLOP / R)", "Pope et al. 2022, section 2", e.tpot.raw(), Shown::seconds,
         {{"weights read", e.step_weights.raw(), Shown::bytes, "of a rank, experts that the batch meets"},
          {"cache read", e.step_cache.raw(), Shown::bytes, "of a rank, at isl + osl / 2 tokens a sequence"},
          {"B", rates.memory.raw(), Shown::bytes_per_second, stack.bandwidth_share.source},
          {"R", rates.matrix.raw(), Shown::flops_per_second, "sustained"}});
  r.line("output tokens/s", "replicas batch osl / (batch ttft / pp + osl tpot)", "closed loop", e.output_tokens_per_s,
         Shown::count, {{"replicas", real(e.replicas), Shown::count, "gpus / (tp pp)"}});
}

/// A decode step reads every weight that some sequence of the batch meets, and the cache of all of them, as a rank
/// holds both: latent caches and key-value heads fewer than tp are whole on every rank.
void price_decode_step(const Architecture& arch,
                       const Device& device,
                       const ServingStack& engine,
                       const ServingWorkload& w,
                       const ParameterCount& parameters,
                       const Rates& rates,
                       ServingEstimate& e) {
  const double batch = real(e.batch);
  const double context = real(w.isl) + 0.5 * real(w.osl);
  // Stages take turns on one step, so that together they read what a single stage of all layers would.
  const ServingLayout layers{w.layout.tp, 1, w.layout.ep};
  const ServingStage rank = compile_serving_memory(arch, device, engine.memory, layers, w.weights, w.kv).stages[0];
  const double idle =
      arch.moe ? std::pow(1.0 - real(arch.moe->top_k) / real(arch.moe->experts), batch) : 0.0;  // of all experts
  // Under attention-DP a rank reads the cache of its own group's sequences; experts are dealt to all ranks.
  const double groups = real(w.layout.attention_groups());
  e.step_weights = rank.weights - idle * rank.experts;
  e.step_cache = batch / groups * rank.sequence(context, 1.0);
  const Flops step{batch / groups * (2.0 * parameters.active_matrices + score_flops(arch, context))};
  const Seconds read_time = (e.step_weights + e.step_cache) / rates.memory;
  const Seconds compute_time = step / real(w.layout.tp) / rates.matrix;
  e.decode_memory_bound = read_time >= compute_time;
  e.tpot = std::max(read_time, compute_time);
}

/// The 16-bit format that the device multiplies: bf16, but for generations before it.
Precision sixteen_bit(const Device& device) noexcept {
  return has_rate(device, Precision::bf16) ? Precision::bf16 : Precision::fp16;
}

}  // namespace

Precision compute_precision(const Device& device, Precision weights) noexcept {
  const bool unpacked = row_of(weights).weight_bytes < 2.0 && !has_rate(device, weights);
  return unpacked ? sixteen_bit(device) : weights;
}

Bytes weight_bytes(double parameters, Precision precision) noexcept {
  return Bytes{parameters * row_of(precision).weight_bytes};
}

std::int64_t gpus_to_hold(Bytes bytes, Bytes capacity, double fraction) noexcept {
  constexpr double most = 0x1p53;
  const double gpus = std::ceil(bytes / (fraction * capacity));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(gpus, most)));
}

Bytes kv_bytes(const Architecture& architecture, double bytes_per_element, double sequences, double tokens) {
  return Bytes{kv_elements_per_token(architecture) * bytes_per_element * sequences * tokens};
}

CompiledServingMemory served_memory(const Architecture& arch,
                                    const Device& device,
                                    const EngineMemory& engine,
                                    const ServingWorkload& w) {
  CompiledServingMemory c = compile_serving_memory(arch, device, engine, w.layout, w.weights, w.kv);
  if (w.draft) {
    add_draft(*w.draft, device, w.kv, c);
  }
  return c;
}

LayoutProblem check_layout(const Architecture& arch, const ServingWorkload& w) noexcept {
  const LayoutProblem served = check(arch, w.layout, w.gpus);
  if (served.verdict != Verdict::feasible || !w.draft || !w.draft->model) {
    return served;
  }
  const ServingLayout draft = draft_layout(*w.draft, w.layout);
  return check(*w.draft->model, draft, draft.gpus());
}

ServingEstimate serve_memory(const Architecture& arch,
                             const Device& device,
                             const ServingStack& engine,
                             const ServingWorkload& w,
                             ExplainRecorder* recorder) {
  ServingEstimate e;
  if (!legal(arch, w, e)) {
    return e;
  }
  e.replicas = w.gpus / w.layout.gpus();
  e.kv_per_token = kv_bytes(arch, row_of(w.kv).weight_bytes, 1.0, 1.0);
  if (w.draft && w.draft->model) {
    e.kv_per_token += kv_bytes(*w.draft->model, row_of(w.kv).weight_bytes, 1.0, 1.0);
  }
  fill_memory(arch, device, engine, w, e);
  if (recorder != nullptr) {
    record_memory(arch, device, engine, w, e, *recorder);
  }
  return e;
}

ServingEstimate serve(const Architecture& arch,
                      const Device& device,
                      const RoughStack& stack,
                      const ServingStack& engine,
                      const ServingWorkload& w,
                      ExplainRecorder* recorder) {
  ServingEstimate e = serve_memory(arch, device, engine, w, recorder);
  if (e.memory.terms.total().raw() <= 0.0) {
    return e;  // no such layout
  }
  const Precision gemm = compute_precision(device, w.weights);
  const bool narrow = row_of(gemm).weight_bytes < 2.0;
  const Rates rates{w.clock * stack.sustained_rate(device, gemm),
                    w.clock * stack.sustained_rate(device, narrow ? sixteen_bit(device) : gemm),
                    stack.bandwidth_share.value * device.bandwidth()};

  const ParameterCount parameters = count_parameters(arch);
  const double tp = real(w.layout.tp);
  const Flops prompt{real(w.isl) * 2.0 * parameters.active_matrices};
  const Flops prompt_scores{0.5 * real(w.isl) * score_flops(arch, real(w.isl))};
  e.ttft = prompt / tp / rates.matrix + prompt_scores / tp / rates.wide;

  price_decode_step(arch, device, engine, w, parameters, rates, e);

  // Every replica prefills each request once and decodes the batch together; pp stages work on different requests.
  const double batch = real(e.batch);
  const double groups = real(w.layout.attention_groups());
  const Seconds round = batch / groups * e.ttft / real(w.layout.pp) + real(w.osl) * e.tpot;
  e.requests_per_s = real(e.replicas) * batch / round.raw();
  e.output_tokens_per_s = e.requests_per_s * real(w.osl);
  if (recorder != nullptr) {
    record_time(arch, stack, e, rates, *recorder);
  }
  return e;
}

}  // namespace headroom
