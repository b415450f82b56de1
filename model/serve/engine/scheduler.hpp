// SPDX-License-Identifier: Apache-2.0
// The rules by which serving engines fill an iteration, and the limits they keep.
#pragma once

#include <headroom/model/serve/time/simulated_time.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// Whether prompts share an iteration with decodes or run before them, alone.
enum class PromptOrder : std::uint8_t { beside_decodes, before_decodes };

/// KV blocks that a request takes when it is admitted: of the chunk that runs, of its whole prompt, or of its prompt
/// and all its output, after which it never wants another.
enum class Reservation : std::uint8_t { chunk, prompt, whole };

/// What becomes of the newest sequence when blocks run out: its cache is thrown away and computed again, output so far
/// included, or it is copied to the host and back.
enum class Eviction : std::uint8_t { recompute, swap };

/// Requests are admitted first come, first served; a request that was evicted goes before all that wait.
struct SchedulerRules {
  PromptOrder order = PromptOrder::beside_decodes;
  Reservation reservation = Reservation::chunk;
  Eviction eviction = Eviction::recompute;
  bool chunked = true;  ///< a prompt may be split over iterations
  /// What an evicted sequence had computed is found again, but for the blocks that others took meanwhile, its last ones
  /// first: free blocks are taken in the order in which they came free, those of one sequence from its end.
  bool remembers = false;
};

/// vLLM V1 (vllm/v1/core/sched/scheduler.py): every running sequence first, then prompts in chunks up to the budget;
/// blocks as chunks need them; the newest sequence is preempted and computed again; none is admitted in a step that
/// preempted. Prefix caching is on by default, so that freed blocks keep what they hold until they are taken
/// (vllm/v1/core/kv_cache_manager.py, free; block_pool.py).
inline constexpr SchedulerRules vllm_v1{PromptOrder::beside_decodes, Reservation::chunk, Eviction::recompute, true,
                                        true};
/// vLLM V0 (vllm/core/scheduler.py, without chunked prefill): prompts that fit the budget run alone, whole.
inline constexpr SchedulerRules vllm_v0{PromptOrder::before_decodes, Reservation::prompt, Eviction::recompute, false};
/// SGLang (srt/managers/scheduler.py, without mixed chunks): prompts run alone, longer ones in chunks, one after the
/// other before any decode. Its estimate of blocks to come (schedule-conservativeness) is left out.
inline constexpr SchedulerRules sglang{PromptOrder::before_decodes, Reservation::prompt, Eviction::recompute, true};
/// TensorRT-LLM's in-flight batching, GUARANTEED_NO_EVICT: a request runs when its prompt and all its output have
/// blocks. Prompts are whole unless enable_chunked_prefill says otherwise.
inline constexpr SchedulerRules tensorrt_llm_no_evict{PromptOrder::beside_decodes, Reservation::whole,
                                                      Eviction::recompute, false};
/// The same, MAX_UTILIZATION: blocks of the prompt are enough; the newest is paused when they run out.
inline constexpr SchedulerRules tensorrt_llm_max_utilization{PromptOrder::beside_decodes, Reservation::prompt,
                                                             Eviction::recompute, false};

/// By the names that stacks of engines give.
inline constexpr std::array<std::string_view, 5> scheduler_names{
    "vllm-v1", "vllm-v0", "sglang", "tensorrt-llm-no-evict", "tensorrt-llm-max-utilization"};
inline constexpr std::array<SchedulerRules, 5> schedulers{vllm_v1, vllm_v0, sglang, tensorrt_llm_no_evict,
                                                          tensorrt_llm_max_utilization};

/// Speculative decoding (Leviathan et al. 2023): each step of a sequence drafts `draft` tokens, of which each is
/// accepted with the same chance for as long as all before it were, and gives one more beside the accepted. The tables
/// of the engine must be those of such a step: a decode of theirs is a sequence with its draft, verified.
struct Speculation {
  std::int64_t draft = 0;  ///< 0: off
  double acceptance = 0.0;
  std::uint64_t seed = 0;
  /// Of a step and sequence: (1 - a^(draft + 1)) / (1 - a), their equation 1.
  [[nodiscard]] double tokens_per_step() const noexcept;
  /// Tokens of the step of request `id` that has given `generated`: 1 to draft + 1. The same whatever else runs.
  [[nodiscard]] std::int64_t tokens(std::uint64_t id, std::int64_t generated) const noexcept;
};

/// One engine: a replica, or one lane of its pipeline.
struct EngineSettings {
  SchedulerRules rules;
  std::int64_t max_num_seqs = 256;
  std::int64_t max_num_tokens = 8192;  ///< of an iteration; at least max_num_seqs where prompts run beside decodes
  std::int64_t block_tokens = 16;
  std::int64_t blocks = 1;            ///< of the KV pool
  std::int64_t watermark_blocks = 0;  ///< that admission leaves free while something runs (vLLM V0: 1 % of the pool)
  Picoseconds swap_per_block{};       ///< one way, added to the iteration (bytes of a block over the host's link)
  Speculation speculation;
};

}  // namespace headroom
