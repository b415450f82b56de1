// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/measured/serving_disaggregated.hpp>
#include <headroom/scenarios/measured/serving_run_pools.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace headroom {
namespace {

/// What a launch states of the engine's looks for requests, and of attention groups that wait for each other's prompts.
void set_habits(const ClientFacts& client, const PlacedRow& placed, EngineSettings& engine) {
  engine.recv_interval = std::max<std::int64_t>(1, std::llround(client.recv_interval));
  engine.batch_wait = std::llround(client.batch_wait);
  engine.batch_wait_share = client.batch_wait_share;
  engine.decode_steps = std::llround(client.decode_steps);
  engine.decode_steps_from = std::llround(client.decode_steps_from);
  if (placed.layout.attention_groups() > 1) {
    engine.balance_timeout = std::llround(client.balance_timeout);
    engine.balance_batching = std::llround(client.balance_batching);
    engine.ranks = placed.layout.attention_groups();
  }
}

}  // namespace

bool add_prefilling(const ServingConfiguration& run,
                    ServingPlaces& places,
                    SimulatedQuestion& question,
                    RowPrediction& refusal) {
  const std::optional<double> workers = row_number(run, "prefill_workers");
  if (!workers) {
    refusal = unsupported("not published: prefill_workers");
    return false;
  }
  std::optional<PlacedRow> placed = places.place(prefilling(run), refusal);
  if (!placed) {
    refusal.why = "prefilling workers: " + refusal.why;
    return false;
  }
  SimulatedQuestion prompts = question;
  prompts.placed = std::move(*placed);
  prompts.placed.drafts = {};  // a prompt gives one token, which nothing is drafted for
  prompts.placed.replicas = static_cast<std::int64_t>(*workers);
  prompts.limits = prompts.placed.limits;
  prompts.limits.sequence_tokens =
      std::max<std::int64_t>(1, std::llround(question.load.prompt.mean + question.load.output.mean));
  prompts.memory = serving_memory(prompts.placed.memory, prompts.limits);
  if (prompts.memory.capacity < 1) {
    refusal = unsupported("prefilling workers: " +
                          verdict_text(prompts.memory.verdict, prompts.memory.broke, prompts.memory.limit));
    return false;
  }
  const std::int64_t gpus =
      prompts.placed.replicas * prompts.placed.layout.gpus() + question.placed.replicas * question.placed.layout.gpus();
  const std::optional<CacheTransfer> transfer =
      cache_transfer(prompts.placed, *places.device_of(run), places.catalog(), gpus);
  if (!transfer) {
    refusal = unsupported("the node of " + places.device_of(run)->id +
                          " has no NICs in the catalog, over which the cache would travel");
    return false;
  }
  question.transfer = *transfer;
  question.prefill = std::make_shared<const SimulatedQuestion>(std::move(prompts));
  return true;
}

ServingFleet run_fleet(const SimulatedQuestion& question,
                       const SimulatedReplica& engine,
                       const IterationStack& stack,
                       const SimulatedReplica* prefill) {
  ServingFleet fleet;
  fleet.pool = engine.pool(question.placed.replicas);
  set_habits(question.client, question.placed, fleet.pool.engine);
  if (prefill != nullptr) {
    fleet.prefill = prefill->pool(question.prefill->placed.replicas);
    set_habits(question.client, question.prefill->placed, fleet.prefill->engine);
    fleet.transfer = question.transfer;
  }
  if (question.load.kind == ClientKind::closed) {
    fleet.pool.engine.formed_ahead = stack.formed_ahead ? 1 : 0;
  }
  const double text = question.load.prompt.mean;
  fleet.front_end = picoseconds((stack.way(text) - stack.in_turn(text)).raw());
  fleet.pool.front = front_work(stack, question.client);
  if (fleet.prefill) {
    fleet.prefill->front = fleet.pool.front;
  }
  return fleet;
}

}  // namespace headroom
