// SPDX-License-Identifier: Apache-2.0
// Maximum a posteriori fit of many related numbers: each has a prior around a constant or around another number, and
// each family of samples may have its own level.
#pragma once

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
};

struct FitSample {
  double weight = 1.0;
  std::size_t family = 0;
  std::vector<std::size_t> behind;  ///< indices of the coordinates that its error depends on
};

struct HierarchicalOptions {
  double scale = 0.15;  ///< log error beyond which a residual counts linearly
  double noise = 0.1;   ///< log error of one sample, which weighs samples against priors
  double level = 0.0;   ///< standard deviation of a family's level; 0: families have no levels
  int iterations = 25;  ///< most iterations, each with new derivatives
  std::size_t workers = 2;
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
  std::vector<double> family_level;
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
  /// Refit without the samples whose `out` is set, starting from a fit of all: two rounds of derivatives.
  [[nodiscard]] HierarchicalResult refit(const HierarchicalResult& whole, const std::vector<bool>& out);

 private:
  struct State;
  std::vector<FitCoordinate> coordinates_;
  std::vector<FitSample> samples_;
  SampleErrors errors_;
  HierarchicalOptions options_;
  std::size_t families_ = 0;
};

}  // namespace headroom
