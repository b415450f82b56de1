// SPDX-License-Identifier: Apache-2.0
// The prefix cache of one engine and the tiers below it as lists that are walked from end to end: what
// replica_cache.hpp and offload_tiers.hpp must equal.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/offload_tiers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace headroom::test {

/// Blocks by age, the oldest first: an entry is an id with all its blocks, or blocks that nobody asks for (-1).
struct NaiveAges {
  struct Entry {
    std::int64_t id, blocks;
  };
  std::deque<Entry> entries;

  std::int64_t blocks() const {
    std::int64_t sum = 0;
    for (const Entry& entry : entries) {
      sum += entry.blocks;
    }
    return sum;
  }
  bool holds(std::int64_t id) const {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.id == id; });
  }
  void remove(std::int64_t id) {
    std::erase_if(entries, [&](const Entry& entry) { return entry.id == id; });
  }
  void drop(std::int64_t count) {
    while (count > 0) {
      Entry& oldest = entries.front();
      oldest.id = -1;  // in part is not at all
      const std::int64_t some = std::min(count, oldest.blocks);
      oldest.blocks -= some;
      count -= some;
      if (oldest.blocks == 0) {
        entries.pop_front();
      }
    }
  }
};

class NaivePrefixes {
 public:
  NaivePrefixes(const std::vector<std::vector<std::int64_t>>& ids,
                std::int64_t id_tokens,
                std::int64_t block_tokens,
                std::int64_t blocks,
                const std::vector<OffloadTier>& tiers,
                const std::vector<Request>& requests)
      : hits(ids.size()),
        ids_{ids},
        id_tokens_{id_tokens},
        block_tokens_{block_tokens},
        id_blocks_{id_tokens / block_tokens},
        tiers_{tiers},
        requests_{requests},
        kept_(tiers.size()),
        link_(tiers.size()),
        shared_(ids.size()),
        brought_(ids.size()),
        met_(ids.size()) {
    free_.entries.push_back({-1, blocks});
  }

  /// When the request that arrives is submitted.
  Picoseconds arrive(std::size_t request, Picoseconds now) {
    const std::vector<std::int64_t>& ids = ids_[request];
    std::size_t at = held(request);
    const std::size_t known = at;
    std::vector<std::int64_t> loads(tiers_.size());
    for (; at < ids.size(); ++at) {
      std::size_t tier = 0;
      while (tier < tiers_.size() && !kept_[tier].holds(ids[at])) {
        ++tier;
      }
      if (tier == tiers_.size()) {
        break;
      }
      loads[tier] += id_blocks_;
    }
    Picoseconds ready = now;
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      if (loads[tier] > 0) {
        link_[tier] = std::max(link_[tier], now) + tiers_[tier].per_block * loads[tier];
        ready = std::max(ready, link_[tier] + tiers_[tier].latency);
        hits[request].loaded[tier] = static_cast<std::int32_t>(loads[tier] * block_tokens_);
      }
    }
    if (at > known) {
      brought_[request] = {known, at};
      hits[request].loading = ready - now;
    }
    return ready;
  }

  struct Found {
    std::int64_t tokens, in_use, ids;
  };
  Found find(std::size_t request) const {
    const std::size_t n = held(request);
    std::size_t known = n;
    if (n >= brought_[request].from && brought_[request].to > n) {
      known = brought_[request].to;
    }
    std::int64_t in_use = 0;
    for (std::size_t i = 0; i < n; ++i) {
      in_use += used(ids_[request][i]) ? id_blocks_ : 0;
    }
    return {static_cast<std::int64_t>(known) * id_tokens_, in_use, static_cast<std::int64_t>(n)};
  }
  void admit(std::size_t request, const Found& found, std::int64_t blocks) {
    for (std::int64_t i = 0; i < found.ids; ++i) {
      const std::int64_t id = ids_[request][static_cast<std::size_t>(i)];
      free_.remove(id);
      ++users_[id];
    }
    shared_[request] = static_cast<std::size_t>(found.ids);
    free_.drop(blocks - found.ids * id_blocks_);
    if (!met_[request]) {
      met_[request] = true;
      hits[request].pool = static_cast<std::int32_t>(found.ids * id_tokens_);
    }
    brought_[request] = {};
  }
  void take(std::int64_t blocks) { free_.drop(blocks); }
  void name(std::size_t request, std::int64_t tokens) {
    while (shared_[request] < ids_[request].size() &&
           static_cast<std::int64_t>(shared_[request] + 1) * id_tokens_ <= tokens) {
      const std::int64_t id = ids_[request][shared_[request]];
      if (used(id) || free_.holds(id)) {
        return;
      }
      users_[id] = 1;
      ++shared_[request];
    }
  }
  void computed(std::size_t request) {
    const std::vector<std::int64_t>& ids = ids_[request];
    const std::int64_t prompt = requests_[request].prompt_tokens;
    const std::int64_t blocks = prompt / block_tokens_ + (prompt % block_tokens_ != 0 ? 1 : 0);
    for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
      NaiveAges& kept = kept_[tier];
      if (const std::int64_t rest = blocks - static_cast<std::int64_t>(ids.size()) * id_blocks_; rest > 0) {
        kept.entries.push_back({-1, rest});
      }
      for (std::size_t i = ids.size(); i-- > 0;) {
        kept.remove(ids[i]);
        kept.entries.push_back({ids[i], id_blocks_});
      }
      kept.drop(std::max<std::int64_t>(kept.blocks() - tiers_[tier].blocks, 0));
    }
  }
  std::int64_t release(std::size_t request, std::int64_t blocks) {
    const std::int64_t before = free_.blocks();
    const std::int64_t own = blocks - static_cast<std::int64_t>(shared_[request]) * id_blocks_;
    if (own > 0) {
      free_.entries.push_back({-1, own});
    }
    while (shared_[request] > 0) {
      const std::int64_t id = ids_[request][--shared_[request]];
      if (--users_[id] == 0) {
        free_.entries.push_back({id, id_blocks_});
      }
    }
    return free_.blocks() - before;
  }
  std::int64_t free_blocks() const { return free_.blocks(); }

  std::vector<PrefixHits> hits;  ///< without `tiers`

 private:
  struct Brought {
    std::size_t from = 0, to = 0;
  };
  bool used(std::int64_t id) const {
    const auto found = users_.find(id);
    return found != users_.end() && found->second > 0;
  }
  std::size_t held(std::size_t request) const {
    std::size_t n = 0;
    while (n < ids_[request].size() && (used(ids_[request][n]) || free_.holds(ids_[request][n]))) {
      ++n;
    }
    return n;
  }

  const std::vector<std::vector<std::int64_t>>& ids_;
  std::int64_t id_tokens_, block_tokens_, id_blocks_;
  const std::vector<OffloadTier>& tiers_;
  const std::vector<Request>& requests_;
  NaiveAges free_;
  std::map<std::int64_t, std::int64_t> users_;
  std::vector<NaiveAges> kept_;
  std::vector<Picoseconds> link_;
  std::vector<std::size_t> shared_;
  std::vector<Brought> brought_;
  std::vector<bool> met_;
};

}  // namespace headroom::test
