// SPDX-License-Identifier: Apache-2.0
// The cheapest fleet that keeps what it promises: every layout of a question screened by closed forms, the best of them
// sized and confirmed by simulation.
#pragma once

#include <headroom/model/estimate.hpp>
#include <headroom/model/serve/autoscaling.hpp>
#include <headroom/model/serve/screen.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/serving/fleet_sizing.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>
#include <headroom/scenarios/serving/traffic.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headroom {

/// One way to serve.
struct FleetOption {
  std::vector<std::string> changes;  ///< assignments that make it of the question: "strategy.tp=4"
  std::shared_ptr<const Scenario> scenario;
  [[nodiscard]] const ServeScenario& question() const { return std::get<ServeScenario>(scenario->question); }
  std::shared_ptr<const ServedReplica> served;
  std::int64_t screened_replicas = 0;  ///< by the closed forms; the fewest that are not overloaded where they find none
  bool beyond_screen = false;          ///< they found none that keeps the promises
  std::int64_t cells = 1;              ///< that it was simulated as, each with a router and its share of the requests
  ServingScreen screened;              ///< with so many
  std::int64_t gpus = 0;               ///< the sized fleet's, else by the screen, spares and prefill with it
  std::optional<SizedFleet> sized;     ///< of those that the simulation confirmed
  double prompt_share = 0.0;           ///< of the time that a replica iterates, what prompts take
  std::int64_t enough = 0;    ///< replicas that would keep the promises, where stated ones do not; 0: none would
  Interval<double> replicas;  ///< needed, over the interval of the replica's rate; mid is the sized one
  Hertz mean_rate{};          ///< over the day; the fleet is sized for its peak
  Dollars per_hour{};         ///< 0 without a price
  Interval<Dollars> per_million_input, per_million_output;  ///< tokens, apart, at the load
  Interval<Dollars> per_million_output_of_all;              ///< everything over the output tokens
};

/// A way that was left out, and why.
struct DroppedOption {
  std::vector<std::string> changes;
  std::string why;
  bool misses = false;  ///< it runs, but not even an idle replica keeps the promises
};

struct FleetPlan;

/// What one of several models would take with GPUs of its own.
struct ApartPool {
  std::string model;
  std::shared_ptr<const FleetPlan> plan;  ///< null: it cannot be,
  std::string why;                        ///< for this reason
};

struct FleetPlan {
  std::shared_ptr<const Scenario> question;  ///< of the first option; of none, the first combination that can be read
  std::vector<FleetOption> options;          ///< cheapest first; those that were sized before those that were not
  std::vector<std::size_t> front;            ///< of the sized ones: none is cheaper and faster in TTFT and TPOT
  std::vector<DroppedOption> dropped;
  std::uint64_t combinations = 0;
  std::optional<ServingSimulation>
      simulated;                           ///< the first option, or a cell of it, with intervals, spare replicas down
  std::optional<Autoscaling> autoscaling;  ///< of the first option, where the question has it and a changing load
  Bill bill;                               ///< of the first option, with an API's break-even
  std::optional<PlanEnergy> energy;        ///< likewise
  std::vector<ApartPool> apart;            ///< of several models on one pool, where their number is to be found
  std::vector<std::string> notes;          ///< assumptions, and what the answer rests on
  std::string interval_source;
  /// The first option keeps every promise.
  [[nodiscard]] bool feasible() const noexcept;
};

struct FleetPlanOptions {
  unsigned threads = 0;       ///< 0: as many as the machine has; the answer is the same
  std::size_t confirmed = 6;  ///< options that are simulated
};

/// ConfigError with every problem of the document, or where no combination of its axes can be.
[[nodiscard]] FleetPlan plan_fleet(const ConfigValue& root,
                                   const std::string& file,
                                   const Sources& sources,
                                   const FleetPlanOptions& options = {});

}  // namespace headroom
