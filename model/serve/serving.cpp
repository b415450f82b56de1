// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/serving.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

double count(std::int64_t n) noexcept {
  return static_cast<double>(n);
}

struct Rates {
  FlopsPerSecond matrix;  ///< sustained, of the weights' recipe
  FlopsPerSecond wide;    ///< sustained, of attention
  BytesPerSecond memory;
};

bool divisible(std::int64_t number, std::int64_t by) noexcept {
  return by > 0 && number % by == 0;
}

/// The first rule that the layout breaks.
bool legal(const Architecture& arch, const ServingWorkload& w, ServingEstimate& e) noexcept {
  const auto refuse = [&](Verdict verdict, std::int64_t broke, std::int64_t limit) {
    e.verdict = verdict;
    e.broke = count(broke);
    e.limit = count(limit);
    return false;
  };
  if (!divisible(w.gpus, w.tp * w.pp)) {
    return refuse(Verdict::gpus_not_divisible, w.gpus, w.tp * w.pp);
  }
  if (!divisible(arch.heads, w.tp)) {
    return refuse(Verdict::heads_not_divisible, arch.heads, w.tp);
  }
  if (!divisible(arch.kv_heads, w.tp) && !divisible(w.tp, arch.kv_heads)) {
    return refuse(Verdict::kv_heads_not_divisible, arch.kv_heads, w.tp);
  }
  if (w.pp > arch.layers) {
    return refuse(Verdict::layers_too_few, arch.layers, w.pp);
  }
  return true;
}

/// KV heads that a rank holds: fewer heads than ranks are replicated.
double kv_share(const Architecture& arch, std::int64_t tp) noexcept {
  return std::max(count(arch.kv_heads) / count(tp), 1.0) / count(arch.kv_heads);
}

void fill_memory(const Architecture& arch,
                 const Device& device,
                 const RoughStack& stack,
                 const ServingWorkload& w,
                 ServingEstimate& e) {
  const double ranks = count(w.tp * w.pp);
  const Bytes weights = weight_bytes(count_parameters(arch).total, w.weights) / ranks;
  const Bytes budget = w.memory_fraction * device.capacity().value;
  const Bytes kv_rank_token = e.kv_per_token * kv_share(arch, w.tp) / count(w.pp);
  const double tokens = count(w.isl + w.osl);
  e.memory[MemoryTerm::weights] = weights;
  e.memory[MemoryTerm::framework] = stack.framework;
  const Bytes left = budget - weights - stack.framework;
  e.max_sequences = static_cast<std::int64_t>(std::max(0.0, std::floor(left / (kv_rank_token * tokens))));
  if (e.max_sequences < 1) {
    e.memory[MemoryTerm::kv_cache] = kv_rank_token * tokens;
    e.verdict = Verdict::out_of_memory;
    e.broke = e.memory.total().raw();
    e.limit = budget.raw();
    return;
  }
  // Requests above what the cache holds wait; the batch is what decodes together.
  const std::int64_t wanted = (w.concurrency + e.replicas - 1) / e.replicas;
  e.batch = std::min(wanted, e.max_sequences);
  e.memory[MemoryTerm::kv_cache] = count(e.batch) * tokens * kv_rank_token;
}

void record(const Architecture& arch,
            const Device& device,
            const RoughStack& stack,
            const ServingWorkload& w,
            const ServingEstimate& e,
            const Rates& rates,
            ExplainRecorder& r) {
  const ParameterCount parameters = count_parameters(arch);
  const auto memory = [&](MemoryTerm term) { return e.memory[term].raw(); };
  r.line("weights", "P w / (tp pp)", "", memory(MemoryTerm::weights), Shown::bytes,
         {{"P", parameters.total, Shown::count, arch.source},
          {"w", row_of(w.weights).weight_bytes, Shown::count, "bytes of a weight, chosen precision"}});
  r.line("KV cache", "batch (isl + osl) 2 L g d w / (tp pp)", "Shazeer 2019; Ainslie et al. 2023",
         memory(MemoryTerm::kv_cache), Shown::bytes,
         {{"2 L g d w", e.kv_per_token.raw(), Shown::bytes, arch.source}, {"batch", count(e.batch), Shown::count, ""}});
  r.line("framework", "constant", "", memory(MemoryTerm::framework), Shown::bytes,
         {{"context, workspace", stack.framework.raw(), Shown::bytes, stack.framework_source}});
  r.line("memory of a GPU", "sum, against the engine's share", "", e.memory.total().raw(), Shown::bytes,
         {{"capacity", device.capacity().value.raw(), Shown::bytes, device.capacity().source},
          {"share", w.memory_fraction, Shown::fraction, "scenario or engine default"}});
  r.line("ttft", "isl (2 P_active + 2 L isl q) / (tp R)", "Pope et al. 2022, section 2; a prompt alone, pp in turn",
         e.ttft.raw(), Shown::seconds,
         {{"P_active", parameters.active_matrices, Shown::count, arch.source},
          {"R", rates.matrix.raw(), Shown::flops_per_second, "sustained"}});
  r.line("tpot", "max(bytes read / B, FLOP / R)", "Pope et al. 2022, section 2", e.tpot.raw(), Shown::seconds,
         {{"B", rates.memory.raw(), Shown::bytes_per_second, stack.bandwidth_share.source},
          {"R", rates.matrix.raw(), Shown::flops_per_second, "sustained"}});
  r.line("output tokens/s", "replicas batch osl / (batch ttft / pp + osl tpot)", "closed loop", e.output_tokens_per_s,
         Shown::count, {{"replicas", count(e.replicas), Shown::count, "gpus / (tp pp)"}});
}

}  // namespace

Bytes weight_bytes(double parameters, Precision precision) noexcept {
  return Bytes{parameters * row_of(precision).weight_bytes};
}

std::int64_t gpus_to_hold(Bytes bytes, Bytes capacity, double fraction) noexcept {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(bytes / (fraction * capacity))));
}

Bytes kv_bytes(const Architecture& architecture, double bytes_per_element, double sequences, double tokens) {
  return Bytes{kv_elements_per_token(architecture) * bytes_per_element * sequences * tokens};
}

ServingEstimate serve(const Architecture& arch,
                      const Device& device,
                      const RoughStack& stack,
                      const ServingWorkload& w,
                      ExplainRecorder* recorder) {
  ServingEstimate e;
  if (!legal(arch, w, e)) {
    return e;
  }
  const bool narrow = row_of(w.weights).weight_bytes <= 2.0;
  const Rates rates{stack.sustained_rate(device, w.weights),
                    stack.sustained_rate(device, narrow && w.weights != Precision::fp16 ? Precision::bf16 : w.weights),
                    stack.bandwidth_share.value * device.bandwidth()};
  e.replicas = w.gpus / (w.tp * w.pp);
  e.kv_per_token = kv_bytes(arch, row_of(w.kv).weight_bytes, 1.0, 1.0);
  fill_memory(arch, device, stack, w, e);

  const ParameterCount parameters = count_parameters(arch);
  const double tp = count(w.tp);
  const Flops prompt{count(w.isl) * 2.0 * parameters.active_matrices};
  const Flops prompt_scores{0.5 * count(w.isl) * score_flops(arch, count(w.isl))};
  e.ttft = prompt / tp / rates.matrix + prompt_scores / tp / rates.wide;

  // A decode step reads every weight that some sequence of the batch meets, and the cache of all of them.
  const double batch = count(e.batch);
  const double context = count(w.isl) + 0.5 * count(w.osl);
  double met = parameters.active;
  if (arch.moe) {
    const double idle = std::pow(1.0 - count(arch.moe->top_k) / count(arch.moe->experts), batch);
    met = parameters.total - idle * parameters.experts;
  }
  const Bytes read = weight_bytes(met, w.weights) / tp +
                     batch * Bytes{kv_elements(arch, context) * row_of(w.kv).weight_bytes} * kv_share(arch, w.tp);
  const Flops step{batch * (2.0 * parameters.active_matrices + score_flops(arch, context))};
  const Seconds read_time = read / rates.memory;
  const Seconds compute_time = step / tp / rates.matrix;
  e.decode_memory_bound = read_time >= compute_time;
  e.tpot = std::max(read_time, compute_time);

  // Every replica prefills each request once and decodes the batch together; pp stages work on different requests.
  const Seconds round = batch * e.ttft / count(w.pp) + count(w.osl) * e.tpot;
  e.requests_per_s = count(e.replicas) * batch / round.raw();
  e.output_tokens_per_s = e.requests_per_s * count(w.osl);
  if (recorder != nullptr) {
    record(arch, device, stack, w, e, rates, *recorder);
  }
  return e;
}

}  // namespace headroom
