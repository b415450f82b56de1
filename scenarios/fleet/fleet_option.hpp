// SPDX-License-Identifier: Apache-2.0
// One way to serve a question: read, priced, screened by closed forms, then sized by simulation.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/scenarios/fleet/fleet_sizing.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headroom {

/// One way to serve. What it takes and costs is that of the slow end: replicas as slow as measured ones were.
struct FleetOption {
  Changes changes;  ///< that make it of the question
  std::shared_ptr<const Scenario> scenario;
  [[nodiscard]] const ServeScenario& question() const { return std::get<ServeScenario>(scenario->question); }
  std::shared_ptr<const ServedReplica> served;
  std::int64_t screened_replicas = 0;  ///< by the closed forms; the fewest that are not overloaded where they find none
  std::int64_t screened_at_middle = 0;  ///< for replicas as fast as the model says
  bool beyond_screen = false;           ///< they found none that keeps the promises, or more than are stated
  std::optional<OutOfReach> reach;      ///< of an open number of replicas beyond the screen
  std::int64_t cells = 1;               ///< that it was simulated as, each with a router and its share of the requests
  ServingScreen screened;               ///< so many replicas, as fast as the model says
  ServingScreen screened_slow;          ///< the same at the slow end, in the time of the slower fleet (slow_down())
  double slowest = 1.0;                 ///< slowest_iteration()
  std::int64_t gpus = 0;                ///< the sized fleet's, else by the screen, spares and prefill with it
  std::optional<SizedFleet> sized;      ///< of those that the simulation confirmed
  std::string why_not_slow;             ///< no number of replicas keeps the promises at the slow end, for this reason
  std::optional<NoHelp> no_help;        ///< the reason that more such replicas do not keep them, where it is known
  double prompt_share = 0.0;            ///< of the time that a replica iterates, what prompts take
  /// Replicas that would keep the promises where stated ones do not, at the slow end and at the middle; 0: none would.
  std::int64_t enough = 0, enough_at_middle = 0;
  /// Needed by replicas as fast as measured ones were, as the model says, and as slow; infinite where none is enough.
  Interval<double> replicas;
  Hertz mean_rate{};             ///< over the day; the fleet is sized for its peak
  Dollars per_hour{};            ///< 0 without a price
  Dollars per_hour_at_middle{};  ///< of the fewest replicas that keep the promises at the middle
  /// Tokens, apart, at the load: those of a fleet that answers all that comes, whatever its speed, are no interval.
  Interval<Dollars> per_million_input, per_million_output;
  Interval<Dollars> per_million_output_of_all;  ///< everything over the output tokens

  /// At the slow end, with room there: what can be recommended.
  [[nodiscard]] bool keeps() const noexcept { return sized && sized->keeps(); }
  /// Its replicas that prefill alone, by the screen as many as the others where they are not stated; 0: there are none.
  [[nodiscard]] std::int64_t prefill_replicas() const;
};

/// Money where there is a price, else GPUs.
[[nodiscard]] bool cheaper(const FleetOption& a, const FleetOption& b);
/// The same of what would be enough at the middle. Precondition: both have a size there.
[[nodiscard]] bool cheaper_at_middle(const FleetOption& a, const FleetOption& b);

/// The question with the replicas that it was sized to. Precondition: sized.
[[nodiscard]] ServeScenario as_sized(const FleetOption& option);

/// Requests per second that are answered over the day by replicas of `speed` times the model's: those that come, or
/// what the fleet saturates at.
[[nodiscard]] Hertz answered_rate(const FleetOption& option, double speed = 1.0);

/// What a combination makes of the question, screened. Throws ConfigError where it cannot be. `together`: replicas do
/// both phases, whatever the question says.
[[nodiscard]] FleetOption make_option(const Statement& base, const Changes& changes, bool together);

/// Simulates an option and corrects what the screen said of it. A reason where no number of replicas keeps the
/// promises, and the option is not sized; also where that is so at the slow end alone and nobody asks for the middle.
[[nodiscard]] std::optional<NoHelp> size_option(FleetOption& option, bool middle_too);

/// Where stated replicas were sized and do not keep the promises: how many such replicas would, or why more do not.
void add_enough(FleetOption& option);

/// Where stated replicas for prompts were sized and no number of the others keeps the promises: whether it is those for
/// prompts that are too few.
void add_prefill_bound(FleetOption& option);

}  // namespace headroom
