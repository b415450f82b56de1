// SPDX-License-Identifier: Apache-2.0
// Fits a kernel curve to measured kernels, and estimates its errors on folds held out by shape.
#pragma once

#include <headroom/calibrate/solver/robust_fit.hpp>
#include <headroom/model/kernels/curve.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// A curve and the kernels to fit it to.
struct CurveProblem {
  std::span<const CurveParameter> parameters;
  std::vector<bool> fixed;            ///< parameters that keep their priors; empty: none
  std::vector<Seconds> measured;      ///< time of each kernel
  std::vector<Seconds> roofline;      ///< least_time() of each kernel, a lower bound
  std::vector<std::uint64_t> shapes;  ///< shape_hash of each kernel; a shape's kernels share a fold
  std::int64_t hosts = 1;             ///< most hosts that a kernel spans
  /// Predicts the kernels `which` with the given values of the curve, in seconds.
  std::function<void(std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds)>
      predict;
  std::vector<std::vector<double>> starts;
};

struct CurveErrors {
  std::size_t n = 0;
  double mape = 0.0;
  double median = 0.0;
  double p90 = 0.0;
  double bias = 0.0;  ///< signed median; positive: the model is too slow
};
[[nodiscard]] CurveErrors curve_errors(std::span<const double> errors);

struct CurveFit {
  FitResult result;
  CurveErrors fitted;
  CurveErrors held_out;                 ///< n = 0 without cross-validation
  std::vector<double> fitted_errors;    ///< predicted / measured - 1 of each kernel
  std::vector<double> held_out_errors;  ///< empty without cross-validation

  [[nodiscard]] std::vector<double> values() const;
};

/// Fits all kernels, or only those in a non-empty `only`, which are then excluded from the errors. `folds` > 1 adds a
/// cross-validation by shape. Throws ConfigError, with both numbers, when there are fewer kernels than free parameters.
[[nodiscard]] CurveFit fit_curve(const CurveProblem& problem, int folds, std::span<const std::size_t> only = {});

}  // namespace headroom
