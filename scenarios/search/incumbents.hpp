// SPDX-License-Identifier: Apache-2.0
// What a search has found so far: the best plans, the trade-offs between goals, the plan to take, and what came closest
// where nothing fits. Independent of the order in which strategies come.
#pragma once

#include <headroom/scenarios/search/objective.hpp>
#include <headroom/scenarios/search/plan_choice.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// What the list of the best holds one plan of: a layout (the tensor, context, expert and pipeline ranks of a job), or,
/// where GPUs, their number or their price are searched too, a rental.
enum class ListedBy : std::uint8_t { layout, rental };

/// What fell short of a limit by the least.
struct Closest {
  std::optional<Candidate> candidate;
  double value = 0.0;  ///< bytes, seconds, dollars
};

class Incumbents {
 public:
  /// `plans` best ones of different layouts or rentals, `goals` coordinates of the front, and the share that simplicity
  /// may cost. `limited`: by a deadline or a budget, which a plan that is considered keeps at the middle, and at the
  /// slow end when its strain is 1 at most.
  Incumbents(
      std::size_t plans, std::size_t goals, double simplicity, ListedBy by = ListedBy::layout, bool limited = false)
      : plans_{plans}, goals_{goals}, by_{by}, limited_{limited}, any_{simplicity}, sure_{simplicity} {}

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
  /// The plan to recommend: what is taken (PlanChoice) of those that keep the limits at the slow end; where none does,
  /// the one that comes closest to it. Needs found().
  [[nodiscard]] const Candidate& recommended() const noexcept;
  /// The least of those that recommended() chooses from. Needs found().
  [[nodiscard]] const Candidate& least() const noexcept;
  /// What would be taken of all that keep the limits at the middle. Needs found().
  [[nodiscard]] const Candidate& at_middle() const noexcept { return any_.taken(); }
  /// Every candidate held anywhere, once: what a checkpoint writes and reads back through consider().
  [[nodiscard]] std::vector<Candidate> all() const;

 private:
  void enter_front(const Candidate& candidate);
  void enter_best(const Candidate& candidate);
  [[nodiscard]] bool one_entry(const Candidate& a, const Candidate& b) const noexcept;
  [[nodiscard]] bool too_far_back(const SubtreeBound& bound) const noexcept;
  [[nodiscard]] bool dominates(const FrontPoint& a, const FrontPoint& b) const noexcept;
  /// Whether a plan on the front is nowhere worse than the point and somewhere better.
  [[nodiscard]] bool front_beats(const FrontPoint& point) const noexcept;
  [[nodiscard]] bool excludes_sure(const SubtreeBound& bound) const noexcept;

  std::size_t plans_, goals_;
  ListedBy by_;
  bool limited_;
  bool news_ = false;                    ///< something entered since without_news()
  std::vector<Candidate> best_, front_;  ///< the front ascending by its first goal
  PlanChoice any_, sure_;                ///< of all; of those that keep the limits at the slow end
  std::optional<Candidate> least_sure_;  ///< of those that do not the one of the least strain
  std::array<Closest, limit_count> closest_;
};

}  // namespace headroom
