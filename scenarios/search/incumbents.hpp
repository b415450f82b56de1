// SPDX-License-Identifier: Apache-2.0
// What a search has found so far: the best plans, the trade-offs between goals, the best of each degree of simplicity,
// and what came closest where nothing fits. Independent of the order in which strategies come.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/strategy.hpp>
#include <headroom/scenarios/search/objective.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// Coordinates of the front; those beyond the goals asked for stay zero.
using FrontPoint = std::array<double, 4>;

/// A strategy of a job with what it costs.
struct Candidate {
  std::uint32_t job = 0;
  std::uint32_t rental = 0;  ///< jobs that rent the same GPUs the same way share it
  Strategy strategy;
  Seconds step{};
  Bytes memory{};     ///< upper end of what the device shows
  double goal = 0.0;  ///< what is minimised, in its own unit
  FrontPoint front{};
};
[[nodiscard]] bool same_plan(const Candidate& a, const Candidate& b) noexcept;
/// By goal, step, memory; then by job and strategy, so that no two are equal.
[[nodiscard]] bool better(const Candidate& a, const Candidate& b) noexcept;

/// What the list of the best holds one plan of: a layout (the tensor, context, expert and pipeline ranks of a job), or,
/// where GPUs, their number or their price are searched too, a rental.
enum class ListedBy : std::uint8_t { layout, rental };

/// What no strategy of a subtree can beat; all of it is of one layout.
struct SubtreeBound {
  Candidate layout;  ///< its job, rental and ranks
  double goal = 0.0;
  Seconds step{};
  FrontPoint front{};
  int kinds = 0;  ///< of parallelism, at least
  int zero = 0;   ///< stage, at least
};

/// Fewer kinds of parallelism first, then lower ZeRO stages.
inline constexpr std::size_t simplicity_classes = 5 * 4;
[[nodiscard]] constexpr std::size_t simplicity_class(int kinds, int zero) noexcept {
  return static_cast<std::size_t>(4 * kinds + zero);
}

/// What fell short of a limit by the least.
struct Closest {
  std::optional<Candidate> candidate;
  double value = 0.0;  ///< bytes, seconds, dollars
};

class Incumbents {
 public:
  /// `plans` best ones of different layouts or rentals, `goals` coordinates of the front, and the share that simplicity
  /// may cost.
  Incumbents(std::size_t plans, std::size_t goals, double simplicity, ListedBy by = ListedBy::layout)
      : plans_{plans}, goals_{goals}, simplicity_{simplicity}, by_{by} {}

  void consider(const Candidate& candidate);
  void fell_short(Limit limit, const Candidate& candidate, double value);
  /// What others found since they began from a copy that knew no news.
  void merge(const Incumbents& other);
  [[nodiscard]] Incumbents without_news() const {
    Incumbents copy = *this;
    copy.news_ = false;
    return copy;
  }

  /// Whether nothing of the subtree can change any list.
  [[nodiscard]] bool excludes(const SubtreeBound& bound) const noexcept;
  /// Whether a plan was found: what falls short of a limit is then of no interest.
  [[nodiscard]] bool found() const noexcept { return !best_.empty(); }
  [[nodiscard]] double shortfall(Limit limit) const noexcept;

  [[nodiscard]] const std::vector<Candidate>& best() const noexcept { return best_; }
  /// Ascending by the first coordinate.
  [[nodiscard]] std::vector<Candidate> front() const;
  [[nodiscard]] const std::array<Closest, limit_count>& closest() const noexcept { return closest_; }
  /// The plan to recommend: of those within `simplicity` of the best those of fewest kinds, and of these the one of the
  /// lowest ZeRO stage, which beside kinds of parallelism may cost a fifth of `simplicity`. Needs found().
  [[nodiscard]] const Candidate& recommended() const noexcept;
  /// Every candidate held anywhere, once: what a checkpoint writes and reads back through consider().
  [[nodiscard]] std::vector<Candidate> all() const;

 private:
  void enter_front(const Candidate& candidate);
  void enter_best(const Candidate& candidate);
  [[nodiscard]] bool one_entry(const Candidate& a, const Candidate& b) const noexcept;
  [[nodiscard]] bool too_far_back(const SubtreeBound& bound) const noexcept;
  [[nodiscard]] bool dominates(const FrontPoint& a, const FrontPoint& b) const noexcept;

  std::size_t plans_, goals_;
  double simplicity_;
  ListedBy by_;
  bool news_ = false;  ///< something entered since without_news()
  std::vector<Candidate> best_, front_;
  std::array<std::optional<Candidate>, simplicity_classes> simplest_;
  std::array<Closest, limit_count> closest_;
};

}  // namespace headroom
