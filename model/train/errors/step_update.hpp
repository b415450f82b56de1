// SPDX-License-Identifier: Apache-2.0
// What measured runs of one software on one SKU say of the numbers behind its steps: the posterior of the fit,
// conditioned on their errors (docs/confidence.md, "Your own runs").
#pragma once

#include <headroom/model/train/errors/posterior.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// A measured run as it tells the numbers.
struct ToldRun {
  std::vector<double> derivative;  ///< of ln(step) by each key of the posterior
  double error = 0.0;              ///< ln(predicted/measured)
  double variance = 0.0;           ///< of what neither the numbers nor the level explain
};

/// The numbers and the level of a cluster once runs are known. ln(step) departs from the fit's by derivative . by +
/// level, in the scale of the fit: logarithms, of shares the numbers themselves.
struct UpdatedNumbers {
  std::vector<double> by;  ///< mean departure of each key's number
  double level = 0.0;      ///< mean of the level
  PairTable covariance;    ///< of the departures, the level last
  /// Mean departure of ln(step) of a job with these derivatives.
  [[nodiscard]] double departure(std::span<const double> derivative) const noexcept;
  /// Its variance, without what runs of one cluster differ by.
  [[nodiscard]] double variance(std::span<const double> derivative) const;
};

/// Before any run. `prior` as StepPosterior::prior_of() has it, `level` the variance of a cluster's own level.
[[nodiscard]] UpdatedNumbers without_runs(const PairTable& prior, double level);

/// Takes one more run: the mean and covariance of a joint normal distribution given one of its linear forms and its
/// noise (Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, equation A.6; one at a
/// time: Kalman 1960). Runs may come in any order.
void learn(UpdatedNumbers& numbers, const ToldRun& run);

}  // namespace headroom
