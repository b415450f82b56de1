// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/linear_algebra.hpp>
#include <headroom/calibrate/solver/robust_fit.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Step of the forward difference in log space, and the longest step of one iteration.
constexpr double difference = 1e-3;
constexpr double longest_step = 1.0;
/// Relative decrease of the cost below which the fit has converged.
constexpr double enough = 1e-6;

class Solver {
 public:
  Solver(std::span<const FitParameter> parameters,
         std::size_t samples,
         const LogErrors& log_errors,
         const FitOptions& options)
      : parameters_{parameters}, options_{options}, log_errors_{log_errors}, samples_{samples} {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].fixed) {
        free_.push_back(i);
      }
    }
  }

  [[nodiscard]] const std::vector<std::size_t>& free_parameters() const { return free_; }

  struct Minimum {
    std::vector<double> values;
    double cost = 0.0;
    int iterations = 0;
  };

  Minimum minimise(std::vector<double> start) {
    Minimum at{bounded(std::move(start)), 0.0, 0};
    std::vector<double> errors = errors_at(at.values);
    at.cost = cost(at.values, errors);
    double damping = 1e-3;
    while (at.iterations < options_.iterations) {
      ++at.iterations;
      const auto [curvature, gradient] = normal_equations(at.values, errors);
      const double before = at.cost;
      if (!improve(at, errors, curvature, gradient, damping) || before - at.cost < enough * before) {
        break;
      }
    }
    return at;
  }

  /// Inverse curvature and variance of the down-weighted errors; their product is the covariance of the logarithms.
  std::pair<SquareMatrix, double> uncertainty(const std::vector<double>& values) const {
    const std::vector<double> errors = errors_at(values);
    double variance = 0.0;
    for (const double e : errors) {
      variance += weight(e) * e * e / static_cast<double>(samples_);
    }
    return {pseudo_inverse(normal_equations(values, errors).first), variance};
  }

  /// Curvature that a prior adds to its parameter, in the units of the cost.
  [[nodiscard]] double stiffness(const FitParameter& p) const {
    return p.width > 0.0 ? options_.noise * options_.noise / (p.width * p.width) : 0.0;
  }

 private:
  std::vector<double> bounded(std::vector<double> values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] =
          parameters_[i].fixed ? parameters_[i].prior : std::clamp(values[i], parameters_[i].low, parameters_[i].high);
    }
    return values;
  }

  std::vector<double> errors_at(const std::vector<double>& values) const {
    std::vector<double> errors(samples_);
    log_errors_(values, errors);
    return errors;
  }

  [[nodiscard]] double weight(double error) const {
    return 1.0 / std::sqrt(1.0 + error * error / (options_.scale * options_.scale));
  }

  [[nodiscard]] double cost(const std::vector<double>& values, const std::vector<double>& errors) const {
    const double scale = options_.scale;
    double sum = 0.0;
    for (const double e : errors) {
      sum += scale * scale * (std::sqrt(1.0 + e * e / (scale * scale)) - 1.0);
    }
    for (const std::size_t i : free_) {
      const double away = std::log(values[i] / parameters_[i].prior);
      sum += 0.5 * stiffness(parameters_[i]) * away * away;
    }
    return sum;
  }

  /// Derivatives of the errors with respect to each free parameter's logarithm.
  [[nodiscard]] std::vector<std::vector<double>> derivatives(const std::vector<double>& values,
                                                             const std::vector<double>& errors) const {
    std::vector<std::vector<double>> columns;
    std::vector<double> moved = values;
    for (const std::size_t i : free_) {
      moved[i] = values[i] * std::exp(difference);
      std::vector<double> column = errors_at(moved);
      for (std::size_t sample = 0; sample < samples_; ++sample) {
        column[sample] = (column[sample] - errors[sample]) / difference;
      }
      columns.push_back(std::move(column));
      moved[i] = values[i];
    }
    return columns;
  }

  std::pair<SquareMatrix, std::vector<double>> normal_equations(const std::vector<double>& values,
                                                                const std::vector<double>& errors) const {
    const std::size_t count = free_.size();
    const std::vector<std::vector<double>> jacobian = derivatives(values, errors);
    SquareMatrix curvature{count};
    std::vector<double> gradient(count, 0.0);
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t sample = 0; sample < samples_; ++sample) {
        const double weighted = weight(errors[sample]) * jacobian[j][sample];
        gradient[j] += weighted * errors[sample];
        for (std::size_t l = 0; l <= j; ++l) {
          curvature(j, l) += weighted * jacobian[l][sample];
        }
      }
      for (std::size_t l = 0; l < j; ++l) {
        curvature(l, j) = curvature(j, l);
      }
      const FitParameter& p = parameters_[free_[j]];
      curvature(j, j) += stiffness(p);
      gradient[j] += stiffness(p) * std::log(values[free_[j]] / p.prior);
    }
    return {std::move(curvature), std::move(gradient)};
  }

  /// Tries one step, with more damping after every refusal; false when none lowers the cost.
  bool improve(Minimum& at,
               std::vector<double>& errors,
               const SquareMatrix& curvature,
               const std::vector<double>& gradient,
               double& damping) const {
    for (int attempt = 0; attempt < 10; ++attempt) {
      SquareMatrix damped = curvature;
      for (std::size_t j = 0; j < free_.size(); ++j) {
        damped(j, j) += damping * (curvature(j, j) + 1e-9);
      }
      const std::vector<double> uphill = solve_symmetric(damped, gradient);
      std::vector<double> values = at.values;
      for (std::size_t j = 0; j < free_.size(); ++j) {
        values[free_[j]] *= std::exp(std::clamp(-uphill[j], -longest_step, longest_step));
      }
      values = bounded(std::move(values));
      std::vector<double> tried = errors_at(values);
      const double reached = cost(values, tried);
      if (reached < at.cost) {
        at.values = std::move(values);
        at.cost = reached;
        errors = std::move(tried);
        damping = std::max(0.3 * damping, 1e-8);
        return true;
      }
      damping *= 5.0;
    }
    return false;
  }

  std::span<const FitParameter> parameters_;
  FitOptions options_;
  const LogErrors& log_errors_;
  std::size_t samples_;
  std::vector<std::size_t> free_;
};

/// A parameter whose deviation stays above this share of its prior's width rests on the prior.
constexpr double narrowed = 2.0 / 3.0;

/// The lowest of the minima found from the starts, or from the priors without starts.
Solver::Minimum lowest(Solver& solver,
                       std::span<const FitParameter> parameters,
                       std::span<const std::vector<double>> starts) {
  if (starts.empty()) {
    std::vector<double> priors;
    priors.reserve(parameters.size());
    for (const FitParameter& p : parameters) {
      priors.push_back(p.prior);
    }
    return solver.minimise(std::move(priors));
  }
  Solver::Minimum best = solver.minimise(starts.front());
  for (const std::vector<double>& start : starts.subspan(1)) {
    Solver::Minimum found = solver.minimise(start);
    if (found.cost < best.cost) {
      best = std::move(found);
    }
  }
  return best;
}

}  // namespace

FitResult robust_fit(std::span<const FitParameter> parameters,
                     std::size_t samples,
                     const LogErrors& log_errors,
                     std::span<const std::vector<double>> starts,
                     const FitOptions& options) {
  Solver solver{parameters, samples, log_errors, options};
  const Solver::Minimum best = lowest(solver, parameters, starts);
  FitResult result;
  result.cost = best.cost;
  result.iterations = best.iterations;
  result.correlation.assign(parameters.size() * parameters.size(), 0.0);
  for (const double value : best.values) {
    result.parameters.push_back({value, 0.0, false});
  }
  const std::vector<std::size_t>& free = solver.free_parameters();
  const auto [inverse, variance] = solver.uncertainty(best.values);
  for (std::size_t j = 0; j < free.size(); ++j) {
    FittedParameter& parameter = result.parameters[free[j]];
    parameter.deviation = std::sqrt(std::max(0.0, variance * inverse(j, j)));
    // Without data the inverse curvature equals the inverse of the prior's stiffness.
    parameter.from_prior = std::sqrt(std::max(0.0, inverse(j, j) * solver.stiffness(parameters[free[j]]))) > narrowed;
    for (std::size_t l = 0; l < free.size(); ++l) {
      const double product = std::sqrt(std::max(0.0, inverse(j, j) * inverse(l, l)));
      result.correlation[free[j] * parameters.size() + free[l]] = product > 0.0 ? inverse(j, l) / product : 0.0;
    }
  }
  return result;
}

}  // namespace headroom
