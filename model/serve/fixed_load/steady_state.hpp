// SPDX-License-Identifier: Apache-2.0
// Closed forms of a replica under constant load, for plans, searches and fits. Queues and tails need the simulation.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/replica/replica.hpp>

#include <functional>

namespace headroom {

/// Seconds of one iteration.
using IterationCost = std::function<double(const IterationMix&)>;

struct SteadyLoad {
  /// Tokens of a prompt and of an output.
  double isl = 1.0, osl = 1.0;
  double batch = 1.0;        ///< sequences that run at once, as requested and as far as cache and engine admit them
  double concurrency = 1.0;  ///< requests in flight; those above `batch` wait
  double chunk = 8192.0;     ///< most prompt tokens of an iteration, per attention group
  double groups = 1.0;       ///< data-parallel attention groups, each of which fills its own chunks
  double waves = 10.0;       ///< total requests over those in flight; the first burst has weight 1 / waves
  double stages = 1.0;       ///< pipeline stages, each with its part of the batch
  double queries = 1.0;      ///< tokens of a sequence that an iteration verifies: 1 + draft
  double step_tokens = 1.0;  ///< tokens of a sequence that an iteration yields; 1 without speculation
  /// Iterations per output: max(1, osl / step_tokens).
  [[nodiscard]] double steps() const noexcept;
};

/// Parameters of an engine that affect a steady state.
struct SteadyHabits {
  Seconds request{};          ///< time of a request outside its iterations
  double steps = 0.5;         ///< iterations that a prompt waits before its own
  double burst = 1.0;         ///< time of prompts that start together over that of full iterations of them
  double interference = 1.0;  ///< share (0 to 1) of other requests' prompts that delay a decoding request
  double bubble = 0.3;        ///< share of (pp - 1) / pp that pipeline stages wait
};

struct SteadyState {
  Seconds ttft{}, tpot{};
  Seconds decode_step{};        ///< iteration without prompts; yields several tokens per sequence with a draft
  Seconds mixed_step{};         ///< iteration with a prompt beside the decodes
  double prompt_share = 0.0;    ///< share of the replica's time that prompts take
  double requests_per_s = 0.0;  ///< rate of the replica
  double output_tokens_per_s = 0.0;
};

/// All requests start together and decode until the last is done: T = step(b prompts) + s step(b, isl + osl / 2), with
/// s = load.steps() iterations per output.
[[nodiscard]] SteadyState static_batch(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// A queue that never empties: b = batch / stages sequences per stage. An iteration takes q = min(groups chunk, max(b
/// isl / s, min(isl, chunk))) prompt tokens; a cycle has s = load.steps() iterations, k = b isl / q of them with
/// prompts:
/// @code
/// cycle      = (s - k) step(b) + k step(b - q / isl, q), or k step(b, q) if k > s
/// throughput = stages b osl / cycle / (1 + bubble (stages - 1) / stages)
/// @endcode
[[nodiscard]] SteadyState saturated(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// The pools of a disaggregated deployment at full load: prompts alone, in iterations of groups x chunk tokens, and
/// decodes alone, with tpot = (1 + bubble (stages - 1) / stages) step(b) / step_tokens.
[[nodiscard]] SteadyState prefill_pool(const IterationCost& step, const SteadyLoad& load);
[[nodiscard]] SteadyState decode_pool(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// `concurrency` clients, each of which sends its next request when the last has ended:
/// @code
/// tpot = w (T / step_tokens + interference (b - 1) / osl (T_mixed - T) / p isl / min(isl, chunk))
/// ttft = request + steps T (b - 1) / b + the prompt's own mixed iterations
///        + u / (2 (1 - u)) of what a prompt adds (M/D/1; Kleinrock 1975, section 5.6)
///        + burst (c - 1) / 2 prefills / waves + (c - b) / b osl tpot if requests wait
/// @endcode
/// w = 1 + bubble (stages - 1) / stages. T: iteration of all b decodes at isl + osl / 2 keys. u: share of the time that
/// prompts take from decodes. p: chunks that an iteration carries, each in its own attention group: those that arrive
/// within an iteration, at least one and at most one per group. c: concurrency.
[[nodiscard]] SteadyState closed_loop(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

}  // namespace headroom
