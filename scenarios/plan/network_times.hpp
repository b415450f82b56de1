// SPDX-License-Identifier: Apache-2.0
// The times of a network of ops: step, rates, run, money, and how much of the peak its own FLOP reach.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/estimate/explain.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/network/network_step.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/question/network_scenario.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Whether model FLOP reach the share of the peak that was asked for.
enum class TargetVerdict : std::uint8_t {
  reached,      ///< at the low end of the interval too
  likely,       ///< at the central value
  unlikely,     ///< at the upper end alone
  out_of_reach  ///< nowhere in the interval
};
inline constexpr std::array<std::string_view, 4> target_verdict_names{"reached", "likely", "unlikely", "out_of_reach"};

struct UtilisationTarget {
  double asked = 0.0;
  TargetVerdict verdict = TargetVerdict::reached;
  std::string text;  ///< one sentence, with what binds where it is not reached
};

/// Everything as wide as past errors of the widest class, for no measured run is a network of ops.
struct NetworkTimes {
  NetworkStepTime parts;
  Interval<Seconds> step;
  Interval<double> samples_per_s;
  Interval<double> samples_per_s_per_gpu;
  Interval<double> utilisation;  ///< model FLOP over the recipe's dense peak
  double executed = 0.0;         ///< the same with what is recomputed
  Interval<Seconds> duration;    ///< of the run; zero when no number of samples was given
  Interval<double> gpu_hours;
  Interval<Dollars> cost;  ///< zero without a price or a run
  Interval<Dollars> cost_per_million_samples;
  double gpu_hours_per_million_samples = 0.0;
  Bill bill;                         ///< of a run with a price
  std::optional<PlanEnergy> energy;  ///< where the catalog has the SKU's power
  std::string binds;
  std::optional<UtilisationTarget> target;
  RunClass run_class = RunClass::dense;
  ClassErrors errors;
};

struct PricedNetwork {
  std::optional<NetworkTimes> times;
  std::string untimed;                ///< why there are none
  std::vector<ExplainEntry> explain;  ///< filled when asked for
};

/// Precondition: the strategy is closed and legal. Ops without kernels, a SKU without peak, bandwidth or links end in
/// `untimed`.
[[nodiscard]] PricedNetwork price_network(const NetworkScenario& scenario, bool explain, TermSet without);

/// What a utilisation says about the share asked for. `ceiling`: what recomputation leaves of the peak.
[[nodiscard]] UtilisationTarget judge_utilisation(const Interval<double>& utilisation,
                                                  double asked,
                                                  double ceiling,
                                                  const std::string& binds);

}  // namespace headroom
