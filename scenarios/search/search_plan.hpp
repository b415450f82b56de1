// SPDX-License-Identifier: Apache-2.0
// The answer to a search: the plan to take in full, the best of other layouts and what each gives away, the front, the
// plan's neighbours, and where nothing fits what came closest.
#pragma once

#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/search/neighbours.hpp>
#include <headroom/scenarios/search/search.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What a plan takes of a deadline or a budget, in SI, over the interval of its times.
struct LimitedBy {
  double limit = 0.0;
  Interval<double> reached;
  bool kept = false;        ///< with the probability that is asked for
  double chance = 0.0;      ///< to be kept
  double confidence = 0.8;  ///< what is asked for
  [[nodiscard]] bool kept_at_middle() const noexcept { return reached.mid <= limit; }
};

/// One plan of a list.
struct ListedPlan {
  Candidate candidate;
  Changes changes;  ///< that make the scenario this plan: job axes, then the strategy
  std::string gpu;
  std::int64_t gpus = 0;
  GpuPrice price;             ///< what its dollars are made of
  std::vector<double> goals;  ///< by Goal, in SI; 0 where not asked for or not known
  Breakdown time;
  Interval<Bytes> memory;
  std::optional<LimitedBy> deadline, budget;  ///< where there is one
  double behind = 0.0;                        ///< goal over the recommended plan's, less one
  std::string why;                            ///< largest differences by term: "tp_comm +1.2 s, bubble -0.3 s"
  bool indistinguishable = false;             ///< from the recommended plan, by the widths of past errors
};

struct SearchPlan {
  SearchResult result;
  std::optional<Plan> plan;  ///< of what is recommended
  ListedPlan recommended;
  std::string why_recommended;
  /// With a deadline or a budget, what would be taken if times were as the model says, where that is another plan.
  std::optional<ListedPlan> at_middle;
  std::string middle_text;        ///< "at the middle 64 x h100-sxm-80gb with ... would be taken, ..."; empty without it
  std::vector<ListedPlan> best;   ///< one a layout, or a rental, by goal
  std::vector<ListedPlan> front;  ///< ascending by its first goal
  std::vector<Neighbour> neighbours;
  std::vector<std::string> emptied;  ///< without a plan: which limits emptied the space, by how much
  Goal minimize = Goal::step_time;
  std::vector<Goal> front_goals;
  std::vector<std::string> notes;
};

/// Explains what a search found. ConfigError as make_plan.
[[nodiscard]] SearchPlan explain_search(const SearchQuestion& question, SearchResult result);

/// "ends after 59.1 d (45.2 d to 77.3 d): keeps 60.0 d with probability 53 %, less than the 80 % asked for", and of the
/// dollars likewise; empty without a limit.
[[nodiscard]] std::string limits_text(const ListedPlan& plan);

/// "12.3 s", "42 days", "1.2 M$": a goal's value in its unit.
[[nodiscard]] std::string goal_text(Goal goal, double value);

}  // namespace headroom
