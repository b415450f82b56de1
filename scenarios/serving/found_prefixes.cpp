// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/found_prefixes.hpp>

#include <cstddef>

namespace headroom {
namespace {

/// Time per prompt token in an iteration full of prompt tokens, the cheapest way to compute it.
Seconds computed_token(const ReplicaPool& pool) {
  const std::int64_t tokens = pool.engine.max_num_tokens;
  IterationBatch batch;
  batch.add(tokens, true, pool.tables->chunk(tokens, tokens));
  return Seconds{seconds_of(pool.tables->time(batch)) / real(tokens)};
}

/// The simulation always loads what a tier has. Notes where loading takes longer than computing, and where a tier
/// cannot be written as fast as prompts are computed.
void add_notes(const ServeScenario& s,
               const ServedReplica& served,
               const ServingFleet& fleet,
               const FleetResult& result,
               FoundPrefixes& found) {
  const ReplicaPool& pool = fleet.prefill ? *fleet.prefill : fleet.pool;
  const EngineCounters& did = fleet.prefill ? result.prefill.sum : result.pool.sum;
  const Seconds computed = computed_token(pool);
  const double time = seconds_of(result.end);
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    if (fleet.tiers[i].blocks == 0) {
      continue;
    }
    const std::string name = "serving.kv_offload." + std::string{offload_tier_names[i]};
    const Seconds loaded{seconds_of(fleet.tiers[i].per_block) / real(pool.engine.block_tokens)};
    if (loaded > computed) {
      found.notes.push_back(name + ": loading a token takes " + format(loaded) + ", computing one " + format(computed) +
                            ": what is found there is loaded all the same, and later for it");
    }
    ServingLayout layout = s.work.layout;
    layout.tp = served.prefill ? s.fleet->prefill->tp : layout.tp;
    const std::int64_t links = host_links(s.architecture, layout);
    const double written = real(did.prompt_tokens) * served.cache_per_token.raw() / real(pool.replicas);
    const double busy = time > 0.0 ? written / s.fleet->kv_offload.bandwidth(i, links).raw() / time : 0.0;
    if (busy > 1.0) {
      found.notes.push_back(name + ": to write what is computed takes " + percent(busy) +
                            " of the bandwidth; it is filled here as if it were written at once");
    }
  }
}

}  // namespace

std::string FoundPrefixes::text() const {
  std::string text = "prefix cache: " + percent(metrics.hit_share()) + " of the prompt tokens are found, " +
                     percent(metrics.share(metrics.pool)) + " in the KV cache";
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i]) {
      text += ", " + percent(metrics.share(metrics.tiers[i].tokens)) + " in " + std::string{offload_tier_names[i]};
    }
  }
  return text;
}

std::optional<FoundPrefixes> found_prefixes(const ServeScenario& scenario,
                                            const ServedReplica& served,
                                            const ServingFleet& fleet,
                                            const RequestLoad& load,
                                            const FleetResult& result,
                                            std::int64_t warm_up) {
  if (load.prefixes.empty()) {
    return std::nullopt;
  }
  FoundPrefixes found;
  found.metrics = prefix_metrics(load, result, warm_up);
  for (std::size_t i = 0; i < found.tiers.size(); ++i) {
    found.tiers[i] = scenario.fleet->kv_offload.tiers[i].has_value();
    found.loaded[i] = real(found.metrics.tiers[i].loaded) * served.cache_per_token;
  }
  RequestLoad whole = load;
  whole.prefixes = {};
  const ServingMetrics without = serving_metrics(whole, simulate(fleet, whole), {}, warm_up);
  found.ttft_without = without.all.ttft;
  found.overloaded_without = without.overloaded;
  add_notes(scenario, served, fleet, result, found);
  return found;
}

}  // namespace headroom
