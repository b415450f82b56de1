// SPDX-License-Identifier: Apache-2.0
// The search over all jobs: layouts in the order of their bounds, in rounds that depend neither on the number of
// threads nor on that of the ranks.
#pragma once

#include <headroom/scenarios/search/branch.hpp>
#include <headroom/scenarios/search/dropped_job.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace headroom {

struct SearchQuestion;

struct SearchProgress {
  std::uint64_t job = 0, jobs = 0;
  std::uint64_t strategies = 0;  ///< of the job at hand
  SearchCounts counts;           ///< of all jobs so far
  std::uint64_t done_of_job = 0;
  Seconds elapsed{};
};

struct SearchOptions {
  unsigned threads = 0;                                 ///< of each rank; 0: as many as the machine has
  bool bounded = true;                                  ///< false: every strategy is evaluated
  std::string checkpoint;                               ///< file; empty: none
  const std::atomic<bool>* stop = nullptr;              ///< ends the search after the round at hand
  std::function<void(const SearchProgress&)> progress;  ///< twice a second at most
  std::function<void(const std::string&)> tell;         ///< of ranks that are lost or cannot take part
};

struct SearchResult {
  Incumbents found{1, 0, 0.0};
  SearchCounts counts;
  std::vector<DroppedJob> dropped;
  BrokenExample broken;
  std::uint64_t jobs = 0, jobs_done = 0;
  bool complete = true;
  bool time_over = false;  ///< it is not complete because its time ran out
  bool resumed = false;
  std::string unsaved;  ///< why the checkpoint holds less than this; empty: it does not
  std::vector<Goal> front;
  ListedBy by = ListedBy::layout;
  // What it took; not part of the answer
  Seconds elapsed{}, preparing{};  ///< all of it; of it reading, compiling and bounding, known of one rank alone
  int ranks = 1;                   ///< that took part to the end
};

/// Exact: the same lists as the evaluation of every strategy, and the same bytes whatever the number of threads and
/// ranks.
/// ConfigError when the scenario is broken, or a checkpoint is of another search, in use by one or cannot be written.
[[nodiscard]] SearchResult run_search(const SearchQuestion& question, const SearchOptions& options);

}  // namespace headroom
