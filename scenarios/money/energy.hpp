// SPDX-License-Identifier: Apache-2.0
// Power and energy of a plan: mean draw of a GPU by what it does during the step, of its host, and of the building.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/money/money.hpp>

#include <array>
#include <optional>
#include <string>

namespace headroom {

struct EnergyPart {
  Draw kind = Draw::matrix;
  double share = 0.0;  ///< share of the time, 0 to 1
  Watts power{};       ///< power of one GPU during that time
};

/// Power of one GPU of a replica that serves, by what runs. The form of the mean is asked for each phase; no published
/// row measures them apart.
struct PhasePower {
  Watts idle{}, prefill{}, decode{};
};

/// Energies (joules) cover all GPUs and their hosts, and the building where a PUE is known.
struct PlanEnergy {
  GpuPower model;
  Watts gpu{};   ///< mean power of one GPU over the step
  Watts host{};  ///< power of one GPU's share of its host
  std::array<EnergyPart, draw_count> parts{};
  std::optional<PhasePower> phases;  ///< of serving
  std::optional<double> pue;
  double clock = 1.0;     ///< clock of matrix products under the power cap over the free clock, 0 to 1
  Interval<Joules> step;  ///< energy of one step; zero for serving
  Interval<Joules> run;   ///< energy of the run, with the time GPUs are held but do not train; zero without a run
  Interval<Joules> per_million;              ///< energy per million tokens, samples or output tokens
  std::optional<Interval<Dollars>> dollars;  ///< cost of `run`, else of `per_million`; absent: no price
  Watts node{};                              ///< power of a whole node with every GPU at its limit, without the PUE
  std::optional<double> nodes_per_rack;
  std::string source;
};

/// The work whose energy is asked.
struct EnergyWork {
  double gpus = 1.0, gpus_per_node = 1.0;
  double spare_gpus = 0.0;                  ///< idle GPUs that stand by during the whole run
  std::array<double, draw_count> shares{};  ///< share of the time by kind of draw; the shares add up to 1
  std::optional<Watts> drawn;               ///< mean power of one GPU, where it is known apart from the kinds' own
  Seconds step{};                           ///< time of one step; zero for work without steps
  Seconds run{};                            ///< time of training and evaluation; zero without a run
  double items = 0.0;                       ///< items (tokens, samples) that the run processes; zero: use `rate`
  Seconds held{};                           ///< time in which GPUs are paid for but do not train (restarts, waits)
  Hertz rate{};                             ///< items per second of all GPUs together
  double width = 0.0;                       ///< relative half-width of the times' interval; 0: exact
};
[[nodiscard]] PlanEnergy energy_of(const GpuPower& power,
                                   double clock,
                                   const EnergyQuestion& question,
                                   const EnergyWork& work);

/// Share of a step's time by kind of power draw; the shares add up to 1, or are all 0 for an empty step.
[[nodiscard]] std::array<double, draw_count> shares_of(const Breakdown& time) noexcept;

}  // namespace headroom
