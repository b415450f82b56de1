// SPDX-License-Identifier: Apache-2.0
// One scenario at a series of GPU counts: what each achieves, what the laws of scaling say of the series, and where to
// stop.
#pragma once

#include <headroom/scenarios/compare/laws.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::scaling {

/// strong: the global batch stays; weak: it grows with the GPUs.
enum class Kind : std::uint8_t { strong, weak };
inline constexpr std::array<std::string_view, 2> kind_names{"strong", "weak"};

struct Request {
  std::optional<std::int64_t> from;  ///< first count; nullopt: the scenario's, halved as long as replicas stay whole
  std::optional<std::int64_t> to;    ///< no count above it; nullopt: eight times the scenario's
  Kind kind = Kind::strong;
  double least = 0.5;  ///< marginal efficiency below which a count is not worth its GPUs
  Budget budget;
};

/// One count of GPUs, answered or not.
struct Point {
  std::int64_t gpus = 1;
  std::int64_t global_batch = 0;    ///< 0: the share of the scenario's is no whole number
  std::optional<Plan> plan;         ///< nullopt: cannot even be asked
  std::string verdict;              ///< "fits", or what it breaks with the numbers
  std::string way_out;              ///< the nearest values that obey the rules it breaks; empty: none are known
  bool fits = false;                ///< surely
  bool answered = false;            ///< it fits, or may
  double efficiency = 0.0;          ///< throughput per GPU over that of the smallest answered count
  std::optional<double> marginal;   ///< of the GPUs added since the answered count before
  double communication = 0.0;       ///< exposed, of the step
  double samples_per_dollar = 0.0;  ///< sequences; 0 without a price
  bool too_dear = false;            ///< the budget does not pay for it
  Dollars cost{};                   ///< of the whole run, where the budget is for one
  [[nodiscard]] const TrainPlan& train() const { return std::get<TrainPlan>(plan->answer); }
};

struct Curve {
  Request request;
  std::vector<Point> points;     ///< in order of growing counts
  std::optional<LawFit> amdahl;  ///< of answered counts, over the smallest of them
  std::optional<LawFit> gustafson;
  std::optional<std::int64_t> knee, stop;   ///< of a series
  std::optional<std::int64_t> most_useful;  ///< with a budget
  double least_per_dollar = 0.0;  ///< samples, of added GPUs: `least` of what the smallest answered count gives
  [[nodiscard]] const Point* smallest() const noexcept;  ///< answered; nullptr when none is
  [[nodiscard]] std::size_t answered() const noexcept;   ///< counts
  /// Scaling is told of two counts or more.
  [[nodiscard]] bool is_series() const noexcept { return answered() >= 2; }
  /// A series, or the only count that was asked for, and one that the budget pays for where there is one.
  [[nodiscard]] bool good() const noexcept;
};

/// ConfigError for a scenario that serves.
[[nodiscard]] const TrainScenario& training_of(const Scenario& scenario);

/// The sum of the exposed collectives.
[[nodiscard]] Seconds communication_of(const Estimate& estimate) noexcept;

/// The counts of a request: doublings.
[[nodiscard]] std::vector<std::int64_t> counts_of(const TrainScenario& train, const Request& request);

/// The scenario at another number of GPUs: tp, pp, cp and ep stay, dp follows, open axes are open still. ConfigError
/// where it cannot be read so.
[[nodiscard]] Scenario at_count(const Scenario& scenario, std::int64_t gpus, std::int64_t global_batch);

/// ConfigError with every problem of the request at once, each in the words of the options: counts that are none,
/// `from` above `to`, a threshold that is no share, a budget without a price, one for the run without its tokens; and
/// for a scenario that is no training one or whose time no curve prices.
[[nodiscard]] Curve scaling_curve(const Scenario& scenario, const Request& request);

}  // namespace headroom::scaling
