// SPDX-License-Identifier: Apache-2.0
// Jobs that wait, in the order of their rights, so that the next one that could start is found without asking all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace headroom::scheduler {

/// What a pool has for jobs that might start now.
struct PoolLimit {
  static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max() - 1;  ///< every gang that is wanted
  std::int64_t gpus = 0;                                                             ///< no larger gang can start
  /// Where a larger job has a reservation: no gang of more than `long_gpus` that runs for more than `short_time`.
  double short_time = std::numeric_limits<double>::infinity();
  std::int64_t long_gpus = 0;
};

/// The least that a job wants of a pool.
struct PoolWant {
  std::int64_t gpus = std::numeric_limits<std::int64_t>::max();
  double time = std::numeric_limits<double>::infinity();  ///< seconds
};

/// Places in a line, each empty or with a waiting job's wants by pool: a segment tree of the least wants.
class WaitingLine {
 public:
  WaitingLine() = default;
  WaitingLine(std::size_t places, std::size_t pools);

  [[nodiscard]] std::size_t places() const noexcept { return places_; }
  /// `wants`: by pool; those that it does not want as PoolWant{}.
  void enter(std::size_t place, std::span<const PoolWant> wants) noexcept;
  void leave(std::size_t place) noexcept;
  [[nodiscard]] bool empty() const noexcept { return waiting_ == 0; }
  /// The first place at or after `from` whose job some pool's limit may let start; places() if none is.
  [[nodiscard]] std::size_t next(std::size_t from, std::span<const PoolLimit> limits) const noexcept;
  /// The least wants of all that wait, by pool.
  [[nodiscard]] const PoolWant& least(std::size_t pool) const noexcept { return tree_[pools_ + pool]; }

 private:
  [[nodiscard]] bool may_start(std::size_t node, std::span<const PoolLimit> limits) const noexcept;
  void lift(std::size_t node) noexcept;
  std::size_t places_ = 0, pools_ = 0, leaves_ = 1, waiting_ = 0;
  std::vector<PoolWant> tree_;  // node * pools_ + pool; node 1 is the root, children of n are 2n and 2n + 1
  std::vector<bool> there_;
};

/// Sums of amounts at ranks (Fenwick 1994).
class RankSums {
 public:
  RankSums() = default;
  explicit RankSums(std::size_t ranks) : tree_(ranks + 1, 0.0) {}
  void add(std::size_t rank, double amount) noexcept;
  /// Of all below the rank.
  [[nodiscard]] double before(std::size_t rank) const noexcept;

 private:
  std::vector<double> tree_;
};

}  // namespace headroom::scheduler
