// SPDX-License-Identifier: Apache-2.0
// The rules by which serving engines fill an iteration, and their limits.
#pragma once

#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Whether prompts share an iteration with decodes, or run alone before them.
enum class PromptOrder : std::uint8_t { beside_decodes, before_decodes };

/// KV blocks that a request reserves at admission: for the next chunk, its prompt, or its prompt and whole output.
enum class Reservation : std::uint8_t { chunk, prompt, whole };

/// What happens to the newest sequence when blocks run out: its cache is discarded and recomputed including the output
/// so far, or it is copied to the host and back.
enum class Eviction : std::uint8_t { recompute, swap };

/// What an engine that forms an iteration before the tokens of the one before it are known (overlap of the scheduler
/// with the device) does with a sequence whose last token it has not seen yet: nothing, as it waits for the tokens; it
/// keeps the place and the blocks for one iteration more, without running it; or it runs it once more among the
/// decodes.
enum class Overlap : std::uint8_t { none, holds_ended, runs_ended };

/// Admission by an estimate of the tokens that running sequences will still need (SGLang:
/// srt/managers/schedule_policy.py, PrefillAdder; schedule_batch.py, retract_decode; scheduler.py,
/// update_running_batch). A request is admitted while the pool has room for its prompt, its longest answer and `ratio`
/// of what each running sequence may still answer. The ratio falls with every iteration of decodes and rises when the
/// pool runs out. Then the sequences with the fewest tokens of output, of these the longest prompts, are put back
/// behind all that wait. Who was refused for lack of room is looked at again when a sequence has left.
struct FutureTokens {
  double first_ratio = 0.0;  ///< 0: no estimate
  double least_ratio = 0.0;
  double decay = 0.0;               ///< of the ratio, an iteration of decodes
  std::int64_t most_output = 0;     ///< tokens of output that are counted for the request to admit
  std::int64_t put_back_for = 0;    ///< tokens of each remaining sequence that must be free after putting back
  std::int64_t ratio_for = 0;       ///< tokens of each remaining sequence that the ratio then allows for
  bool counts_done_output = false;  ///< a request that was put back counts its whole answer beside what it has of it
  std::int64_t most_prompt = 0;     ///< prompt tokens of an iteration if prompts are not split
};

/// Requests are admitted first come, first served; an evicted request goes before all that wait.
struct SchedulerRules {
  PromptOrder order = PromptOrder::beside_decodes;
  Reservation reservation = Reservation::chunk;
  Eviction eviction = Eviction::recompute;
  bool chunked = true;  ///< a prompt may be split over several iterations
  /// The blocks of an evicted sequence stay cached until others take them. Free blocks are taken in the order in which
  /// they were freed, those of one sequence from its end.
  bool remembers = false;
  Overlap overlap = Overlap::none;
  /// A prompt that takes blocks by the chunk waits until all of it would have blocks.
  bool whole_prompt_fits = false;
  /// Whole prompts that exceed what is left of the budget are passed over for those behind them; the last one passed
  /// over is the first of the next iteration. One that exceeds any iteration runs once no other prompt does.
  bool passes_over = false;
  FutureTokens future{};
};

/// vLLM V1 (vllm/v1/core/sched/scheduler.py): all running sequences first, then prompts in chunks up to the token
/// budget; blocks as chunks need them; the newest sequence is preempted and recomputed; a step that preempts admits
/// none. Prefix caching is on by default, so freed blocks keep their contents until they are taken
/// (vllm/v1/core/kv_cache_manager.py, free; block_pool.py).
inline constexpr SchedulerRules vllm_v1{
    PromptOrder::beside_decodes, Reservation::chunk, Eviction::recompute, true, true, Overlap::none, false, true};
/// vLLM V1 from 0.14 on: iterations are formed while the one before runs (v1/core/sched/async_scheduler.py, the default
/// from pull request 27614 on), and a prompt waits until the pool has blocks for all of it (scheduler_reserve_full_isl,
/// on from pull request 37307 on, which is 0.19).
inline constexpr SchedulerRules vllm_v1_async{
    PromptOrder::beside_decodes, Reservation::chunk, Eviction::recompute, true, true, Overlap::holds_ended, true};
/// vLLM V0 (vllm/core/scheduler.py, without chunked prefill): prompts that fit the budget run alone and whole.
inline constexpr SchedulerRules vllm_v0{PromptOrder::before_decodes, Reservation::prompt, Eviction::recompute, false};
/// SGLang (srt/managers/scheduler.py, without mixed chunks): prompts run alone, longer ones in consecutive chunks
/// before any decode, in rounds: without its estimate of future tokens and without overlap.
inline constexpr SchedulerRules sglang{PromptOrder::before_decodes, Reservation::prompt, Eviction::recompute, true};
/// Its ratios: global_config.py and srt/environ.py (0.7, of which 0.14 remain after 600 iterations of decodes), with
/// --schedule-conservativeness 1; CLIP_MAX_NEW_TOKENS, retract_decode_steps, --max-prefill-tokens.
inline constexpr FutureTokens sglang_future{0.7, 0.7 * 0.14, (0.7 - 0.7 * 0.14) / 600.0, 4096, 1, 20, false, 16384};
/// SGLang with its estimate and its overlap (event_loop_overlap, the default), as 0.5.9 has them. Up to 0.4.6 sequences
/// were put back until `put_back_for` of 20 was free; up to 0.5.2 what is put back counted its whole answer again.
inline constexpr SchedulerRules sglang_overlap{PromptOrder::before_decodes,
                                               Reservation::chunk,
                                               Eviction::recompute,
                                               true,
                                               true,
                                               Overlap::runs_ended,
                                               false,
                                               false,
                                               sglang_future};
/// TensorRT-LLM's in-flight batching, GUARANTEED_NO_EVICT: a request is admitted when its prompt and whole output have
/// blocks. Prompts run whole unless enable_chunked_prefill is set.
inline constexpr SchedulerRules tensorrt_llm_no_evict{PromptOrder::beside_decodes, Reservation::whole,
                                                      Eviction::recompute, false};
/// TensorRT-LLM's in-flight batching, MAX_UTILIZATION: the prompt's blocks suffice; without blocks the newest pauses.
inline constexpr SchedulerRules tensorrt_llm_max_utilization{PromptOrder::beside_decodes, Reservation::prompt,
                                                             Eviction::recompute, false};

/// Names of the rules in the engines' stacks, in the order of `schedulers`.
inline constexpr std::array<std::string_view, 7> scheduler_names{"vllm-v1",
                                                                 "vllm-v1-async",
                                                                 "vllm-v0",
                                                                 "sglang",
                                                                 "sglang-overlap",
                                                                 "tensorrt-llm-no-evict",
                                                                 "tensorrt-llm-max-utilization"};
inline constexpr std::array<SchedulerRules, 7> schedulers{
    vllm_v1, vllm_v1_async, vllm_v0, sglang, sglang_overlap, tensorrt_llm_no_evict, tensorrt_llm_max_utilization};

/// Speculative decoding (Leviathan et al. 2023): each step of a sequence drafts `draft` tokens. Each draft token is
/// accepted with probability `acceptance` if all before it were; the step also yields one further token. The engine's
/// tables must describe such steps: one decode in them is a sequence with its draft, verified.
struct Speculation {
  std::int64_t draft = 0;  ///< tokens drafted per step; 0: no speculation
  /// Probability (0 to 1) that a draft token is accepted after its predecessors.
  double acceptance = 0.0;
  std::uint64_t seed = 0;
  bool overlapped = false;  ///< the engine forms a step while the one before it still verifies
  /// Mean tokens per step and sequence: (1 - a^(draft + 1)) / (1 - a) (Leviathan et al. 2023, equation 1).
  [[nodiscard]] double tokens_per_step() const noexcept;
  /// The random numbers of request `id`: those of other requests are independent of them.
  [[nodiscard]] std::uint64_t stream(std::uint64_t id) const noexcept { return scatter(seed ^ scatter(id)); }
  /// Tokens (1 to draft + 1) of a step for its random bits: k drafts or more are accepted with probability a^k.
  [[nodiscard]] std::int64_t tokens_of(std::uint64_t bits) const noexcept {
    const double drawn = unit_interval(bits);
    std::int64_t tokens = 1;
    double chance = acceptance;
    for (std::int64_t k = 0; k < draft; ++k) {
      tokens += drawn < chance ? 1 : 0;
      chance *= acceptance;
    }
    return tokens;
  }
  /// The same of a request's step number `step`.
  [[nodiscard]] std::int64_t tokens(std::uint64_t stream, std::int64_t step) const noexcept {
    return tokens_of(scattered(stream, static_cast<std::uint64_t>(step)));
  }
};

/// One engine: a replica, or one lane of its pipeline.
struct EngineSettings {
  SchedulerRules rules;
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_tokens = 8192;  ///< tokens per iteration; at least max_num_seqs if prompts run beside decodes
  /// Tokens of one KV block.
  std::int64_t block_tokens = 16;
  std::int64_t blocks = 1;  ///< blocks of the KV pool
  /// Blocks that admission leaves free while anything runs (vLLM V0: 1 % of the pool).
  std::int64_t watermark_blocks = 0;
  /// Iterations of decodes between two looks for new requests (SGLang --scheduler-recv-interval); an iteration with
  /// prompts, or an idle engine, looks at once (srt/managers/scheduler_recv_skipper.py).
  std::int64_t recv_interval = 1;
  /// Iterations that prompts wait beside decodes for more of them, until together they fill `batch_wait_share` of
  /// max_num_tokens (TensorRT-LLM batch_wait_timeout_iters and batch_wait_max_tokens_ratio; py_executor.py,
  /// _waiting_requests).
  std::int64_t batch_wait = 0;
  double batch_wait_share = 0.0;
  /// Iterations of decodes behind each one that may take prompts, while at least `decode_steps_from` sequences run; the
  /// engine counts every iteration (VLLM_SUBSEQUENT_DECODE_STEPS and VLLM_MIN_REQUEST_DECODE_STEP of AMD's patch of
  /// vLLM, gbeezybez/inference_results_v6.0@232fbf90, closed/AMD/setup/llama2-70b-99/patches;
  /// v1/core/sched/scheduler.py, schedule). A prompt that has begun goes on in any iteration. 0: each may take prompts.
  std::int64_t decode_steps = 0;
  std::int64_t decode_steps_from = 0;
  /// Balanced attention-DP over `ranks` (TensorRT-LLM attention_dp_config; py_executor.py, _balance_adp_requests):
  /// prompts wait beside decodes until every rank has one and a place for it, and `balance_batching` iterations more;
  /// every `balance_timeout` iterations those that wait run although some rank has none. A new request goes to the rank
  /// with the fewest, so that as many waiting ones as ranks are one on each. 0: none waits.
  std::int64_t balance_timeout = 0;
  std::int64_t balance_batching = 0;
  std::int64_t ranks = 1;
  /// Iterations that are formed before the running one has ended (overlap of the engine's scheduler with its device): a
  /// request that comes while one runs, or as one starts, joins none of the next so many. An engine with nothing to run
  /// takes it at once. (NVIDIA/TensorRT-LLM, py_executor.py, _executor_loop_overlap: requests are fetched and the next
  /// iteration is launched before the tokens of the running one are awaited.)
  std::int64_t formed_ahead = 0;
  /// Tokens of an iteration are handed out once the next one has been launched. Decodes are launched as one graph, but
  /// prompts kernel by kernel, which takes as long as they run: first tokens that more prompts follow come when these
  /// have ended (sgl-project/sglang, event_loop_overlap; pull requests 11856 and 26226, which measures a mean first
  /// token of 100 clients without it: 4.0 -> 2.8 s).
  bool late_results = false;
  Picoseconds swap_per_block{};  ///< time of a block over the host's link, one way; added to the iteration
  Speculation speculation;
};

}  // namespace headroom
