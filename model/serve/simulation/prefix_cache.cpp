// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/prefix_cache.hpp>

#include <cstddef>

namespace headroom {

std::int64_t PrefixCache::look_up(std::span<const std::int64_t> ids) {
  std::int64_t hits = 0;
  while (hits < static_cast<std::int64_t>(ids.size()) && places_.contains(ids[static_cast<std::size_t>(hits)])) {
    ++hits;
  }
  // Last block first, so that the end of a prompt is older and evicted first.
  for (std::size_t i = ids.size(); i > 0; --i) {
    const auto found = places_.find(ids[i - 1]);
    if (found != places_.end()) {
      by_use_.splice(by_use_.begin(), by_use_, found->second);
      continue;
    }
    by_use_.push_front(ids[i - 1]);
    places_.emplace(ids[i - 1], by_use_.begin());
  }
  while (room_ > 0 && static_cast<std::int64_t>(by_use_.size()) > room_) {
    places_.erase(by_use_.back());
    by_use_.pop_back();
  }
  return hits;
}

}  // namespace headroom
