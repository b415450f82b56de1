// SPDX-License-Identifier: Apache-2.0
// Blocks in the order of their last use, for eviction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom {

/// Upper bound on separately aged runs of blocks: at most the number of blocks, and enough for an unlimited pool.
inline constexpr std::int64_t most_block_runs = std::int64_t{1} << 20;

/// A least-recently-used list of blocks with an id (several per id) and of runs of unnamed blocks, which age alike but
/// are never requested again. The rest of a partly evicted id goes first. No heap after construction.
class BlockAges {
 public:
  /// Ids are below `ids` and stand for `id_blocks` blocks each, or for what `sizes` says if it is not empty. Up to
  /// `most_runs` runs of unnamed blocks are kept separately; beyond that the newest run grows.
  BlockAges(std::uint32_t ids, std::int64_t id_blocks, std::span<const std::int32_t> sizes, std::int64_t most_runs);

  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_; }
  /// Blocks of an id.
  [[nodiscard]] std::int64_t size_of(std::uint32_t id) const noexcept {
    return sizes_.empty() ? id_blocks_ : sizes_[id];
  }
  [[nodiscard]] bool holds(std::uint32_t id) const noexcept { return used_[id] != 0; }
  /// Blocks that can be dropped before any id is lost.
  [[nodiscard]] std::int64_t before_ids() const noexcept;
  /// Adds an id as the newest. Precondition: !holds(id).
  void add(std::uint32_t id) noexcept;
  /// Precondition: holds(id).
  void remove(std::uint32_t id) noexcept;
  /// Adds unnamed blocks as the newest.
  void add_unnamed(std::int64_t blocks) noexcept;
  /// Adds blocks that are dropped before all others.
  void add_blank(std::int64_t blocks) noexcept {
    blank_ += blocks;
    blocks_ += blocks;
  }
  /// Drops the oldest blocks. Precondition: blocks <= blocks().
  void drop(std::int64_t blocks) noexcept;

 private:
  struct Run {
    std::uint64_t used = 0;
    std::int64_t blocks = 0;
  };
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  void unlink(std::uint32_t id) noexcept;
  [[nodiscard]] Run& run(std::size_t i) noexcept { return runs_[(oldest_run_ + i) % runs_.size()]; }

  std::int64_t id_blocks_;
  std::span<const std::int32_t> sizes_;
  std::int64_t blocks_ = 0, blank_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> used_;  ///< clock_ of the last use, by id; 0: absent
  std::vector<std::uint32_t> older_, newer_;
  std::uint32_t oldest_ = none, newest_ = none;
  std::vector<Run> runs_;  ///< a ring buffer
  std::size_t oldest_run_ = 0, run_count_ = 0;
};

}  // namespace headroom
