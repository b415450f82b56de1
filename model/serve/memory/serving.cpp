// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/memory/serving.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

bool has_rate(const Device& device, Precision precision) noexcept {
  return device.peak[static_cast<std::size_t>(row_of(precision).rate)].has_value();
}

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

/// The 16-bit format that the device multiplies: bf16, but for generations before it.
Precision sixteen_bit(const Device& device) noexcept {
  return has_rate(device, Precision::bf16) ? Precision::bf16 : Precision::fp16;
}

}  // namespace

Precision compute_precision(const Device& device, Precision weights) noexcept {
  const bool unpacked = row_of(weights).weight_bytes < 2.0 && !has_rate(device, weights);
  return unpacked ? sixteen_bit(device) : weights;
}

double serving_replicas(const ServingWorkload& work, const ServingEstimate& memory) noexcept {
  return std::min(real(memory.replicas), std::max(1.0, real(work.concurrency)));
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

std::int64_t sequences_asked(const ServingWorkload& w) noexcept {
  const std::int64_t replicas = std::max<std::int64_t>(1, w.gpus / w.layout.gpus());
  return (w.concurrency + replicas - 1) / replicas;
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

}  // namespace headroom
