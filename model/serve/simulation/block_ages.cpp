// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/block_ages.hpp>

#include <algorithm>

namespace headroom {

BlockAges::BlockAges(std::uint32_t ids,
                     std::int64_t id_blocks,
                     std::span<const std::int32_t> sizes,
                     std::int64_t most_runs)
    : id_blocks_{id_blocks},
      sizes_{sizes},
      used_(ids, 0),
      older_(ids, none),
      newer_(ids, none),
      runs_(static_cast<std::size_t>(std::max<std::int64_t>(most_runs, 1))) {}

std::int64_t BlockAges::before_ids() const noexcept {
  if (oldest_ == none) {
    return blocks_;
  }
  std::int64_t blocks = blank_;
  for (std::size_t i = 0; i < run_count_; ++i) {
    const Run& one = runs_[(oldest_run_ + i) % runs_.size()];
    if (one.used > used_[oldest_]) {
      break;
    }
    blocks += one.blocks;
  }
  return blocks;
}

void BlockAges::add(std::uint32_t id) noexcept {
  used_[id] = ++clock_;
  older_[id] = newest_;
  newer_[id] = none;
  (newest_ == none ? oldest_ : newer_[newest_]) = id;
  newest_ = id;
  blocks_ += size_of(id);
}

void BlockAges::unlink(std::uint32_t id) noexcept {
  (older_[id] == none ? oldest_ : newer_[older_[id]]) = newer_[id];
  (newer_[id] == none ? newest_ : older_[newer_[id]]) = older_[id];
  used_[id] = 0;
}

void BlockAges::remove(std::uint32_t id) noexcept {
  unlink(id);
  blocks_ -= size_of(id);
}

void BlockAges::add_unnamed(std::int64_t blocks) noexcept {
  if (blocks <= 0) {
    return;
  }
  blocks_ += blocks;
  // Consecutive runs are merged.
  if (run_count_ > 0 && (run(run_count_ - 1).used == clock_ || run_count_ == runs_.size())) {
    run(run_count_ - 1).blocks += blocks;
    return;
  }
  run(run_count_++) = {++clock_, blocks};
}

void BlockAges::drop(std::int64_t blocks) noexcept {
  blocks_ -= blocks;
  for (;;) {
    const std::int64_t used = std::min(blank_, blocks);
    blank_ -= used;
    blocks -= used;
    if (blocks == 0) {
      return;
    }
    if (run_count_ > 0 && (oldest_ == none || run(0).used < used_[oldest_])) {
      blank_ = run(0).blocks;
      oldest_run_ = (oldest_run_ + 1) % runs_.size();
      --run_count_;
    } else {
      blank_ = size_of(oldest_);
      unlink(oldest_);
    }
  }
}

}  // namespace headroom
