// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/step_update.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Covariance of every number, of the level and of every discrepancy with ln(step) of a job.
std::vector<double> with_step(const UpdatedNumbers& numbers, std::span<const double> derivative, std::ptrdiff_t place) {
  const PairTable& covariance = numbers.covariance;
  const std::size_t keys = numbers.by.size();
  std::vector<double> products(covariance.size);
  for (std::size_t row = 0; row < covariance.size; ++row) {
    double sum = covariance(row, keys);
    for (std::size_t key = 0; key < keys; ++key) {
      sum += covariance(row, key) * derivative[key];
    }
    products[row] = place == no_place ? sum : sum + covariance(row, keys + 1 + static_cast<std::size_t>(place));
  }
  return products;
}

double of_step(const UpdatedNumbers& numbers,
               const std::vector<double>& products,
               std::span<const double> derivative,
               std::ptrdiff_t place) noexcept {
  const std::size_t keys = numbers.by.size();
  double sum = products[keys];
  for (std::size_t key = 0; key < keys; ++key) {
    sum += derivative[key] * products[key];
  }
  sum += place == no_place ? 0.0 : products[keys + 1 + static_cast<std::size_t>(place)];
  return std::max(0.0, sum);
}

}  // namespace

double Likeness::covariance(const JobPlace& a, const JobPlace& b) const noexcept {
  if (length <= 0.0) {
    return 0.0;
  }
  double square = a.recipe == b.recipe ? 0.0 : 1.0;
  for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
    square += std::pow((a.axes[axis] - b.axes[axis]) / length, 2);
  }
  return (variance + std::sqrt(a.blank * b.blank)) * std::exp(-0.5 * square);
}

double UpdatedNumbers::departure(std::span<const double> derivative, std::ptrdiff_t place) const noexcept {
  double sum = place == no_place ? level : level + discrepancy[static_cast<std::size_t>(place)];
  for (std::size_t key = 0; key < by.size(); ++key) {
    sum += derivative[key] * by[key];
  }
  return sum;
}

double UpdatedNumbers::variance(std::span<const double> derivative, std::ptrdiff_t place) const {
  return of_step(*this, with_step(*this, derivative, place), derivative, place);
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

UpdatedNumbers at_places(const UpdatedNumbers& numbers, const Likeness& likeness, std::span<const JobPlace> places) {
  UpdatedNumbers placed = numbers;
  const std::size_t known = numbers.covariance.size;
  placed.discrepancy.assign(places.size(), 0.0);
  placed.covariance = PairTable{known + places.size()};
  for (std::size_t a = 0; a < known; ++a) {
    for (std::size_t b = 0; b < known; ++b) {
      placed.covariance(a, b) = numbers.covariance(a, b);
    }
  }
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < places.size(); ++b) {
      placed.covariance(known + a, known + b) = likeness.covariance(places[a], places[b]);
    }
  }
  return placed;
}

void learn(UpdatedNumbers& numbers, const ToldRun& run) {
  const std::vector<double> products = with_step(numbers, run.derivative, run.place);
  const double all = of_step(numbers, products, run.derivative, run.place) + run.variance;
  if (all <= 0.0) {
    return;  // numbers that are known for certain
  }
  // The step was measured longer than predicted by -error.
  const double surprise = (-run.error - numbers.departure(run.derivative, run.place)) / all;
  const std::size_t keys = numbers.by.size();
  for (std::size_t key = 0; key < keys; ++key) {
    numbers.by[key] += products[key] * surprise;
  }
  numbers.level += products[keys] * surprise;
  for (std::size_t place = 0; place < numbers.discrepancy.size(); ++place) {
    numbers.discrepancy[place] += products[keys + 1 + place] * surprise;
  }
  for (std::size_t a = 0; a < products.size(); ++a) {
    for (std::size_t b = 0; b < products.size(); ++b) {
      numbers.covariance(a, b) -= products[a] * products[b] / all;
    }
  }
}

double run_weight(double off, double variance) noexcept {
  constexpr double freedom = 4.0;
  return variance > 0.0 ? std::min(1.0, (freedom + 1.0) / (freedom + off * off / variance)) : 1.0;
}

std::vector<double> learn_all(UpdatedNumbers& numbers, std::span<const ToldRun> runs) {
  constexpr int most_turns = 100;
  constexpr double settled = 1e-4;
  std::vector<double> weights(runs.size(), 1.0);
  const UpdatedNumbers before = numbers;
  double moved = 1.0;
  for (int turn = 0; turn < most_turns && moved > settled; ++turn) {
    numbers = before;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      ToldRun run = runs[i];
      run.variance /= weights[i];
      learn(numbers, run);
    }
    moved = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double off = runs[i].error + numbers.departure(runs[i].derivative, runs[i].place);
      const double weight = run_weight(off, runs[i].variance);
      moved = std::max(moved, std::abs(weight - weights[i]));
      weights[i] = weight;
    }
  }
  return weights;
}

}  // namespace headroom
