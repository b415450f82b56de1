// SPDX-License-Identifier: Apache-2.0
// Which jobs of a search are done, what the next ones start from, and what all of it comes to: the same whoever
// searched them and in whatever order they came back.
#pragma once

#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/checkpoint_lock.hpp>
#include <headroom/scenarios/search/search.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace headroom {

/// A job starts from what the first half of the jobs before it, by their turns, has found. So turns 2^k - 1 to
/// 2^(k+1) - 2 can be taken at once as soon as those before are done, and what a job leaves out does not hang on who
/// searches the others.
[[nodiscard]] constexpr std::uint64_t known_jobs(std::uint64_t turn) noexcept {
  return (turn + 1) / 2;
}

class SearchLedger {
 public:
  /// Goes on from the checkpoint where there is one; writes it in any case, so that a file that cannot be written is
  /// told at once. The file is this ledger's alone while it stands. `file` empty: none.
  SearchLedger(const SearchSetting& setting, std::string file);

  [[nodiscard]] std::uint64_t jobs() const noexcept { return jobs_; }
  [[nodiscard]] std::uint64_t jobs_done() const noexcept { return jobs_done_; }
  [[nodiscard]] bool resumed() const noexcept { return resumed_; }

  // Jobs by their turns; job_of() names them.
  [[nodiscard]] std::uint64_t job_of(std::uint64_t turn) const noexcept { return job_of_turn(turn, jobs_); }
  /// The first from `turn` on that is not done.
  [[nodiscard]] std::uint64_t next_open(std::uint64_t turn) const noexcept;
  /// Whether all that the job starts from is there.
  [[nodiscard]] bool ready(std::uint64_t turn) const noexcept;
  /// What a job starts from that is ready. Asked in the order of the turns.
  [[nodiscard]] Incumbents start_of(std::uint64_t turn);
  /// What an earlier run did of a job.
  [[nodiscard]] JobProgress earlier(std::uint64_t turn) const;
  void take(std::uint64_t turn, Findings findings);
  /// How far a job came, for the checkpoint and for an answer before it is done.
  void note(std::uint64_t turn, JobProgress progress) { state_.begun[turn] = std::move(progress); }

  /// Whether it is time to write the checkpoint: 50 ms after the last, or twenty times what that took.
  [[nodiscard]] bool due() const noexcept;
  /// What was searched is worth more than its copy: a file that cannot be written any more is told by unsaved().
  void save();
  /// Why the last save() failed; empty: it did not.
  [[nodiscard]] const std::string& unsaved() const noexcept { return unsaved_; }

  /// Of all that was taken and noted.
  [[nodiscard]] SearchCounts counts() const;
  /// Everything found; refuses a scenario that is broken whatever its axes say.
  [[nodiscard]] SearchResult result(bool complete) const;

 private:
  [[nodiscard]] bool done(std::uint64_t turn) const noexcept {
    return turn < state_.merged_jobs || state_.done.contains(turn);
  }
  void fold();
  void write();

  const SearchSetting& setting_;
  std::string file_;
  std::optional<CheckpointLock> lock_;
  std::string unsaved_;
  std::uint64_t question_ = 0;
  std::uint64_t jobs_;
  std::uint64_t jobs_done_ = 0;
  bool resumed_ = false;
  SearchState state_;              ///< but for the candidates merged, which stand in merged_
  Incumbents merged_;              ///< of the first state_.merged_jobs
  Incumbents start_;               ///< of the last job that was started
  std::uint64_t start_knows_ = 0;  ///< jobs that are in it
  std::uint64_t first_open_ = 0;
  SearchCounts counts_;  ///< of jobs that are done
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
  Seconds writing_{};
};

}  // namespace headroom
