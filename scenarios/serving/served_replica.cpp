// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/least_iteration.hpp>
#include <headroom/model/serve/replica.hpp>
#include <headroom/model/serve/serving_times.hpp>
#include <headroom/scenarios/plan.hpp>
#include <headroom/scenarios/serve_rules.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// How the pool is measured: in requests of the mean length, for the cache of windows does not grow with every token.
ServingLimits pool_limits(const ServingWorkload& w, const ServingTraffic::Lengths& lengths) {
  ServingLimits limits = w.limits();
  limits.sequence_tokens = std::max<std::int64_t>(1, std::llround(lengths.prompt + lengths.output));
  return limits;
}

/// Kernels of a layout, and what its engine makes of them.
struct Priced {
  SimulatedReplica replica;
  ServingEstimate memory;
  std::vector<std::string> sources;
};

Priced price(const ServeScenario& s, const ServingTraffic::Lengths& lengths, const ServingLayout& layout) {
  ServingWorkload w = s.work;
  w.layout = layout;
  w.gpus = layout.gpus();
  w.max_seq_len = pool_limits(w, lengths).sequence_tokens;
  Priced priced;
  priced.memory = serve_memory(s.architecture, s.device, s.engine, w);
  const ServingEstimate& m = priced.memory;
  if (m.verdict != Verdict::feasible) {
    throw ConfigError{verdict_text(m.verdict, m.broke, m.limit)};
  }
  const ReplicaFormats formats{w.weights, activation_precision(s.device, w.weights), w.kv};
  const IterationPhysics& physics = iteration_physics();
  const EngineKernels kernels{
      s.engine.time.curves, {Routing::power_law, physics.routing}, s.engine.expert_families(s.engine_version)};
  const Node* node = s.host ? &*s.host : nullptr;
  const Replica replica{s.architecture, s.device, node, kernels, layout, formats};
  SimulatedHabits habits;
  habits.chunked_prefill = s.chunked_prefill;
  habits.longest = lengths.longest;
  habits.clock = w.clock;
  std::optional<Drafting> drafting;
  if (w.draft) {
    DraftPlan draft = *w.draft;
    draft.speculation.seed = s.traffic->seed;
    drafting.emplace(draft, s.device, node, s.engine.time, physics, layout, w.kv, w.clock);
    habits.drafting = &*drafting;
  }
  priced.replica = simulated_replica(replica, s.engine, physics, w.limits(), m.memory, habits);
  priced.sources = replica.sources();
  if (drafting) {
    for (const std::string& source : drafting->sources()) {
      priced.sources.push_back("draft: " + source);
    }
  }
  return priced;
}

/// What no engine beats: the mean prompt's iteration and a lone sequence's token at the datasheet's rates.
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

}  // namespace

ServedReplica served_replica(const ServeScenario& s) {
  refuse_untimed_weights(s);
  const ServingTraffic::Lengths lengths = s.traffic->lengths();
  Priced both = price(s, lengths, s.work.layout);
  ServedReplica served;
  served.simulated = std::move(both.replica);
  served.memory = both.memory;
  served.sources = std::move(both.sources);
  served.cache_per_token = served.memory.kv_per_token;
  add_floors(s, lengths, served);
  if (s.fleet->prefill) {
    ServingLayout layout = s.work.layout;
    layout.tp = s.fleet->prefill->tp;
    served.prefill = price(s, lengths, layout).replica;
    served.prefill->engine.speculation = {};  // its draft sees the prompts, whose cache it hands on too
  }
  return served;
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
  if (served.prefill) {
    const DisaggregatedPrefill& p = *s.fleet->prefill;
    fleet.prefill = served.prefill->pool(p.replicas.value_or(prefill_replicas));
    fleet.transfer = {served.cache_per_token, p.link, p.latency};
  }
  return fleet;
}

}  // namespace headroom
