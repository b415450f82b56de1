// SPDX-License-Identifier: Apache-2.0
// Measured runs of the user's own servers: they move the times and rates of a serving plan as far as past errors allow,
// and narrow their intervals.
#pragma once

#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct Plan;
struct Scenario;
struct ServeScenario;
struct Sources;

/// How far a publication lies from the model in the logarithm, by what it measures: the pace of its iterations, its
/// first tokens beside that, its rates beside that. Their standard deviations, before any run of the user's.
struct ServerLevels {
  double pace = 0.0, first_token = 0.0, rate = 0.0;
  /// Standard deviation of single runs of one publication, by quantity without and with a queue (ServingQuantity).
  std::array<double, serving_quantity_names.size()> noise{};
};
/// Of the classes that the scenario's times take. The pace has the level of TPOT's class; of first tokens and rates
/// what the levels of their classes have beyond it, as variances. Noise is the class's median error over 0.6745, the 75
/// % quantile of the normal distribution.
[[nodiscard]] ServerLevels server_levels(const ServeScenario& serve);

/// One quantity of one run: ln(measured / predicted) of a time, of a rate the negative.
struct ServerError {
  ServingQuantity quantity = ServingQuantity::tpot;
  double error = 0.0;
};

/// The three levels given the errors: conditional mean and covariance of the normal distribution (Rasmussen and
/// Williams 2006, equation A.6), an error after another. A time between tokens is the pace and noise, a first token
/// pace and first token, a rate pace and rate; times and rates of queues count so too, with the noise of queues.
struct LearnedLevels {
  std::array<double, 3> mean{};                       ///< pace, first token, rate
  std::array<std::array<double, 3>, 3> covariance{};  ///< of them
  /// Of a quantity without a queue, ln of the factor on what the model says of its time.
  [[nodiscard]] double shift(ServingQuantity quantity) const noexcept;
  /// The variance of that.
  [[nodiscard]] double variance(ServingQuantity quantity) const noexcept;
};
[[nodiscard]] LearnedLevels learned_levels(const ServerLevels& before, std::span<const ServerError> errors);

struct OwnServers {
  OwnRuns told;  ///< SKU, engine, runs, rows, and those that are not used
  ServerLevels before;
  LearnedLevels after;
  std::vector<ServerError> errors;
};

/// What a row of a server needs and a client's file may not say, as the plan has it: "gpu=h100-sxm-80gb", "tp=8", ...
[[nodiscard]] std::vector<std::string> cells_of_server(const ServeScenario& serve);

/// The runs of the plan's model, SKU and engine; cells that a row leaves blank are the plan's, and are told as assumed.
/// A run is the rows of one configuration: of its times and rates the mean counts, else the median, else a tail. Rows
/// of another model, SKU or engine, in doubt, or that cannot be priced are listed as unused. Every problem goes to
/// `diagnostics`, with its place: a file that is not of serving, broken cells, a measurement that beats the hardware;
/// no run that matches.
[[nodiscard]] OwnServers learn_from_servers(std::span<const RunFile> files,
                                            const ServeScenario& serve,
                                            const Sources& sources,
                                            Diagnostics& diagnostics);

/// Moves times, rates and what the rates cost by the levels, and narrows their intervals. With V the variance of level
/// and noise of a quantity before the runs, an interval's ends in the logarithm are sqrt((noise^2 + variance) / V) as
/// far from the middle. Memory, terms and energy stay as they are.
void apply_own_servers(Plan& plan, OwnServers own);

}  // namespace headroom
