// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Blocks of a pool whose sequences take (almost) no memory: more than any run fills.
constexpr double most_blocks = 0x1p40;

std::int64_t blocks_of(const ServingMemory& memory, double block_tokens) noexcept {
  const double tokens = memory.bounded() ? memory.tokens : most_blocks * block_tokens;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(most_blocks, tokens / block_tokens)));
}

}  // namespace

FrontWork front_work(const IterationStack& stack, const ClientFacts& client) noexcept {
  return {picoseconds(stack.in_turn(1.0).raw() / client.front_ends),
          picoseconds(stack.piece.raw() / client.stream_interval / client.front_ends)};
}

SimulatedReplica simulated_replica(const Replica& replica,
                                   const ServingStack& stack,
                                   const IterationPhysics& physics,
                                   const ServingLimits& limits,
                                   const ServingMemory& memory,
                                   const SimulatedHabits& habits) {
  const ServingLayout& layout = replica.layout();
  const std::int64_t groups = layout.attention_groups();
  SimulatedReplica s;
  s.gpus = layout.gpus();
  s.lanes = std::max<std::int64_t>(1, layout.pp);
  s.front_end = picoseconds((stack.time.way(habits.text) - stack.time.in_turn(habits.text)).raw());
  s.front = front_work(stack.time, habits.client);
  EngineSettings& e = s.engine;
  e.rules = stack.scheduler;
  // An engine that waits for its drafts has nothing launched ahead.
  e.late_results = stack.time.late_results && (habits.drafting == nullptr || habits.drafting->speculation().overlapped);
  e.rules.chunked = habits.chunked_prefill.value_or(e.rules.chunked);
  e.block_tokens = stack.memory.block_tokens;
  e.blocks = std::max(s.lanes, blocks_of(memory, real(e.block_tokens)));
  e.max_num_tokens = limits.max_num_tokens * groups;
  // More places than blocks are never used, but would enlarge the tables.
  e.max_num_seqs = std::min(limits.max_num_seqs * groups, e.blocks);
  const std::int64_t longest = habits.longest > 0 ? habits.longest : limits.sequence_tokens;
  const TableReach reach{e.max_num_seqs, e.max_num_tokens, std::max<std::int64_t>(2, longest),
                         std::min(habits.prompt, limits.max_num_tokens)};
  if (habits.drafting != nullptr) {
    e.speculation = habits.drafting->speculation();
  }
  const MixTerms priced = [&](const IterationMix& mix, TablePoint point) { return priced_terms(replica, mix, point); };
  s.tables = std::make_shared<const IterationTables>(
      make_iteration_tables(replica, stack.time, physics, reach, habits.clock, habits.terms ? habits.terms : priced,
                            habits.drafting, habits.beams));
  return s;
}

}  // namespace headroom
