// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/step_update.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Covariance of every number, and of the level, with ln(step) of a job.
std::vector<double> with_step(const PairTable& covariance, std::span<const double> derivative) {
  const std::size_t keys = covariance.size - 1;
  std::vector<double> products(covariance.size);
  for (std::size_t row = 0; row < covariance.size; ++row) {
    double sum = covariance(row, keys);
    for (std::size_t key = 0; key < keys; ++key) {
      sum += covariance(row, key) * derivative[key];
    }
    products[row] = sum;
  }
  return products;
}

double of_step(std::span<const double> products, std::span<const double> derivative) noexcept {
  double sum = products.back();
  for (std::size_t key = 0; key < derivative.size(); ++key) {
    sum += derivative[key] * products[key];
  }
  return std::max(0.0, sum);
}

}  // namespace

double UpdatedNumbers::departure(std::span<const double> derivative) const noexcept {
  double sum = level;
  for (std::size_t key = 0; key < by.size(); ++key) {
    sum += derivative[key] * by[key];
  }
  return sum;
}

double UpdatedNumbers::variance(std::span<const double> derivative) const {
  return of_step(with_step(covariance, derivative), derivative);
}

UpdatedNumbers without_runs(const PairTable& prior, double level) {
  UpdatedNumbers numbers;
  numbers.by.assign(prior.size, 0.0);
  numbers.covariance = PairTable{prior.size + 1};
  for (std::size_t a = 0; a < prior.size; ++a) {
    for (std::size_t b = 0; b < prior.size; ++b) {
      numbers.covariance(a, b) = prior(a, b);
    }
  }
  numbers.covariance(prior.size, prior.size) = level;
  return numbers;
}

void learn(UpdatedNumbers& numbers, const ToldRun& run) {
  const std::vector<double> products = with_step(numbers.covariance, run.derivative);
  const double all = of_step(products, run.derivative) + run.variance;
  if (all <= 0.0) {
    return;  // numbers that are known for certain
  }
  // The step was measured longer than predicted by -error.
  const double surprise = (-run.error - numbers.departure(run.derivative)) / all;
  const std::size_t keys = numbers.by.size();
  for (std::size_t key = 0; key < keys; ++key) {
    numbers.by[key] += products[key] * surprise;
  }
  numbers.level += products[keys] * surprise;
  for (std::size_t a = 0; a <= keys; ++a) {
    for (std::size_t b = 0; b <= keys; ++b) {
      numbers.covariance(a, b) -= products[a] * products[b] / all;
    }
  }
}

}  // namespace headroom
