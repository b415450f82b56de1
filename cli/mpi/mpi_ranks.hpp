// SPDX-License-Identifier: Apache-2.0
// Ranks of an MPI job. Open MPI before 5.0 (no ULFM) does not notice a dead rank while others run, so ranks send
// heartbeats once a second, and processes of the same host are also looked up.
#pragma once

#include <headroom/scenarios/search/ranks/ranks.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace headroom::cli {

class MpiRanks : public Ranks {
 public:
  /// Calls MPI_Init. Throws ConfigError when the library does not support several threads.
  MpiRanks(int& argc, char**& argv);
  ~MpiRanks() override;

  [[nodiscard]] int own() const noexcept { return own_; }
  [[nodiscard]] int count() const override { return static_cast<int>(peers_.size()); }
  void send(int to, std::string text) override;
  [[nodiscard]] std::optional<RankMessage> receive(Seconds wait) override;
  [[nodiscard]] std::vector<int> lost() override;
  [[nodiscard]] std::string name_of(int rank) const override;

  /// Parts from the other ranks and ends MPI: collectively, or without the others once a rank is lost.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  struct Peer {
    bool lost = false, told = false;
    bool seen = false;  ///< visible as a process of this host
    std::int64_t pid = 0;
    std::string host;
    Clock::time_point heard = Clock::now();
    std::string begun;  ///< a message whose last pieces are still to come
  };
  struct Sending;

  void post(int to, int tag, std::string bytes);
  void forget_sent();
  void beat();
  void hear_beats();
  void look_for_lost();
  [[nodiscard]] std::optional<RankMessage> next_message();
  void keep_beating();
  void part_from_others();
  void part_from_rank0();

  int own_ = 0;
  std::string host_;
  mutable std::mutex mutex_;  ///< MPI is called by one thread at a time
  std::vector<Peer> peers_;
  std::list<Sending> sending_;
  bool together_ = true;  ///< whether to end with MPI_Finalize
  bool ending_ = false;
  std::condition_variable end_;
  std::thread beats_;
};

}  // namespace headroom::cli
