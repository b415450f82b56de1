// SPDX-License-Identifier: Apache-2.0
// Robust least squares for curves whose parameters are positive: Levenberg-Marquardt in log space with priors.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

/// A positive number to fit, with a log-normal prior. A parameter that the data cannot identify stays near its prior.
struct FitParameter {
  std::string_view name;
  double prior = 1.0;
  double width = 0.0;  ///< standard deviation of the prior in log space; 0: free between the bounds
  double low = 0.0;
  double high = 0.0;
  bool fixed = false;  ///< keeps its prior
};

struct FitOptions {
  double scale = 0.1;  ///< log error beyond which a residual counts linearly, so outliers have less weight
  double noise = 0.1;  ///< log error of one measurement, which weighs measurements against priors
  int iterations = 60;
};

/// Fitted value of a parameter and its uncertainty.
struct FittedParameter {
  double value = 0.0;
  double deviation = 0.0;   ///< standard deviation of the logarithm
  bool from_prior = false;  ///< true when the data narrowed the prior by less than a third
};

struct FitResult {
  std::vector<FittedParameter> parameters;
  std::vector<double> correlation;  ///< row by row, parameters x parameters; rows of fixed parameters are zero
  double cost = 0.0;
  int iterations = 0;
};

/// Computes the log errors ln(predicted / measured) of all samples for the given parameters.
using LogErrors = std::function<void(std::span<const double> parameters, std::span<double> errors)>;

/// Minimises the sum of scale^2 (sqrt(1 + (e / scale)^2) - 1) over the samples (pseudo-Huber; Huber 1964, Charbonnier
/// et al. 1997) plus the priors, from every start, and keeps the best. Deterministic. Each start has a value per
/// parameter; without starts the fit begins at the priors. Preconditions: samples > 0, bounds positive and ordered.
[[nodiscard]] FitResult robust_fit(std::span<const FitParameter> parameters,
                                   std::size_t samples,
                                   const LogErrors& log_errors,
                                   std::span<const std::vector<double>> starts,
                                   const FitOptions& options = {});

}  // namespace headroom
