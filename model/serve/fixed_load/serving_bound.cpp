// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/fixed_load/serving_bound.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace headroom {
namespace {

struct Demand {
  double replicas = 1.0, stages = 1.0, groups = 1.0;
  double batch = 1.0;         ///< most sequences that a replica holds
  double output = 1.0;        ///< tokens of an answer
  double step_tokens = 1.0;   ///< tokens of a sequence per iteration
  Bytes weights{}, cache{};   ///< bytes read per iteration on a rank; the cache is of one sequence over its groups
  Seconds prompt{}, token{};  ///< time to multiply a prompt, and one sequence's iteration
  BytesPerSecond bandwidth{};
  FlopsPerSecond peak{};
  [[nodiscard]] double later() const noexcept { return output - 1.0; }
  [[nodiscard]] double iterations() const noexcept { return later() / step_tokens; }
};

double sequences_held(const ServingWorkload& w, const ServingEstimate& e, double replicas) noexcept {
  const double seats = real(w.max_num_seqs * w.layout.attention_groups());
  const double held = e.memory.bounded() ? std::min(seats, real(e.memory.capacity_high)) : seats;
  return std::max(1.0, std::min(real(w.concurrency) / replicas, held));
}

/// Mean cache that a sequence reads per iteration after its first token; keys start at isl + 1.
Bytes mean_cache(const LeastIteration& least, const ServingWorkload& w, double step_tokens) noexcept {
  IterationMix first;
  first.decodes = 1.0;
  first.keys = real(w.isl) + 1.0;
  IterationMix last = first;
  last.keys = std::max(first.keys, real(w.isl + w.osl) - step_tokens);
  return 0.5 * (least.cache_read(first) + least.cache_read(last));
}

Demand demand_of(const LeastIteration& least,
                 const Device& device,
                 const ServingWorkload& w,
                 const ServingEstimate& memory) noexcept {
  Demand d;
  d.replicas = serving_replicas(w, memory);
  d.stages = real(w.layout.pp);
  d.groups = real(w.layout.attention_groups());
  d.batch = sequences_held(w, memory, d.replicas);
  d.output = real(w.osl);
  IterationMix token;
  token.decodes = 1.0;
  if (w.draft) {
    d.step_tokens = w.draft->speculation.tokens_per_step();
    token.queries = w.draft->queries();
  }
  d.weights = least.weights_read(1.0, ExpertsRead::least);
  d.cache = mean_cache(least, w, d.step_tokens);
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1.0;
  prompt.chunk_tokens = prompt.chunk_keys = real(w.isl);
  d.prompt = least.multiply_time(prompt);
  d.token = least.multiply_time(token);
  d.bandwidth = device.bandwidth();
  d.peak = least.peak();
  return d;
}

std::string_view source_of(const std::optional<Sourced<BytesPerSecond>>& number) noexcept {
  return number ? std::string_view{number->source} : std::string_view{};
}

void record(const ServingBound& bound,
            const Demand& d,
            Seconds reading,
            Seconds multiplying,
            const Device& device,
            Rate rate,
            ExplainRecorder& r) {
  const auto& peak = device.peak[static_cast<std::size_t>(rate)];
  const ExplainInput bytes_rate{"B", d.bandwidth.raw(), Shown::bytes_per_second, source_of(device.memory.bandwidth)};
  const ExplainInput flop_rate{"P", d.peak.raw(), Shown::flops_per_second,
                               peak ? std::string_view{peak->source} : std::string_view{}};
  const ExplainInput weights{"W", d.weights.raw(), Shown::bytes,
                             "weights as stored, of a rank; of routed experts none"};
  const ExplainInput cache{"K / g", d.cache.raw(), Shown::bytes, "cache of a sequence on a rank, first to last token"};
  const ExplainInput stages{"pp", d.stages, Shown::count, "layout"};
  const ExplainInput prompt{"F", d.prompt.raw() * d.peak.raw(), Shown::flops, "2 x active weights, of a prompt"};
  const ExplainInput token{"f", d.token.raw() * d.peak.raw(), Shown::flops, "the same, of a sequence's iteration"};
  const ExplainInput held{"b", d.batch, Shown::count, "sequences in flight on a replica"};
  const ExplainInput iterations{"n", d.iterations(), Shown::count, "(osl - 1) / t, t tokens of an iteration"};
  r.line("one prompt alone, at least", "max(W / B, F / (pp P))", "docs/serve-model.md; Williams et al. 2009",
         bound.prompt_alone.raw(), Shown::seconds, {weights, bytes_rate, prompt, flop_rate, stages});
  r.line("tpot, at least", "max((W + K / g) / B, f / P) / t", "docs/serve-model.md; Pope et al. 2022, section 2",
         bound.tpot.raw(), Shown::seconds,
         {weights, cache, bytes_rate, token, flop_rate, {"t", d.step_tokens, Shown::count, "1 without a draft"}});
  r.line("reading of a request, at least", "n (W / b + K / (g pp)) / B", "docs/serve-model.md", reading.raw(),
         Shown::seconds, {iterations, weights, held, cache, stages, bytes_rate});
  r.line("multiplying of a request, at least", "(F + n f) / (pp P)", "docs/serve-model.md", multiplying.raw(),
         Shown::seconds, {prompt, iterations, token, stages, flop_rate});
  r.line("requests/s, at most", "replicas / max((ttft + (osl - 1) tpot) / b, reading, multiplying)",
         "docs/serve-model.md; Little 1961", bound.requests_per_s, Shown::count,
         {{"replicas", d.replicas, Shown::count, "those that have a request"},
          {"ttft", bound.prompt_alone.raw(), Shown::seconds, "one prompt alone, at least"},
          {"osl", d.output, Shown::count, "scenario"},
          {"tpot", bound.tpot.raw(), Shown::seconds, "at least"},
          held,
          {"reading", reading.raw(), Shown::seconds, "of a request, at least"},
          {"multiplying", multiplying.raw(), Shown::seconds, "of a request, at least"}});
}

}  // namespace

ServingBound serving_bound(const Architecture& arch,
                           const Device& device,
                           const ServingWorkload& w,
                           const ServingEstimate& memory,
                           ExplainRecorder* recorder) {
  const LeastIteration least{arch, device, w.layout, {w.weights, activation_precision(device, w.weights), w.kv}};
  const Demand d = demand_of(least, device, w, memory);
  ServingBound bound;
  bound.prompt_alone = std::max(d.weights / d.bandwidth, d.prompt / d.stages);
  bound.tpot = std::max((d.weights + d.cache) / d.bandwidth, d.token) / d.step_tokens;
  const Seconds latency = (bound.prompt_alone + d.later() * bound.tpot) / d.batch;
  const Seconds reading = d.iterations() * ((d.weights / d.batch + d.cache / d.stages) / d.bandwidth);
  const Seconds multiplying = (d.prompt + d.iterations() * d.token) / d.stages;
  const Seconds longest = std::max({latency, reading, multiplying});
  bound.limit = longest == latency   ? RateLimit::latency
                : longest == reading ? RateLimit::reading
                                     : RateLimit::multiplying;
  bound.requests_per_s = d.replicas / longest.raw();
  bound.output_tokens_per_s = bound.requests_per_s * d.output;
  if (recorder != nullptr) {
    record(bound, d, reading, multiplying, device, least.rate(), *recorder);
  }
  return bound;
}

}  // namespace headroom
