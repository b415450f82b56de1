// SPDX-License-Identifier: Apache-2.0
// Fits one kernel curve to measured kernels, and says how far it can be trusted: errors of folds held out by shape.
#pragma once

#include <headroom/calibrate/solver/robust_fit.hpp>
#include <headroom/model/kernels/curve.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace headroom {

/// A curve and the kernels it is to describe.
struct CurveProblem {
  std::span<const CurveParameter> parameters;
  std::vector<bool> fixed;            ///< a parameter that stays at its prior; empty: none
  std::vector<Seconds> measured;      ///< one a kernel
  std::vector<Seconds> roofline;      ///< least_time() of each: no kernel can be faster
  std::vector<std::uint64_t> shapes;  ///< shape_hash of each: all kernels of one shape share a fold
  std::int64_t hosts = 1;             ///< the most that a kernel spans
  /// Times of the kernels `which` with the curve's values.
  std::function<void(std::span<const double> values, std::span<const std::size_t> which, std::span<double> seconds)>
      predict;
  std::vector<std::vector<double>> starts;
};

struct CurveErrors {
  std::size_t n = 0;
  double mape = 0.0;
  double median = 0.0;
  double p90 = 0.0;
  double bias = 0.0;  ///< signed median, positive: the model is too slow
};
[[nodiscard]] CurveErrors curve_errors(std::span<const double> errors);

struct CurveFit {
  FitResult result;
  CurveErrors fitted;
  CurveErrors held_out;                 ///< n = 0 without cross-validation
  std::vector<double> fitted_errors;    ///< predicted / measured - 1, one a kernel
  std::vector<double> held_out_errors;  ///< empty without cross-validation

  [[nodiscard]] std::vector<double> values() const;
};

/// Fits on every kernel, or on those of `only` when it is not empty, which then are left out of the errors; folds > 1
/// adds a cross-validation by shape. ConfigError when there are fewer kernels than free parameters, naming both.
[[nodiscard]] CurveFit fit_curve(const CurveProblem& problem, int folds, std::span<const std::size_t> only = {});

}  // namespace headroom
