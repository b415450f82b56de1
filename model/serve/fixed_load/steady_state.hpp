// SPDX-License-Identifier: Apache-2.0
// Closed forms of a replica under constant load, for plans, searches and fits. Queues and tails need the simulation.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/client_facts.hpp>
#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/replica/replica.hpp>

#include <functional>

namespace headroom {

/// Seconds of one iteration.
using IterationCost = std::function<double(const IterationMix&)>;

struct SteadyLoad {
  /// Tokens of a prompt and of an output.
  double isl = 1.0, osl = 1.0;
  double batch = 1.0;          ///< sequences that run at once, as requested and as far as cache and engine admit them
  double concurrency = 1.0;    ///< requests in flight; those above `batch` wait
  double chunk = 8192.0;       ///< most prompt tokens of an iteration, per attention group
  double groups = 1.0;         ///< data-parallel attention groups, each of which fills its own chunks
  double waves = 10.0;         ///< total requests over those in flight; the first burst has weight 1 / waves
  double stages = 1.0;         ///< pipeline stages, each with its part of the batch
  double queries = 1.0;        ///< tokens of a sequence that an iteration verifies: 1 + draft
  double beams = 1.0;          ///< answers that a request decodes side by side, each over the whole cache of its own
  double step_tokens = 1.0;    ///< tokens of a sequence that an iteration yields; 1 without speculation
  double requests = 0.0;       ///< requests of a set that ends; 0: endless
  double set_seconds = 0.0;    ///< a set that ends holds no fewer than a full replica answers in so long
  double output_cv = 0.0;      ///< standard deviation of the outputs' lengths over their mean, of requests all queued
  double longest = 0.0;        ///< longest output among those that run when a set ends; 0: the mean
  double found = 0.0;          ///< share (0 to 1) of the prompts that a prefix cache holds whole
  bool prompts_first = false;  ///< iterations with prompts have no decodes, which wait for them
  /// Outputs are all equal: what starts together ends together, and comes back together.
  bool in_step = false;
  ClientFacts client;
  /// Iterations per output: max(1, osl / step_tokens).
  [[nodiscard]] double steps() const noexcept;
  /// Tokens that a sequence in a full batch has answered, in the mean, which are as many as it has to: osl (1 + cv^2) /
  /// 2, because longer outputs are met more often (renewal theory; Cox 1962, section 5.4).
  [[nodiscard]] double answered() const noexcept;
};

/// Parameters of an engine that affect a steady state.
struct SteadyHabits {
  Seconds request{};          ///< time of a request outside its iterations
  double steps = 0.5;         ///< iterations that a prompt waits before its own
  double burst = 1.0;         ///< time of prompts that start together over that of full iterations of them
  double interference = 1.0;  ///< share (0 to 1) of other requests' prompts that delay a decoding request
  double bubble = 0.3;        ///< share of (pp - 1) / pp that pipeline stages wait
  double piece = 0.0;         ///< seconds that a process of the front end takes for a streamed piece
  bool holds_first = false;   ///< the first token waits until its piece is full
  double text = 0.0;          ///< seconds that it takes for a prompt's text
  bool late_results = false;  ///< first tokens that more prompts follow come when these have ended
};

/// Of an engine, for prompts of `prompt` tokens.
[[nodiscard]] SteadyHabits steady_habits(const IterationStack& stack, double prompt, double bubble) noexcept;

/// The time to first token as a sum.
struct FirstToken {
  Seconds client{};     ///< behind the others of the first burst
  Seconds front_end{};  ///< HTTP, tokeniser, and pieces of others before the own
  Seconds queue{};      ///< for a look at new requests, for a place, and behind prompts that came before
  Seconds own{};        ///< the prompt's own iterations, host and kernels
  Seconds rank_wait{};  ///< for prompts of other attention groups in these iterations
  Seconds behind{};     ///< until prompts that follow are launched
  Seconds response{};   ///< until a first piece is full
  [[nodiscard]] Seconds total() const noexcept {
    return client + front_end + queue + own + rank_wait + behind + response;
  }
};

struct SteadyState {
  Seconds ttft{}, tpot{};
  FirstToken first;             ///< parts of `ttft` in a closed loop
  double decoding = 0.0;        ///< sequences of a stage that decode together; 0: none do
  Seconds decode_step{};        ///< iteration without prompts; yields several tokens per sequence with a draft
  Seconds mixed_step{};         ///< iteration with a prompt beside the decodes
  double prompt_share = 0.0;    ///< share of the replica's time that prompts take
  double requests_per_s = 0.0;  ///< rate of the replica
  double output_tokens_per_s = 0.0;
};

/// All requests start together and decode until the last is done: T = step(b prompts) + s step(b, isl + osl / 2), with
/// s = load.steps() iterations per output.
[[nodiscard]] SteadyState static_batch(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// A queue that never empties: b sequences per stage, batch / stages of them or as many as prompts keep up with: s
/// groups chunk / isl, since each decodes for s = load.steps() iterations. An iteration takes q = min(groups chunk,
/// max(b isl / s, min(isl, chunk))) prompt tokens; a cycle has s iterations, k = b isl / q of them with prompts:
/// @code
/// cycle      = (s - k) step(b) + k step(b - q / isl, q)
/// throughput = stages b osl / cycle / (1 + bubble (stages - 1) / stages)
/// @endcode
/// A set of N requests ends: with f = b isl / (groups chunk) iterations that fill the batch with full chunks, and as
/// many in which it empties as the longest output among b takes, l, while the mean one of them has r = s (1 + cv^2) / 2
/// left, N osl tokens take f step(b / 2, groups chunk) + (N s / b - f / 2 - r) cycle / s + r step(b) + (l - r) step(1),
/// which is s step(b / 2) where outputs are equal and step is a line. N is `requests`, or what the throughput above
/// takes `set_seconds` for, whichever is more. Under balanced attention-DP an iteration with prompts comes but once in
/// p iterations, and q is p times as large. An engine that runs prompts first decodes in s iterations beside the k:
/// cycle = s step(b) + k step(0, q), and decodes nothing while it fills.
[[nodiscard]] SteadyState saturated(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// The pools of a disaggregated deployment at full load: prompts alone, in iterations of groups x chunk tokens, and
/// decodes alone, with tpot = (1 + bubble (stages - 1) / stages) step(b) / step_tokens.
[[nodiscard]] SteadyState prefill_pool(const IterationCost& step, const SteadyLoad& load);
[[nodiscard]] SteadyState decode_pool(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

/// `concurrency` clients, each of which sends its next request when the last has ended:
/// @code
/// tpot = w (T / step_tokens + interference (1 - found) (b - 1) / osl (T_mixed - T) / p isl / min(isl, chunk))
/// ttft = client + front end + queue + own + rank wait + behind + response
///   client    = burst (c - 1) / 2 prefills / waves
///   front end = request + what c texts and c osl / stream_interval pieces take longer than the engine
///   queue     = (steps (b - 1) / b + (recv_interval - 1) / 2 + wait for more prompts) T
///               + u / (2 (1 - u)) of what a prompt adds (M/D/1; Kleinrock 1975, section 5.6)
///               + (c - b) / b osl tpot if requests wait
///   own       = the prompt's own mixed iterations; one decode where its prefix is found
///   behind    = the iteration of prompts that follows where tokens are handed out once it is launched
///               (`late_results`): all but the last of those in step, else 1 - exp(-x), x prompts coming while the own
///               iterations run; an answer ends when it did, so that tpot is shorter by behind / (osl - 1)
///   response  = (stream_interval - 1) tpot where a first piece has to be full
/// @endcode
/// b: batch, or as many as prompts keep up with (saturated()). Of k prompts that come while the first waits
/// `batch_wait` iterations the mean waits (k + 1) / (2 k) of them; none waits that alone fills its share of a chunk. w
/// = 1 + bubble (stages - 1) / stages. T: iteration of all b decodes at isl + osl / 2 keys. u: share of the time that
/// prompts take from decodes. p: chunks that an iteration with any carries: x / (1 - exp(-x)) of those that arrive
/// within an iteration, x in the mean, or as many as it holds of clients in step; at least one. c: concurrency.
///
/// Where prompts come first (`prompts_first`) T_mixed - T is a whole iteration of prompts, shared by those that come
/// between two looks for requests. Clients that such an engine keeps in step (`in_step`) send all their prompts at
/// once: with m = min(b, groups chunk / isl) of them in an iteration, one that has its first token waits for (b - m) /
/// 2 others' in the mean, each a full iteration's share, and so long is every burst, not the first alone.
[[nodiscard]] SteadyState closed_loop(const IterationCost& step, const SteadyLoad& load, const SteadyHabits& habits);

}  // namespace headroom
