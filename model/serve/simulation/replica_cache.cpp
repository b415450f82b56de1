// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/offload_tiers.hpp>
#include <headroom/model/serve/simulation/replica_cache.hpp>

#include <algorithm>
#include <cstddef>

namespace headroom {
namespace {

/// Upper bound on separately aged runs of blocks: at most the number of blocks, and enough for an unlimited pool.
constexpr std::int64_t most_aged_runs = std::int64_t{1} << 20;
constexpr std::uint32_t none = PromptPrefixes::none;

}  // namespace

ReplicaCache::ReplicaCache(const PromptPrefixes& prefixes,
                           std::span<PrefixState> states,
                           std::span<PrefixHits> hits,
                           std::span<const std::int32_t> sizes,
                           std::int64_t blocks,
                           std::int64_t block_tokens,
                           OffloadTiers* tiers,
                           std::size_t replica)
    : prefixes_{&prefixes},
      states_{states},
      hits_{hits},
      block_tokens_{block_tokens},
      free_{prefixes.distinct, prefixes.id_tokens / block_tokens, sizes, std::min(blocks, most_aged_runs)},
      users_(prefixes.distinct, 0),
      tiers_{tiers},
      replica_{replica} {
  free_.add_blank(blocks);
}

std::int64_t ReplicaCache::blocks_of(std::span<const std::uint32_t> ids) const noexcept {
  std::int64_t blocks = 0;
  for (const std::uint32_t id : ids) {
    blocks += free_.size_of(id);
  }
  return blocks;
}

std::uint32_t ReplicaCache::held(std::uint32_t request) const noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  std::uint32_t n = 0;
  while (n < ids.size() && present(ids[n])) {
    ++n;
  }
  return n;
}

ReplicaCache::Found ReplicaCache::find(std::uint32_t request) const noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  Found found;
  found.ids = held(request);
  for (const std::uint32_t id : ids.first(found.ids)) {
    found.in_use += users_[id] > 0 ? free_.size_of(id) : 0;
  }
  // Loaded ids are useful only directly after those still in the pool.
  const PrefixState& state = states_[request];
  const std::uint32_t known = found.ids >= state.brought_at ? std::max(found.ids, state.brought) : found.ids;
  found.tokens = prefixes_->whole_tokens(request, known, block_tokens_);
  return found;
}

void ReplicaCache::admit(std::uint32_t request, const Found& found, std::int64_t blocks) noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request).first(found.ids);
  for (const std::uint32_t id : ids) {
    if (users_[id]++ == 0) {
      free_.remove(id);
    }
  }
  free_.drop(blocks - blocks_of(ids));
  PrefixState& state = states_[request];
  state.shared = found.ids;
  if (!state.met) {
    state.met = true;
    hits_[request].settle(prefixes_->whole_tokens(request, found.ids, block_tokens_), found.tokens);
  }
  state.brought_at = state.brought = 0;
}

void ReplicaCache::name(std::uint32_t request, std::int64_t tokens) noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  PrefixState& state = states_[request];
  // Blocks that others computed in the meantime are not merged and stay without an id.
  while (state.shared < ids.size() && prefixes_->end_of(ids[state.shared], state.shared) <= tokens &&
         !present(ids[state.shared])) {
    users_[ids[state.shared++]] = 1;
  }
}

std::int64_t ReplicaCache::merge(std::uint32_t request, std::int64_t tokens) noexcept {
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  PrefixState& state = states_[request];
  std::int64_t copies = 0;
  for (; state.shared < ids.size() && prefixes_->end_of(ids[state.shared], state.shared) <= tokens; ++state.shared) {
    const std::uint32_t id = ids[state.shared];
    if (free_.holds(id)) {
      free_.remove(id);
      free_.add_blank(free_.size_of(id));
    } else if (users_[id] > 0) {
      free_.add_blank(free_.size_of(id));
      copies += free_.size_of(id);
    }
    ++users_[id];
  }
  return copies;
}

void ReplicaCache::computed(std::uint32_t request) noexcept {
  if (tiers_ != nullptr) {
    tiers_->store(replica_, request);
  }
}

std::int64_t ReplicaCache::release(std::uint32_t request, std::int64_t blocks, bool answered) noexcept {
  PrefixState& state = states_[request];
  const std::span<const std::uint32_t> ids = prefixes_->of(request);
  std::int64_t freed = blocks - blocks_of(ids.first(state.shared));
  const std::uint32_t answer = answered && state.shared == ids.size() ? prefixes_->answer_of(request) : none;
  if (answer != none && !present(answer)) {
    free_.add_unnamed(freed - free_.size_of(answer));
    free_.add(answer);
  } else {
    free_.add_unnamed(freed);
  }
  for (; state.shared > 0; --state.shared) {
    const std::uint32_t id = ids[state.shared - 1];
    if (--users_[id] == 0) {
      free_.add(id);
      freed += free_.size_of(id);
    }
  }
  return freed;
}

}  // namespace headroom
