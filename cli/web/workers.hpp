// SPDX-License-Identifier: Apache-2.0
// Questions answered by processes of their own: one that takes too long, too much memory or a defect of the program
// ends its process and nothing else. Light questions and heavy ones have processes and queues of their own, so that a
// search holds up no plan.
#pragma once

#include <headroom/answers/wire/request.hpp>
#include <headroom/cli/web/question_cost.hpp>

#include <sys/types.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>
#include <vector>

namespace headroom::cli {

struct WorkerOptions {
  std::size_t workers = 1;  ///< for light questions; half as many, one at least, are there for heavy ones beside them
  WireLimits limits;
  double patience = 20.0;        ///< seconds for which a heavy question waits for a worker
  double light_patience = 1.0;   ///< seconds for which a light one does
  std::size_t waiting = 1024;    ///< questions of a kind that may wait
  bool opens_files = false;      ///< whether data folders of the user are read; else workers cannot open any file
  std::size_t memory_bytes = 0;  ///< of a worker's addresses; 0: as many as it asks for
};

/// A reply, and where it is a refusal for want of time, in how many seconds another try has a place.
struct WorkerReply {
  WireReply reply;
  double retry_after = 1.0;
};

/// Workers are forked from a process that has read what most questions need, which the first call of the constructor
/// forks in turn: construct it before any thread starts. Those for heavy questions run at a lower priority, so that
/// they take what light ones leave of the processors. Of each kind the first to come is the first to be answered.
class Workers {
 public:
  /// `library` makes the data of the workers.
  Workers(WorkerOptions options, const std::function<QuestionLibrary()>& library);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Waits for a worker and for its answer. A question that those before it leave no hope to be taken within its
  /// patience is refused at once. Safe from several threads.
  [[nodiscard]] WorkerReply ask(WireVerb verb, std::string_view request);
  /// Waits so many seconds for the questions under way, then leaves them without an answer.
  void stop(double seconds);

 private:
  /// A thread that waits, in the order of coming.
  struct Waiting {
    std::condition_variable ready;
    int worker = -1;
    bool over = false;  ///< a worker is there, or there will be none
  };
  /// Workers and questions of one cost.
  struct Pool {
    std::size_t most = 1;
    std::size_t alive = 0;
    std::vector<int> idle;  ///< sockets to workers
    std::deque<Waiting*> waiting;
    double mean_seconds = 0.0;  ///< of an answer, recent ones more
    [[nodiscard]] double seconds_until_free() const noexcept;
  };
  [[nodiscard]] Pool& pool_of(QuestionCost cost) noexcept { return pools_[static_cast<std::size_t>(cost)]; }
  /// A worker, or -1 and the seconds until one may be had.
  [[nodiscard]] int take(QuestionCost cost, double& retry_after);
  /// Of a worker that answered (`lives`), or whose process ended.
  void give_back(QuestionCost cost, int worker, bool lives, double seconds);
  void hand_out(QuestionCost cost);
  [[nodiscard]] int spawned(QuestionCost cost);

  WorkerOptions options_;
  int nursery_ = -1;  ///< socket to the process that forks workers
  pid_t nursery_pid_ = -1;
  std::mutex mutex_;
  std::condition_variable done_;  ///< none is busy
  std::array<Pool, question_costs> pools_;
  std::vector<int> busy_;
  bool stopped_ = false;
};

}  // namespace headroom::cli
