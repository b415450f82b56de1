// SPDX-License-Identifier: Apache-2.0
// Robust least squares for curves whose parameters are positive: Levenberg-Marquardt in log space with priors.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

/// A positive number to fit. Its prior is log-normal: the data move it as far as they can tell it apart, so that what
/// a short probe cannot identify stays at its usual value.
struct FitParameter {
  std::string_view name;
  double prior = 1.0;
  double width = 0.0;  ///< standard deviation of the prior in log space; 0: free between the bounds
  double low = 0.0;
  double high = 0.0;
  bool fixed = false;  ///< stays at its prior
};

struct FitOptions {
  double scale = 0.1;  ///< log error beyond which a residual counts linearly: outliers stay, down-weighted
  double noise = 0.1;  ///< log error of one measurement, against which priors are weighed
  int iterations = 60;
};

/// What one parameter became and how surely.
struct FittedParameter {
  double value = 0.0;
  double deviation = 0.0;   ///< of its logarithm
  bool from_prior = false;  ///< the data narrowed the prior by less than a third
};

struct FitResult {
  std::vector<FittedParameter> parameters;
  std::vector<double> correlation;  ///< row by row, parameters x parameters; fixed ones have zero rows
  double cost = 0.0;
  int iterations = 0;
};

/// Writes the log errors, ln(predicted / measured), of every sample at the given parameters.
using LogErrors = std::function<void(std::span<const double> parameters, std::span<double> errors)>;

/// Minimises the sum of scale^2 (sqrt(1 + (e / scale)^2) - 1) over the samples (pseudo-Huber; Huber 1964, Charbonnier
/// et al. 1997) plus the priors, from every start, and keeps the best. Deterministic. Each start has one value a
/// parameter; with none the fit starts at the priors. Precondition: samples > 0, bounds positive and ordered.
[[nodiscard]] FitResult robust_fit(std::span<const FitParameter> parameters,
                                   std::size_t samples,
                                   const LogErrors& log_errors,
                                   std::span<const std::vector<double>> starts,
                                   const FitOptions& options = {});

}  // namespace headroom
