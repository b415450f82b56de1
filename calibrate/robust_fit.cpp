// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/robust_fit.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// The step of the forward difference in log space, and the longest step that one iteration may take.
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
      : parameters_{parameters},
        options_{options},
        log_errors_{log_errors},
        samples_{static_cast<Eigen::Index>(samples)} {
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
    Eigen::VectorXd errors = errors_at(at.values);
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

  /// The inverse curvature, and the variance of the down-weighted errors: their product is the covariance of the
  /// logarithms.
  std::pair<Eigen::MatrixXd, double> uncertainty(const std::vector<double>& values) const {
    const Eigen::VectorXd errors = errors_at(values);
    const Eigen::MatrixXd curvature = normal_equations(values, errors).first;
    const double variance = weights(errors).dot(errors.cwiseAbs2()) / static_cast<double>(samples_);
    return {curvature.completeOrthogonalDecomposition().pseudoInverse(), variance};
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

  Eigen::VectorXd errors_at(const std::vector<double>& values) const {
    Eigen::VectorXd errors(samples_);
    log_errors_(values, {errors.data(), static_cast<std::size_t>(samples_)});
    return errors;
  }

  [[nodiscard]] Eigen::VectorXd weights(const Eigen::VectorXd& errors) const {
    return (1.0 + (errors.array() / options_.scale).square()).sqrt().inverse();
  }

  [[nodiscard]] double cost(const std::vector<double>& values, const Eigen::VectorXd& errors) const {
    const double scale = options_.scale;
    double sum = scale * scale * ((1.0 + (errors.array() / scale).square()).sqrt() - 1.0).sum();
    for (const std::size_t i : free_) {
      const double away = std::log(values[i] / parameters_[i].prior);
      sum += 0.5 * stiffness(parameters_[i]) * away * away;
    }
    return sum;
  }

  std::pair<Eigen::MatrixXd, Eigen::VectorXd> normal_equations(const std::vector<double>& values,
                                                               const Eigen::VectorXd& errors) const {
    const auto count = static_cast<Eigen::Index>(free_.size());
    Eigen::MatrixXd jacobian(samples_, count);
    std::vector<double> moved = values;
    for (Eigen::Index j = 0; j < count; ++j) {
      const std::size_t i = free_[static_cast<std::size_t>(j)];
      moved[i] = values[i] * std::exp(difference);
      jacobian.col(j) = (errors_at(moved) - errors) / difference;
      moved[i] = values[i];
    }
    const Eigen::VectorXd weight = weights(errors);
    Eigen::MatrixXd curvature = jacobian.transpose() * weight.asDiagonal() * jacobian;
    Eigen::VectorXd gradient = jacobian.transpose() * weight.cwiseProduct(errors);
    for (Eigen::Index j = 0; j < count; ++j) {
      const FitParameter& p = parameters_[free_[static_cast<std::size_t>(j)]];
      curvature(j, j) += stiffness(p);
      gradient(j) += stiffness(p) * std::log(values[free_[static_cast<std::size_t>(j)]] / p.prior);
    }
    return {std::move(curvature), std::move(gradient)};
  }

  /// One accepted step, more damped after every refused one; false when none lowers the cost.
  bool improve(Minimum& at,
               Eigen::VectorXd& errors,
               const Eigen::MatrixXd& curvature,
               const Eigen::VectorXd& gradient,
               double& damping) const {
    for (int attempt = 0; attempt < 10; ++attempt) {
      Eigen::MatrixXd damped = curvature;
      damped.diagonal() += damping * (curvature.diagonal().array() + 1e-9).matrix();
      const Eigen::VectorXd step = -damped.ldlt().solve(gradient);
      std::vector<double> values = at.values;
      for (Eigen::Index j = 0; j < step.size(); ++j) {
        values[free_[static_cast<std::size_t>(j)]] *= std::exp(std::clamp(step(j), -longest_step, longest_step));
      }
      values = bounded(std::move(values));
      Eigen::VectorXd tried = errors_at(values);
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
  Eigen::Index samples_;
  std::vector<std::size_t> free_;
};

/// A prior that the data narrowed by less than this share is what the parameter still rests on.
constexpr double narrowed = 2.0 / 3.0;

/// The lowest of the minima that the starts lead to; without any the one that the priors lead to.
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
  const auto entry = [&inverse = inverse](std::size_t a, std::size_t b) {
    return inverse(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
  };
  for (std::size_t j = 0; j < free.size(); ++j) {
    FittedParameter& parameter = result.parameters[free[j]];
    parameter.deviation = std::sqrt(std::max(0.0, variance * entry(j, j)));
    // Without data the inverse curvature is one over the prior's stiffness.
    parameter.from_prior = std::sqrt(std::max(0.0, entry(j, j) * solver.stiffness(parameters[free[j]]))) > narrowed;
    for (std::size_t l = 0; l < free.size(); ++l) {
      const double product = std::sqrt(std::max(0.0, entry(j, j) * entry(l, l)));
      result.correlation[free[j] * parameters.size() + free[l]] = product > 0.0 ? entry(j, l) / product : 0.0;
    }
  }
  return result;
}

}  // namespace headroom
