// SPDX-License-Identifier: Apache-2.0
// What a sweep over configurations costs when the worse ones stop early.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/advice/questions.hpp>

#include <optional>
#include <vector>

namespace headroom {

/// Configurations that train up to `resource` units each.
struct Rung {
  std::int64_t configurations = 1;
  double resource = 1.0;
  double units = 1.0;  ///< trained on this rung, by all of them
  Seconds duration{};  ///< so many at a time as run in parallel
};

/// Successive halving (Jamieson and Talwalkar 2016; with eta as a bracket of Hyperband, Li et al. 2018,
/// algorithm 1): rung i holds floor(n eta^-i) configurations at R eta^(i-s) units each, s the largest number for which
/// the first rung has `least` units and the last a configuration. Anew on each rung, as the papers count, or resumed.
struct SweepPlan {
  SweepQuestion question;
  std::vector<Rung> rungs;
  double units = 0.0;          ///< as asked: anew or resumed
  double anew_units = 0.0;     ///< every rung from the start
  double resumed_units = 0.0;  ///< every rung from the checkpoints of the one before
  double full_units = 0.0;     ///< every configuration to the end
  Interval<Seconds> duration;
  Interval<double> gpu_hours;
  std::optional<Interval<Dollars>> cost;
};

/// The price of one whole run on the scenario's GPUs.
struct RunPrice {
  Interval<Seconds> duration;
  Interval<double> gpu_hours;
  std::optional<Interval<Dollars>> cost;
};
[[nodiscard]] SweepPlan plan_sweep(const SweepQuestion& question, const RunPrice& run);

}  // namespace headroom
