// SPDX-License-Identifier: Apache-2.0
// The part of each prompt of a trace that a prefix cache holds.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace headroom {

/// An LRU cache of prompt blocks, whose ids depend on all tokens up to their end, so that equal ids are a shared prefix
/// (Kwon et al. 2023, section 4.4; Qin et al. 2025, Mooncake). It is filled in order of arrival: blocks count as
/// present from the arrival of the request that computes them, and one cache serves all replicas. The hits are
/// therefore an upper bound for a cache of this size.
class PrefixCache {
 public:
  /// Capacity in blocks; 0: unlimited.
  explicit PrefixCache(std::int64_t blocks = 0) : room_{blocks} {}
  /// Number of leading ids that are held; afterwards all of them are.
  [[nodiscard]] std::int64_t look_up(std::span<const std::int64_t> ids);

 private:
  std::int64_t room_;
  std::list<std::int64_t> by_use_;  ///< ids, most recently used first
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> places_;
};

}  // namespace headroom
