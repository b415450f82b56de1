// SPDX-License-Identifier: Apache-2.0
// The prefix cache of one engine: the blocks of its KV pool that nobody uses keep what they hold until they are wanted.
#pragma once

#include <headroom/model/serve/load/prompt_prefixes.hpp>
#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/block_ages.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

class OffloadTiers;

/// What is kept of a request with ids while it is served.
struct PrefixState {
  std::uint32_t shared = 0;      ///< ids, from the first on, that its blocks go by
  std::uint32_t brought_at = 0;  ///< ids from here
  std::uint32_t brought = 0;     ///< to here were loaded from tiers below before it came
  bool met = false;              ///< was admitted once
};

/// As in vLLM V1 (vllm/v1/core/block_pool.py): sequences with one prefix share its blocks; a block that no sequence
/// uses is free and still found; new blocks are the ones that were free for longest, whatever they hold; of a sequence
/// that ends its last blocks are the older ones. Blocks have their ids from the iteration on in which they are
/// computed. Blocks without an id (of answers, and of what no other prompt shares) are cached by the engine too, so
/// that they age beside the others. One that is preempted finds of its own blocks those with ids.
///
/// The blocks here are the engine's free ones: it says when it takes some and when it gives some back.
class ReplicaCache {
 public:
  /// `blocks`: of the pool, all free. `states` and `hits` by request. The tiers, where there are some, are told what
  /// `replica` computes. Precondition: id_tokens is a multiple of `block_tokens`.
  ReplicaCache(const PromptPrefixes& prefixes,
               std::span<PrefixState> states,
               std::span<PrefixHits> hits,
               std::int64_t blocks,
               std::int64_t block_tokens,
               OffloadTiers* tiers,
               std::size_t replica);

  struct Found {
    std::int64_t tokens = 0;  ///< of the prompt that need not be computed
    std::int64_t in_use = 0;  ///< blocks of them that sequences use already
    std::uint32_t ids = 0;    ///< in the pool
  };
  /// Leading ids of a request that are in the pool.
  [[nodiscard]] std::uint32_t held(std::uint32_t request) const noexcept;
  [[nodiscard]] Found find(std::uint32_t request) const noexcept;
  /// The request takes what was found, and beside it new blocks until it has `blocks` in all.
  void admit(std::uint32_t request, const Found& found, std::int64_t blocks) noexcept;
  /// New blocks.
  void take(std::int64_t blocks) noexcept { free_.drop(blocks); }
  /// New blocks that may be taken before something is forgotten.
  [[nodiscard]] std::int64_t before_ids() const noexcept { return free_.before_ids(); }
  /// The first `tokens` of its prompt are computed in the iteration that starts.
  void name(std::uint32_t request, std::int64_t tokens) noexcept;
  /// Its prompt is computed.
  void computed(std::uint32_t request) noexcept;
  /// Gives back all `blocks` of a request; what nobody else uses of them is free from now on, and is returned.
  [[nodiscard]] std::int64_t release(std::uint32_t request, std::int64_t blocks) noexcept;

 private:
  [[nodiscard]] bool present(std::uint32_t id) const noexcept { return users_[id] > 0 || free_.holds(id); }
  const PromptPrefixes* prefixes_;
  std::span<PrefixState> states_;
  std::span<PrefixHits> hits_;
  std::int64_t id_blocks_;
  BlockAges free_;
  std::vector<std::int32_t> users_;  ///< by id: sequences
  OffloadTiers* tiers_;
  std::size_t replica_;
};

}  // namespace headroom
