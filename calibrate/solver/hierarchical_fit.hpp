// SPDX-License-Identifier: Apache-2.0
// Maximum a posteriori fit of many related numbers: each has a prior around a constant or around another number, and
// each family of samples may have its own level.
#pragma once

#include <headroom/calibrate/solver/linear_algebra.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// A number to fit, as its logarithm, or directly for a share.
struct FitCoordinate {
  double start = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0;         ///< centre of the prior without a parent
  double width = 1.0;          ///< standard deviation of the prior
  std::ptrdiff_t parent = -1;  ///< index of the coordinate that the prior is centred on; -1: none
  bool fixed = false;          ///< keeps its start
  /// Coordinates of one group share the standard deviation of their distance from their parents, which the fit
  /// estimates from `width`; -1: the width is known.
  std::ptrdiff_t group = -1;
};

struct FitSample {
  double weight = 1.0;
  std::size_t family = 0;
  std::vector<std::size_t> behind;  ///< indices of the coordinates that its error depends on
  /// Its error takes so long, by a simulation for instance, that refits follow its tangent instead.
  bool costly = false;
  std::ptrdiff_t work = -1;  ///< samples of one work share what computes their errors, and one worker; -1: none
};

struct HierarchicalOptions {
  double scale = 0.15;  ///< log error beyond which a residual counts linearly
  double noise = 0.1;   ///< log error of one sample, which weighs samples against priors
  double level = 0.0;   ///< standard deviation of a family's level; 0: families have no levels
  int iterations = 25;  ///< most iterations, each with new derivatives
  std::size_t workers = 2;
  /// Rounds of expectation maximisation for the widths of groups and the level (Dempster, Laird & Rubin 1977; Searle,
  /// Casella & McCulloch 1992, chapter 8), each with a descent of its own; 0: widths stay as they are.
  int variance_rounds = 0;
  /// Above 0: the last descent has no levels and this noise. A family whose numbers no other shares then leaves its
  /// level to them, which is what its own further samples need; covariances still have the levels integrated out.
  double settled_noise = 0.0;
};

/// Computes the log errors ln(predicted / measured) of the listed samples at a point. Called concurrently by workers,
/// with `worker` below the number of workers.
using SampleErrors = std::function<void(
    std::span<const double> point, std::span<const std::size_t> samples, std::span<double> errors, std::size_t worker)>;

struct HierarchicalResult {
  std::vector<double> point;
  std::vector<double> deviation;  ///< posterior standard deviation, with families' levels integrated out
  std::vector<double> narrowing;  ///< deviation over the prior's width; near 1 where the data say nothing
  std::vector<bool> at_bound;
  std::vector<double> correlation;  ///< coordinates x coordinates, row by row
  SquareMatrix covariance;          ///< of the coordinates, in their scale; zero for fixed ones
  std::vector<double> family_level;
  std::vector<double> width;  ///< of each coordinate's prior, as known or as estimated of its group
  double level = 0.0;         ///< standard deviation of a family's level
  double cost = 0.0;
  int iterations = 0;
};

class HierarchicalFit {
 public:
  HierarchicalFit(std::vector<FitCoordinate> coordinates,
                  std::vector<FitSample> samples,
                  SampleErrors errors,
                  HierarchicalOptions options = {});
  ~HierarchicalFit();
  HierarchicalFit(const HierarchicalFit&) = delete;
  HierarchicalFit& operator=(const HierarchicalFit&) = delete;
  HierarchicalFit(HierarchicalFit&&) = delete;
  HierarchicalFit& operator=(HierarchicalFit&&) = delete;

  /// Levenberg-Marquardt with pseudo-Huber weights, within the coordinates' bounds. The result does not depend on the
  /// number of workers.
  [[nodiscard]] HierarchicalResult fit();
  /// Refit without the samples whose `out` is set, starting from a fit of all, the last fit(): two rounds of
  /// derivatives, with the widths that the fit estimated. Costly samples have the errors of their tangents (of the last
  /// derivatives), first at the fit's point and then, up to three times, at the point that those led to, where what is
  /// behind them moved far.
  [[nodiscard]] HierarchicalResult refit(const HierarchicalResult& whole, const std::vector<bool>& out);
  /// Errors of the listed samples at a point, computed by all workers.
  [[nodiscard]] std::vector<double> errors_at(const std::vector<double>& point,
                                              const std::vector<std::size_t>& listed) const;
  /// Derivatives of a sample's error by the coordinates in its `behind`, at the point of the last fit().
  [[nodiscard]] const std::vector<double>& derivatives(std::size_t sample) const { return derivatives_.at(sample); }

 private:
  struct State;
  /// Standard deviations of groups and level that their estimates of `state` call for.
  void estimate_widths(State& state);
  /// Two rounds of derivatives with a few steps each; returns the number of steps.
  int descend_again(State& state);

  std::vector<std::vector<double>> derivatives_;
  std::vector<double> last_point_, last_errors_;  ///< of the last fit()
  std::vector<double> first_widths_;              ///< of each coordinate, before any estimate
  double first_level_ = 0.0;
  std::vector<FitCoordinate> coordinates_;
  std::vector<FitSample> samples_;
  SampleErrors errors_;
  HierarchicalOptions options_;
  std::size_t families_ = 0;
};

}  // namespace headroom
