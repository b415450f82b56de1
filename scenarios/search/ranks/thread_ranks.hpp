// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process: the part of rank 0 that searches itself, and ranks that tests let die.
#pragma once

#include <headroom/scenarios/search/ranks/ranks.hpp>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

namespace headroom {

class ThreadRanks {
 public:
  explicit ThreadRanks(int count);

  /// One thread's end; lives as long as this.
  [[nodiscard]] Ranks& rank(int number) { return *ends_[static_cast<std::size_t>(number)]; }
  /// From now on what the rank sends is dropped, and rank 0 finds it dead.
  void kill(int rank);

 private:
  struct Box {
    std::deque<RankMessage> messages;
    std::condition_variable filled;
    bool dead = false;
    bool told = false;  ///< that it is dead
  };
  class End;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Box>> boxes_;
  std::vector<std::unique_ptr<Ranks>> ends_;
};

}  // namespace headroom
