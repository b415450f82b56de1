// SPDX-License-Identifier: Apache-2.0
// The search of one job: its layouts in the order of their bounds, in rounds that depend neither on threads nor on
// ranks.
#pragma once

#include <headroom/scenarios/search/findings.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// What all jobs of a search share.
struct SearchSetting {
  const SearchQuestion* question = nullptr;
  std::vector<Goal> front;
  ListedBy by = ListedBy::layout;
  bool bounded = true;   ///< false: every strategy is evaluated
  unsigned threads = 1;  ///< of this process
};
[[nodiscard]] SearchSetting setting_of(const SearchQuestion& question, bool bounded, unsigned threads);
/// Jobs are searched in strides over their product, so that the first few are of every part of it, and what they find
/// leaves out much of the rest: the job whose turn it is. Strides of the golden ratio leave no large gap at any time
/// (Slater 1967, three-gap theorem).
[[nodiscard]] std::uint64_t job_of_turn(std::uint64_t turn, std::uint64_t jobs) noexcept;
/// Nothing found yet.
[[nodiscard]] Incumbents no_incumbents(const SearchSetting& setting);

/// A job's layouts by their bounds, and the rounds they are searched in: few layouts at first, so that the next ones
/// meet good plans, then enough to keep many threads busy. Every layout of a round starts from what was known before
/// the round. Without bounds nothing is learnt between rounds.
class LayoutRounds {
 public:
  LayoutRounds(std::vector<LayoutBound> bounds, bool bounded);
  [[nodiscard]] bool done() const noexcept { return passed_ == order_.size(); }
  /// Layouts of the round at hand.
  [[nodiscard]] std::span<const std::uint32_t> round() const noexcept;
  void next() noexcept;
  /// Goes to the round that begins behind so many layouts. False when none does.
  [[nodiscard]] bool skip_to(std::uint64_t layouts) noexcept;
  [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
  [[nodiscard]] const LayoutBound& bound(std::uint32_t layout) const noexcept { return bounds_[layout]; }
  /// Fingerprint of the bounds: other numbers of model or catalog, other search.
  [[nodiscard]] std::uint64_t numbers() const noexcept;

 private:
  std::vector<LayoutBound> bounds_;
  std::vector<std::uint32_t> order_;
  bool bounded_;
  std::size_t round_ = 0, passed_ = 0;
};

/// What some layouts of a job have found, beside what was known before.
struct LayoutFindings {
  Incumbents found;
  SearchCounts counts;
  BrokenExample broken;
};

/// A layout and its bound.
struct BoundedLayout {
  std::uint32_t layout = 0;
  LayoutBound bound;
};

/// A compiled job. ConfigError where the scenario is broken whatever the axes say.
class JobSearch {
 public:
  JobSearch(const SearchSetting& setting, std::uint64_t job);

  [[nodiscard]] std::uint64_t job() const noexcept { return dropped_.job; }
  /// Whether the job can be; if not, dropped() says why.
  [[nodiscard]] bool can_be() const noexcept { return job_ != nullptr; }
  [[nodiscard]] const DroppedJob& dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::size_t layouts() const noexcept { return can_be() ? job_->space->layouts().size() : 0; }
  [[nodiscard]] std::uint64_t strategies() const { return can_be() ? job_->space->strategies() : 0; }

  /// Of the layouts `part`, `part` + `parts`, `part` + 2 `parts` ...; once `stop` is set those to come stay 0.
  [[nodiscard]] std::vector<LayoutBound> bounds(std::size_t part,
                                                std::size_t parts,
                                                const std::atomic<bool>* stop = nullptr) const;
  /// A plain strategy of each of up to 64 layouts without context parallelism, where one surely fits: what a search
  /// that is stopped before its first round answers with.
  [[nodiscard]] LayoutFindings plain_plans(const Incumbents& start) const;
  /// Every layout from the same start.
  [[nodiscard]] LayoutFindings search(std::span<const BoundedLayout> layouts, const Incumbents& start) const;

 private:
  const SearchSetting* setting_;
  std::unique_ptr<SearchJob> job_;
  DroppedJob dropped_;
  BranchContext context_;
};

/// How far a job was searched, and what that found.
struct JobProgress {
  std::uint64_t layouts = 0;  ///< in the order of their bounds, that are done
  std::uint64_t numbers = 0;  ///< LayoutRounds::numbers
  Findings findings;
};

struct JobWatch {
  const std::atomic<bool>* stop = nullptr;                ///< ends the job after the round at hand
  std::function<void(const JobSearch& search)> prepared;  ///< compiled and bounded
  std::string earlier_from;                               ///< the file that tells of an earlier run
  /// After each round; `progress` makes what a checkpoint keeps, which takes a moment.
  std::function<void(const std::function<JobProgress()>& progress)> round;
};

/// Searches a job from `start`, behind what an earlier run did of it. ConfigError as JobSearch, or where the earlier
/// run had other numbers. `done` is false when it was stopped.
struct SearchedJob {
  bool done = true;
  JobProgress progress;
  Findings instead;  ///< where it was stopped and nothing was found: plain_plans(), no part of the progress
};
[[nodiscard]] SearchedJob search_job(const SearchSetting& setting,
                                     std::uint64_t job,
                                     const Incumbents& start,
                                     const JobProgress& earlier,
                                     const JobWatch& watch);

}  // namespace headroom
