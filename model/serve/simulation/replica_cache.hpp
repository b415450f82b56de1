// SPDX-License-Identifier: Apache-2.0
// The prefix cache of one engine: free blocks of its KV pool keep their contents until they are taken.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/block_ages.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

class OffloadTiers;

/// The prefix state of a request with ids while it is served.
struct PrefixState {
  std::uint32_t shared = 0;      ///< leading ids whose blocks it uses
  std::uint32_t brought_at = 0;  ///< first id loaded from lower tiers before it was admitted
  std::uint32_t brought = 0;     ///< end of the ids loaded from lower tiers
  bool met = false;              ///< was admitted once
};

/// As in vLLM V1 (vllm/v1/core/block_pool.py): sequences with a common prefix share its blocks; a block that no
/// sequence uses is free but can still be found; new blocks are those that were free for longest; the last blocks of an
/// ended sequence are its oldest. Blocks get their ids in the iteration that computes them. Blocks without an id (of
/// answers, and of prompts that nobody shares) are cached too and age beside the others. A preempted sequence finds its
/// blocks with ids.
/// The blocks here are the engine's free ones; the engine reports when it takes or returns some.
class ReplicaCache {
 public:
  /// `blocks`: size of the pool, all free. `states` and `hits` are indexed by request. `tiers` (may be nullptr) receive
  /// what `replica` computes. `sizes`: prefixes.blocks(block_tokens), which must outlive the object. Precondition:
  /// id_tokens is a multiple of `block_tokens`, or ids differ in size.
  ReplicaCache(const PromptPrefixes& prefixes,
               std::span<PrefixState> states,
               std::span<PrefixHits> hits,
               std::span<const std::int32_t> sizes,
               std::int64_t blocks,
               std::int64_t block_tokens,
               OffloadTiers* tiers,
               std::size_t replica);

  struct Found {
    std::int64_t tokens = 0;  ///< prompt tokens that need not be computed
    std::int64_t in_use = 0;  ///< blocks of those tokens that sequences already use
    std::uint32_t ids = 0;    ///< leading ids in the pool
  };
  /// Number of leading ids of a request that are in the pool.
  [[nodiscard]] std::uint32_t held(std::uint32_t request) const noexcept;
  [[nodiscard]] Found find(std::uint32_t request) const noexcept;
  /// Gives the request the blocks that were found, and new ones until it has `blocks` in total.
  void admit(std::uint32_t request, const Found& found, std::int64_t blocks) noexcept;
  void take(std::int64_t blocks) noexcept { free_.drop(blocks); }
  /// Number of new blocks that can be taken before an id is forgotten.
  [[nodiscard]] std::int64_t before_ids() const noexcept { return free_.before_ids(); }
  /// Marks the first `tokens` of the prompt as computed in the iteration that starts.
  void name(std::uint32_t request, std::int64_t tokens) noexcept;
  /// Marks the first `tokens` of the prompt as computed, as SGLang's radix cache does (mem_cache/radix_cache.py,
  /// cache_unfinished_req): blocks that others computed in the meantime are shared, and its own copies are free; their
  /// number.
  [[nodiscard]] std::int64_t merge(std::uint32_t request, std::int64_t tokens) noexcept;
  /// Marks the whole prompt as computed.
  void computed(std::uint32_t request) noexcept;
  /// Returns all `blocks` of a request; the result is the number that nobody else uses, now free. `answered`: its
  /// answer is in them, and the next turn of its session finds it.
  [[nodiscard]] std::int64_t release(std::uint32_t request, std::int64_t blocks, bool answered) noexcept;

 private:
  [[nodiscard]] bool present(std::uint32_t id) const noexcept { return users_[id] > 0 || free_.holds(id); }
  const PromptPrefixes* prefixes_;
  std::span<PrefixState> states_;
  std::span<PrefixHits> hits_;
  /// Blocks of the first `count` ids of a request.
  [[nodiscard]] std::int64_t blocks_of(std::span<const std::uint32_t> ids) const noexcept;
  std::int64_t block_tokens_;
  BlockAges free_;
  std::vector<std::int32_t> users_;  ///< number of sequences that use each id
  OffloadTiers* tiers_;
  std::size_t replica_;
};

}  // namespace headroom
