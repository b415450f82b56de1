// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/engine_kernels.hpp>
#include <headroom/model/serve/fixed_load/serving_times.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/plan/serve_remedy.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/serve_rules.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Limits for the size of the pool, counted in requests of mean length, because windowed caches do not grow with every
/// token.
ServingLimits pool_limits(const ServingWorkload& w, const ServingTraffic::Lengths& lengths) {
  ServingLimits limits = w.limits();
  limits.sequence_tokens = std::max<std::int64_t>(1, std::llround(lengths.prompt + lengths.output));
  return limits;
}

/// A replica with its priced kernels and its memory.
struct Priced {
  SimulatedReplica replica;
  ServingEstimate memory;
  std::vector<std::string> sources;
};

/// Why a replica cannot hold a request; with `alone` (no other model on its GPUs) also what would help.
std::string refusal(const ServeScenario& s, const ServingWorkload& w, const ServingMemory& memory, bool alone) {
  std::string ways;
  for (const Change& way : alone ? ways_out(s, w) : Changes{}) {
    ways += (ways.empty() ? "; it would with " : ", or ") + text_of(way);
  }
  return memory_refusal(s, memory) + ways;
}

/// `pool`: KV pool of one GPU where other models limit it.
Priced price(const ServeScenario& s,
             const ServingTraffic::Lengths& lengths,
             const ServingLayout& layout,
             std::optional<Bytes> pool = std::nullopt) {
  ServingWorkload w = s.work;
  w.layout = layout;
  w.gpus = layout.gpus();
  w.max_seq_len = pool_limits(w, lengths).sequence_tokens;
  Priced priced;
  priced.memory = serve_memory(s.architecture, s.device, s.engine, w);
  if (pool) {
    const CompiledServingMemory compiled =
        compile_serving_memory(s.architecture, s.device, s.engine.memory, layout, w.weights, w.kv);
    priced.memory.memory = with_pool(compiled, w.limits(), priced.memory.memory, *pool);
    priced.memory.verdict = priced.memory.memory.verdict;
  }
  const ServingEstimate& m = priced.memory;
  if (m.verdict != Verdict::feasible) {
    const bool laid_out = m.memory.terms.total().raw() > 0.0;
    throw Unserved{laid_out ? DropCause::memory : DropCause::rule, refusal(s, w, m.memory, !pool)};
  }
  const ReplicaFormats formats{w.weights, activation_precision(s.device, w.weights), w.kv, w.weight_kernels};
  const IterationPhysics& physics = iteration_physics(*s.data);
  const EngineKernels kernels = engine_kernels(s.engine, physics, s.engine.release);
  const Node* node = s.host ? &*s.host : nullptr;
  const Replica replica{*s.data, s.architecture, s.device, node, kernels, layout, formats};
  SimulatedHabits habits;
  habits.chunked_prefill = s.chunked_prefill;
  habits.longest = lengths.longest;
  habits.prompt = std::llround(lengths.computed);
  habits.text = lengths.prompt;
  habits.clock = w.clock;
  habits.client = w.client;
  std::optional<Drafting> drafting;
  if (w.draft) {
    DraftPlan draft = *w.draft;
    draft.speculation.seed = s.traffic->seed;
    drafting.emplace(*s.data, draft, s.device, node, s.engine.time, physics, layout, w.kv, w.clock);
    habits.drafting = &*drafting;
  }
  priced.replica = simulated_replica(replica, s.engine, physics, w.limits(), m.memory, habits);
  if (EngineSettings& e = priced.replica.engine; e.rules.eviction == Eviction::swap) {
    const BytesPerSecond links = real(host_links(s.architecture, layout)) * s.fleet->kv_offload.host_link.value();
    e.swap_per_block = picoseconds((real(e.block_tokens) * m.kv_per_token / links).raw());
  }
  priced.sources = replica.sources();
  if (drafting) {
    for (const std::string& source : drafting->sources()) {
      priced.sources.push_back("draft: " + source);
    }
  }
  return priced;
}

/// Adds the bounds that no engine beats: the mean prompt's iteration and a lone sequence's token at the datasheet's
/// rates.
void add_floors(const ServeScenario& s, const ServingTraffic::Lengths& lengths, ServedReplica& served) {
  const ServingWorkload& w = s.work;
  const LeastIteration least{
      s.architecture, s.device, w.layout, {w.weights, activation_precision(s.device, w.weights), w.kv}};
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1.0;
  prompt.chunk_tokens = lengths.computed;
  prompt.chunk_keys = lengths.prompt;
  IterationMix token;
  token.decodes = 1.0;
  token.keys = lengths.prompt + 0.5 * lengths.output;
  served.least_first_token = Seconds{least.time(prompt, ExpertsRead::least)};
  token.queries = w.draft ? w.draft->queries() : 1.0;
  served.least_token = Seconds{least.time(token, ExpertsRead::least) / token.queries};
}

ServedReplica priced_model(const ServeScenario& s, std::optional<Bytes> pool) {
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  Priced both = price(s, lengths, s.work.layout, pool);
  ServedReplica served;
  served.simulated = std::move(both.replica);
  served.memory = both.memory;
  served.sources = std::move(both.sources);
  served.cache_per_token = served.memory.kv_per_token;
  add_floors(s, lengths, served);
  return served;
}

/// Prices each model with its part of the KV cache.
ServedReplica served_together(const ServeScenario& s) {
  const BesideMemory memory = beside_memory(s);
  std::vector<ServedReplica> models;
  for (std::size_t i = 0; i < model_count(s); ++i) {
    const ServeScenario one = alone(s, i);
    refuse_untimed_weights(one);
    models.push_back(priced_model(one, memory.pools[i]));
    models.back().kv_share = memory.shares[i];
  }
  ServedReplica first = std::move(models.front());
  models.erase(models.begin());
  first.beside = std::move(models);
  return first;
}

}  // namespace

MemoryBreakdown ServedReplica::terms() const noexcept {
  MemoryBreakdown all = memory.memory.terms;
  for (const ServedReplica& other : beside) {
    for (std::size_t i = 0; i < memory_term_count; ++i) {
      all.bytes[i] += other.memory.memory.terms.bytes[i];
    }
  }
  return all;
}

ServedReplica served_replica(const ServeScenario& s) {
  if (!s.beside.empty()) {
    return served_together(s);
  }
  refuse_untimed_weights(s);
  ServedReplica replica = priced_model(s, std::nullopt);
  if (s.fleet->prefill) {
    ServingLayout layout = s.work.layout;
    layout.tp = s.fleet->prefill->tp;
    replica.prefill = price(s, s.traffic->lengths(), layout, std::nullopt).replica;
    replica.prefill->engine.speculation = {};  // prefill replicas run the draft over prompts too, but do not speculate
  }
  return replica;
}

ServingFleet serving_fleet(const ServeScenario& s,
                           const ServedReplica& served,
                           std::int64_t replicas,
                           std::int64_t prefill_replicas) {
  ServingFleet fleet;
  fleet.pool = served.simulated.pool(replicas);
  fleet.routing = s.fleet->routing;
  fleet.front_end = served.simulated.front_end;
  fleet.seed = s.traffic->seed;
  fleet.prefix_routing = s.fleet->prefix_routing;
  const SimulatedReplica& prompts = served.prefill ? *served.prefill : served.simulated;
  ServingLayout layout = s.work.layout;
  layout.tp = served.prefill ? s.fleet->prefill->tp : layout.tp;
  fleet.tiers = offload_tiers(s.fleet->kv_offload, real(prompts.engine.block_tokens) * served.cache_per_token,
                              host_links(s.architecture, layout));
  if (served.prefill) {
    const DisaggregatedPrefill& p = *s.fleet->prefill;
    fleet.prefill = served.prefill->pool(p.replicas.value_or(prefill_replicas));
    fleet.transfer = {served.cache_per_token, p.link, p.latency};
  }
  for (const ServedReplica& other : served.beside) {
    fleet.beside.push_back({other.simulated.tables.get(), other.simulated.engine});
  }
  for (const RequestClass& c : s.traffic->classes) {
    fleet.model_of_class.push_back(c.model);
  }
  return fleet;
}

}  // namespace headroom
