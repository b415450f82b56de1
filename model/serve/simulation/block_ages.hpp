// SPDX-License-Identifier: Apache-2.0
// Blocks in the order of their last use: which of them go first when room is wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace headroom {

/// Least recently used first. Blocks with an id, some for each id, and runs of blocks that nobody asks for again, which
/// age beside them all the same. What is left of an id that had to go in part goes first. No heap after construction.
class BlockAges {
 public:
  /// Ids are below `ids` and stand for `id_blocks` blocks each. Runs that cannot follow another are kept apart up to
  /// `most_runs`; beyond that the newest one grows instead.
  BlockAges(std::uint32_t ids, std::int64_t id_blocks, std::int64_t most_runs);

  [[nodiscard]] std::int64_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] bool holds(std::uint32_t id) const noexcept { return used_[id] != 0; }
  /// Blocks that can be dropped before an id goes.
  [[nodiscard]] std::int64_t before_ids() const noexcept;
  /// The newest from now on. Precondition: !holds(id).
  void add(std::uint32_t id) noexcept;
  /// Precondition: holds(id).
  void remove(std::uint32_t id) noexcept;
  /// The newest from now on; nobody asks for them again.
  void add_unnamed(std::int64_t blocks) noexcept;
  /// Blocks that go before all others.
  void add_blank(std::int64_t blocks) noexcept {
    blank_ += blocks;
    blocks_ += blocks;
  }
  /// The oldest go. Precondition: no more than blocks().
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
  std::int64_t blocks_ = 0, blank_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> used_;  ///< by id, of clock_; 0: not here
  std::vector<std::uint32_t> older_, newer_;
  std::uint32_t oldest_ = none, newest_ = none;
  std::vector<Run> runs_;  ///< a ring
  std::size_t oldest_run_ = 0, run_count_ = 0;
};

}  // namespace headroom
