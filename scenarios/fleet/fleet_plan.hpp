// SPDX-License-Identifier: Apache-2.0
// The cheapest fleet that keeps what it promises with the probability that is asked for: every layout of a question
// screened by closed forms, the best of them sized and confirmed by simulation.
#pragma once

#include <headroom/model/serve/screen/autoscaling.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_option.hpp>
#include <headroom/scenarios/money/bill.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A way that was left out, and why.
struct DroppedOption {
  Changes changes;
  DropCause cause = DropCause::rule;
  std::string why;
  std::optional<NoHelp> no_help;  ///< where the cause is a promise
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
  std::vector<std::size_t> front;            ///< of those that keep: none is cheaper and faster in TTFT and TPOT
  /// Of the sized ones the cheapest at the middle (SizedFleet::middle): what would do if replicas were as fast as the
  /// model says. nullopt: none would.
  std::optional<std::size_t> at_middle;
  /// Probabilities with which the first option, and what would do at the middle, keep their promises; nullopt where
  /// that is not sized.
  std::optional<double> chance, chance_at_middle;
  std::vector<DroppedOption> dropped;
  std::uint64_t combinations = 0;
  bool complete = true;    ///< false: it was stopped before all was screened and sized
  bool time_over = false;  ///< it is not complete because its time ran out
  std::optional<ServingSimulation>
      simulated;                           ///< the first option, or a cell of it, with intervals, spare replicas down
  std::optional<Autoscaling> autoscaling;  ///< of the first option, where the question has it and a changing load
  std::optional<ColdStart> cold_start;     ///< of a replica that follows, likewise
  std::vector<KnownNeed> floor_sizes;      ///< replicas of the floor that simulations found, by rate
  /// Why more replicas do not help where nothing keeps the promises, or no ordered ones where a burst is over too soon;
  /// nullopt: some do, or it is not known why not.
  std::optional<NoHelp> no_help;
  Bill bill;                         ///< of the first option, with an API's break-even
  std::optional<PlanEnergy> energy;  ///< likewise, where it answers something
  std::vector<ApartPool> apart;      ///< of several models on one pool, where their number is to be found
  std::vector<std::string> notes;    ///< assumptions, and what the answer rests on
  std::string interval_source;
  /// The first option keeps every promise at the slow end, with room for the load.
  [[nodiscard]] bool feasible() const noexcept;
};

/// How far a plan is, for whoever looks at it from another thread.
struct FleetProgress {
  std::atomic<std::uint64_t> ways = 0, screened = 0, sized = 0;
};

struct FleetPlanOptions {
  unsigned threads = 0;       ///< 0: as many as the machine has; the answer is the same
  std::size_t confirmed = 6;  ///< options that are simulated and keep; of those that keep at the middle alone as many
  /// Once it is set no more ways are screened and sized than one of each, which an answer needs.
  const std::atomic<bool>* stop = nullptr;
  FleetProgress* progress = nullptr;
};

[[nodiscard]] FleetPlan plan_fleet(const AskedFleet& asked, const FleetPlanOptions& options = {});

}  // namespace headroom
