// SPDX-License-Identifier: Apache-2.0
// What a plan draws: the mean power of its GPUs by what they spend the step on, of their hosts, of the building.
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
  double share = 0.0;  ///< of the step
  Watts power{};       ///< of one GPU meanwhile
};

/// Joules are those of all GPUs and their hosts; with a PUE those of the building.
struct PlanEnergy {
  GpuPower model;
  Watts gpu{};   ///< mean over the step, of one GPU
  Watts host{};  ///< a GPU's share of the node
  std::array<EnergyPart, draw_count> parts{};
  std::optional<double> pue;
  double clock = 1.0;            ///< of products under the cap
  Interval<Joules> step;         ///< zero for serving
  Interval<Joules> run;          ///< of the run and of what the GPUs are held for beside it; zero without one
  Interval<Joules> per_million;  ///< tokens, samples, output tokens
  std::optional<Interval<Dollars>> dollars;  ///< of the run, else of a million, where electricity has a price
  Watts node{};                              ///< of a whole node at its GPUs' limit, without the PUE
  std::optional<double> nodes_per_rack;
  std::string source;
};

/// What the energy is of.
struct EnergyWork {
  double gpus = 1.0, gpus_per_node = 1.0;
  double spare_gpus = 0.0;                  ///< that stand by, idle, all the time
  std::array<double, draw_count> shares{};  ///< of the time, by kind; their sum is 1
  Seconds step{};                           ///< zero: a rate without steps
  Seconds run{};                            ///< of training and evaluation; zero: none asked
  double items = 0.0;                       ///< of the run; zero: a million at the rate
  Seconds held{};                           ///< that GPUs are held for beside it
  Hertz rate{};                             ///< items a second, of all GPUs
  double width = 0.0;                       ///< of the times' interval
};
[[nodiscard]] PlanEnergy energy_of(const GpuPower& power,
                                   double clock,
                                   const EnergyQuestion& question,
                                   const EnergyWork& work);

/// Shares of a step's time by what the GPU draws meanwhile.
[[nodiscard]] std::array<double, draw_count> shares_of(const Breakdown& time) noexcept;

}  // namespace headroom
