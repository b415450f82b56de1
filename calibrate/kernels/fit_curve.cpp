// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

std::vector<FitParameter> fit_parameters(const CurveProblem& problem) {
  std::vector<FitParameter> parameters;
  for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
    const CurveParameter& p = problem.parameters[i];
    const bool fixed = !problem.fixed.empty() && problem.fixed[i];
    parameters.push_back({p.name, p.prior, p.width, p.low, p.high, fixed});
  }
  return parameters;
}

FitResult fit_on(const CurveProblem& problem, const std::vector<std::size_t>& which) {
  const std::vector<FitParameter> parameters = fit_parameters(problem);
  // Only parameters without a prior need data.
  const auto needed = static_cast<std::size_t>(
      std::count_if(parameters.begin(), parameters.end(), [](const auto& p) { return !p.fixed && p.width <= 0.0; }));
  if (which.size() < needed) {
    std::string names;
    for (const FitParameter& p : parameters) {
      names += p.fixed || p.width > 0.0 ? "" : (names.empty() ? "" : ", ") + std::string{p.name};
    }
    throw ConfigError{std::to_string(which.size()) + " kernels cannot tell " + std::to_string(needed) +
                      " parameters apart (" + names + "); measure more shapes"};
  }
  const LogErrors log_errors = [&](std::span<const double> values, std::span<double> errors) {
    problem.predict(values, which, errors);
    for (std::size_t i = 0; i < which.size(); ++i) {
      errors[i] = std::log(errors[i] / problem.measured[which[i]].raw());
    }
  };
  return robust_fit(parameters, which.size(), log_errors, problem.starts);
}

std::vector<double> values_of(const FitResult& result) {
  std::vector<double> values;
  values.reserve(result.parameters.size());
  for (const FittedParameter& p : result.parameters) {
    values.push_back(p.value);
  }
  return values;
}

void add_errors(const CurveProblem& problem,
                const FitResult& fit,
                std::span<const std::size_t> which,
                std::vector<double>& errors) {
  std::vector<double> seconds(which.size());
  problem.predict(values_of(fit), which, seconds);
  for (std::size_t i = 0; i < which.size(); ++i) {
    errors[which[i]] = seconds[i] / problem.measured[which[i]].raw() - 1.0;
  }
}

}  // namespace

std::vector<double> CurveFit::values() const {
  return values_of(result);
}

CurveErrors curve_errors(std::span<const double> errors) {
  CurveErrors result;
  result.n = errors.size();
  if (errors.empty()) {
    return result;
  }
  std::vector<double> absolute;
  absolute.reserve(errors.size());
  for (const double error : errors) {
    absolute.push_back(std::abs(error));
  }
  result.mape = mean(absolute);
  result.median = median(absolute);
  result.p90 = quantile(absolute, 0.9);
  result.bias = median(errors);
  return result;
}

CurveFit fit_curve(const CurveProblem& problem, int folds, std::span<const std::size_t> only) {
  const std::size_t count = problem.measured.size();
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = i;
  }
  const std::vector<std::size_t> used = only.empty() ? all : std::vector<std::size_t>{only.begin(), only.end()};
  std::vector<std::size_t> judged = all;
  if (!only.empty()) {
    std::vector<bool> seen(count, false);
    for (const std::size_t i : used) {
      seen[i] = true;
    }
    judged.erase(std::remove_if(judged.begin(), judged.end(), [&](std::size_t i) { return seen[i]; }), judged.end());
  }
  CurveFit fit;
  fit.result = fit_on(problem, used);
  fit.fitted_errors.assign(count, 0.0);
  add_errors(problem, fit.result, all, fit.fitted_errors);
  std::vector<double> of_judged;
  of_judged.reserve(judged.size());
  for (const std::size_t i : judged) {
    of_judged.push_back(fit.fitted_errors[i]);
  }
  fit.fitted = curve_errors(of_judged);
  if (folds > 1) {
    fit.held_out_errors.assign(count, 0.0);
    for (int fold = 0; fold < folds; ++fold) {
      std::vector<std::size_t> train;
      std::vector<std::size_t> test;
      for (const std::size_t i : used) {
        const bool held = problem.shapes[i] % static_cast<std::uint64_t>(folds) == static_cast<std::uint64_t>(fold);
        (held ? test : train).push_back(i);
      }
      if (!test.empty()) {
        add_errors(problem, fit_on(problem, train), test, fit.held_out_errors);
      }
    }
    fit.held_out = curve_errors(fit.held_out_errors);
  }
  return fit;
}

}  // namespace headroom
