// SPDX-License-Identifier: Apache-2.0
// Plans side by side: in what they differ, which term of the step makes the difference, whether it is larger than the
// errors of past predictions, and what a dollar buys with each.
#pragma once

#include <headroom/scenarios/compare/offers.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What a plan must meet to be ranked by its price; training knows the first, serving the others.
struct Objectives {
  std::optional<Seconds> duration;  ///< of the whole run, failures and saves among it where they are counted
  std::optional<Seconds> ttft, tpot;
};

/// A key in which plans differ, with the value of each.
struct DifferingKey {
  std::string key;  ///< "strategy.tp"
  std::vector<std::string> values;
};

/// One plan against the reference.
struct Difference {
  std::array<Seconds, term_count> terms{};  ///< of its step less the reference's, at as many tokens
  Seconds step{};                           ///< the sum
  Interval<double> ratio;                   ///< throughput over the reference's
  bool shared_level = false;                ///< same class, SKU and software: their errors are largely shared
  /// 1 lies outside the interval: the difference is larger than what predictions of two such plans have been off by.
  bool distinguishable = false;
};

struct ComparedPlan {
  std::string file;
  Plan plan;
  double samples_per_second = 0.0;  ///< sequences of training, output tokens of serving; 0: no time is known
  /// Why no time is, of a plan that fits; empty where one is.
  [[nodiscard]] std::string untimed() const;
  double kept_per_second = 0.0;          ///< of them what failures and saves leave, where they are counted
  double gpus_held = 1.0;                ///< that are paid for
  std::optional<Difference> difference;  ///< of all but the reference, where it is priced
  /// Ranked below the best by no more than predictions of two such plans have been off by.
  bool near_best = false;
  bool crosses = false;  ///< kept at the middle, missed with the probability asked for
};

/// What was asked beside the plans and has no answer: a value of a list that is too long, say.
struct RefusedPlan {
  std::string file;  ///< or the value's name
  std::string why;   ///< in one line
};

struct Comparison {
  bool serving = false;
  std::vector<RefusedPlan> refused;  ///< beside the plans, as given
  std::vector<ComparedPlan> plans;   ///< as given
  std::size_t reference = 0;         ///< the first plan that is priced; the first where none is
  std::vector<DifferingKey> keys;
  std::vector<RankedOffer> ranking;  ///< by position in `plans`
  Objectives objectives;
};

/// ConfigError for fewer than two scenarios, refused ones among them, for training beside serving, and for an objective
/// of the other kind or, of the run's duration, where a scenario states no tokens.
[[nodiscard]] Comparison compare_plans(std::vector<Scenario> scenarios,
                                       const Objectives& objectives,
                                       std::vector<RefusedPlan> refused = {});

}  // namespace headroom
