// SPDX-License-Identifier: Apache-2.0
// Questions answered by processes of their own: one that takes too long, too much memory or a defect of the program
// ends its process and nothing else.
#pragma once

#include <headroom/answers/wire/request.hpp>

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {

struct WorkerOptions {
  std::size_t workers = 1;
  WireLimits limits;
  double patience = 20.0;        ///< seconds for which a question waits for a worker
  std::size_t waiting = 1024;    ///< questions that may wait
  bool opens_files = false;      ///< whether data folders of the user are read; else workers cannot open any file
  std::size_t memory_bytes = 0;  ///< of a worker's addresses; 0: as many as it asks for
};

/// Workers are forked from a process that has read what most questions need, which the first call of the constructor
/// forks in turn: construct it before any thread starts.
class Workers {
 public:
  /// `library` makes the data of the workers.
  Workers(WorkerOptions options, const std::function<QuestionLibrary()>& library);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Waits for a worker and for its answer. Safe from several threads.
  [[nodiscard]] WireReply ask(WireVerb verb, std::string_view request);
  /// Waits so many seconds for the questions under way, then leaves them without an answer.
  void stop(double seconds);

 private:
  [[nodiscard]] int take();
  void give_back(int worker);
  [[nodiscard]] int spawned();

  WorkerOptions options_;
  int nursery_ = -1;  ///< socket to the process that forks workers
  pid_t nursery_pid_ = -1;
  std::mutex mutex_;
  std::condition_variable free_;  ///< a worker is, or may be started
  std::condition_variable done_;  ///< none is busy
  std::vector<int> idle_;         ///< sockets to workers
  std::vector<int> busy_;
  std::size_t alive_ = 0;
  std::size_t waiting_ = 0;
  bool stopped_ = false;
};

}  // namespace headroom::cli
