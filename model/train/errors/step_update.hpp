// SPDX-License-Identifier: Apache-2.0
// What measured runs of one software on one SKU say of the numbers behind its steps: the posterior of the fit,
// conditioned on their errors (docs/confidence.md, "Your own runs").
#pragma once

#include <headroom/model/train/errors/posterior.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace headroom {

/// Where a job lies among those of its cluster.
struct JobPlace {
  /// Logarithms of hidden size, sequence, tp, pp, cp, micro-batch and GPUs; 0 for an axis that nobody stated.
  std::array<double, 7> axes{};
  int recipe = 0;      ///< number format of the recipe
  double blank = 0.0;  ///< variance of ln(step) by closing the axes that are blank
};

/// What neither the numbers nor the level explain of a step, the discrepancy of the model (Kennedy & O'Hagan 2001,
/// equation 5): a Gaussian process over jobs, whose covariance falls with their distance.
struct Likeness {
  double variance = 0.0;  ///< of the discrepancy of a job that states all its axes
  double length = 0.0;    ///< distance in logarithms over which it falls to exp(-1/2); 0: jobs share nothing
  /// (variance + sqrt(blank_a blank_b)) exp(-(distance^2 / length^2 + d) / 2), d 1 between unlike recipes (squared
  /// exponential: Rasmussen & Williams 2006, equation 4.9). Closing a blank axis is a rule, so that it errs alike.
  [[nodiscard]] double covariance(const JobPlace& a, const JobPlace& b) const noexcept;
};

inline constexpr std::ptrdiff_t no_place = -1;

/// A measured run as it tells the numbers.
struct ToldRun {
  std::vector<double> derivative;   ///< of ln(step) by each key of the posterior
  double error = 0.0;               ///< ln(predicted/measured)
  double variance = 0.0;            ///< of what numbers, level and discrepancy do not explain
  std::ptrdiff_t place = no_place;  ///< of the run among those of UpdatedNumbers
};

/// The numbers and the level of a cluster once runs are known. ln(step) departs from the fit's by derivative . by +
/// level + the discrepancy at the job's place, in the scale of the fit: logarithms, of shares the numbers themselves.
struct UpdatedNumbers {
  std::vector<double> by;           ///< mean departure of each key's number
  double level = 0.0;               ///< mean of the level
  PairTable covariance;             ///< of the departures, the level, then the discrepancies
  std::vector<double> discrepancy;  ///< mean at each place
  /// Mean departure of ln(step) of a job with these derivatives at a place; without one its discrepancy is 0.
  [[nodiscard]] double departure(std::span<const double> derivative, std::ptrdiff_t place = no_place) const noexcept;
  /// Its variance, without what runs at one place differ by.
  [[nodiscard]] double variance(std::span<const double> derivative, std::ptrdiff_t place = no_place) const;
};

/// Before any run. `prior` as StepPosterior::prior_of() has it, `level` the variance of a cluster's own level.
[[nodiscard]] UpdatedNumbers without_runs(const PairTable& prior, double level);
/// The same with a discrepancy at each of `places`. Precondition: `numbers` have none.
[[nodiscard]] UpdatedNumbers at_places(const UpdatedNumbers& numbers,
                                       const Likeness& likeness,
                                       std::span<const JobPlace> places);

/// Takes one more run: the mean and covariance of a joint normal distribution given one of its linear forms and its
/// noise (Rasmussen & Williams 2006, Gaussian Processes for Machine Learning, equation A.6; one at a
/// time: Kalman 1960). Runs may come in any order.
void learn(UpdatedNumbers& numbers, const ToldRun& run);

/// Weight of a run that stays off by `off` once all are known; over it, its variance is that of a normal one. Single
/// runs are off as Student's t with four degrees of freedom is: the weight is 5 / (4 + off^2 / variance) (Lange, Little
/// & Taylor 1989, section 2; West 1984 of errors with heavy tails), and at most 1, that of a run within its deviation.
[[nodiscard]] double run_weight(double off, double variance) noexcept;

/// Takes all runs, each with its weight, which follow from what the others leave it off by: found in turns from weights
/// of 1 (expectation maximisation: Lange, Little & Taylor 1989, section 3). Returns the weights.
std::vector<double> learn_all(UpdatedNumbers& numbers, std::span<const ToldRun> runs);

}  // namespace headroom
