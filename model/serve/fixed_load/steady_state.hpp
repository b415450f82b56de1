// SPDX-License-Identifier: Apache-2.0
// What a replica does under a load that does not change: closed forms over the iteration model, for plans, searches and
// fits. Queues and tails need the simulation.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/replica/replica.hpp>

#include <functional>

namespace headroom {

/// Seconds of one iteration.
using IterationCost = std::function<double(const IterationMix&)>;

/// A load on one replica.
struct SteadyLoad {
  double isl = 1.0, osl = 1.0;
  double batch = 1.0;        ///< sequences that run at once: what is asked, as far as cache and engine let it
  double concurrency = 1.0;  ///< requests in flight; those above `batch` wait
  double chunk = 8192.0;     ///< prompt tokens that an iteration takes at most, of each attention group
  double groups = 1.0;       ///< ranks whose attention is data parallel: each fills its own chunks
  double waves = 10.0;       ///< requests sent in all over those in flight: the share of the first burst is 1 / waves
  double stages = 1.0;       ///< of a pipeline, each with its part of the batch
  double queries = 1.0;      ///< tokens of a sequence that an iteration verifies: 1 and its draft
  double step_tokens = 1.0;  ///< that it gives, of those: 1 without speculation
  /// Iterations that an output takes.
  [[nodiscard]] double steps() const noexcept;
};

/// Habits of an engine that a steady state knows.
struct SteadyHabits {
  Seconds request{};          ///< of a request beside its iterations
  double steps = 0.5;         ///< iterations that a prompt waits for before its own
  double burst = 1.0;         ///< time of the prompts that start together over that of full iterations of them
  double interference = 1.0;  ///< share of other requests' prompts that a decoding one meets
  double bubble = 0.3;        ///< share of (pp - 1) / pp that stages wait
};

struct SteadyState {
  Seconds ttft{}, tpot{};
  Seconds decode_step{};        ///< without prompts; with a draft it gives several tokens of a sequence
  Seconds mixed_step{};         ///< one that carries a prompt beside the decodes
  double prompt_share = 0.0;    ///< of the replica's time that prompts take
  double requests_per_s = 0.0;  ///< of the replica
  double output_tokens_per_s = 0.0;
};

/// In all three an output takes s = max(1, osl / step_tokens) iterations, osl where nobody drafts.
///
/// All requests start together and decode until the last is done: T = step(b prompts) + s step(b, isl + osl / 2).
[[nodiscard]] SteadyState static_batch(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// Everything queued: b = batch / stages sequences a stage; an iteration takes q = min(groups chunk, max(b isl / s,
/// min(isl, chunk))) prompt tokens, k = b isl / q such iterations in a cycle of s.
///   cycle = (s - k) step(b) + k step(b - q / isl, q), or k step(b, q) where k > s
///   throughput = stages b osl / cycle / (1 + bubble (stages - 1) / stages)
[[nodiscard]] SteadyState saturated(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// The pools of a disaggregated deployment, each full of its own work: prompts alone, in iterations of groups chunk
/// tokens, and decodes alone, whose tpot is T / step_tokens.
[[nodiscard]] SteadyState prefill_pool(const IterationCost& step, const SteadyLoad& load);
[[nodiscard]] SteadyState decode_pool(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// `concurrency` clients, each sends its next request when the last has ended.
///   tpot = T / step_tokens + interference (b - 1) / osl (T_mixed - T) / p isl / min(isl, chunk)
///   ttft = request + steps T + the prompt's own mixed iterations + u / (2 (1 - u)) of what a prompt adds (M/D/1;
///          Kleinrock 1975, section 5.6) + burst (c - 1) / 2 prefills / waves + (c - b) / b osl tpot where requests
///          wait
/// T of all b decodes at isl + osl / 2 keys, u the share of the time that prompts take from decodes, p the chunks that
/// an iteration carries, each in an attention group of its own: as many as come in its time, at least one and at most
/// one a group.
[[nodiscard]] SteadyState closed_loop(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

}  // namespace headroom
