// SPDX-License-Identifier: Apache-2.0
// Which part of each prompt of a trace a prefix cache holds.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace headroom {

/// Blocks of prompts by the hash of all that stands before and in them, so that equal ids are a shared prefix (Kwon et
/// al. 2023, section 4.4; Qin et al. 2025, Mooncake). Least recently used blocks go first. Filled in the order of
/// arrival: blocks count as present from the arrival of the request that computes them, and one cache serves all
/// replicas, so that hits are the most that a cache of this size can give.
class PrefixCache {
 public:
  /// Room for `blocks`; 0: without end.
  explicit PrefixCache(std::int64_t blocks = 0) : room_{blocks} {}
  /// How many of the ids, from the first on, are held; then all of them are.
  [[nodiscard]] std::int64_t look_up(std::span<const std::int64_t> ids);

 private:
  std::int64_t room_;
  std::list<std::int64_t> by_use_;  ///< the most recent first
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> places_;
};

}  // namespace headroom
