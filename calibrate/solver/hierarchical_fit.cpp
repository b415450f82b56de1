// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/calibrate/solver/hierarchical_state.hpp>
#include <headroom/calibrate/solver/linear_algebra.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace headroom {

std::vector<double> HierarchicalFit::errors_at(const std::vector<double>& point,
                                               const std::vector<std::size_t>& listed) const {
  std::vector<double> result(listed.size());
  const std::size_t workers = std::max<std::size_t>(1, options_.workers);
  const auto part = [&](std::size_t worker) {
    std::vector<std::size_t> places;
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const std::ptrdiff_t work = samples_[listed[i]].work;
      if ((work < 0 ? i : static_cast<std::size_t>(work)) % workers == worker) {
        places.push_back(i);
        mine.push_back(listed[i]);
      }
    }
    std::vector<double> found(mine.size());
    errors_(point, mine, found, worker);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      result[places[i]] = found[i];
    }
  };
  State::by_workers(workers, part);
  return result;
}

HierarchicalFit::HierarchicalFit(std::vector<FitCoordinate> coordinates,
                                 std::vector<FitSample> samples,
                                 SampleErrors errors,
                                 HierarchicalOptions options)
    : coordinates_{std::move(coordinates)},
      samples_{std::move(samples)},
      errors_{std::move(errors)},
      options_{options} {
  for (const FitSample& sample : samples_) {
    families_ = std::max(families_, sample.family + 1);
  }
  first_level_ = options_.level;
  for (const FitCoordinate& c : coordinates_) {
    first_widths_.push_back(c.width);
  }
}

void HierarchicalFit::estimate_widths(State& state) {
  // As many distances as these, of the prior's width, stand beside those of the coordinates.
  constexpr double pseudo = 3.0;
  const SquareMatrix covariance = state.covariance();
  std::ptrdiff_t groups = 0;
  for (const FitCoordinate& coordinate : coordinates_) {
    groups = std::max(groups, coordinate.group + 1);
  }
  std::vector<double> sums(static_cast<std::size_t>(groups), 0.0);
  std::vector<double> counts(sums.size(), pseudo);
  std::vector<bool> begun(sums.size(), false);
  for (std::size_t c = 0; c < coordinates_.size(); ++c) {
    const FitCoordinate& coordinate = coordinates_[c];
    if (coordinate.group < 0) {
      continue;
    }
    const auto group = static_cast<std::size_t>(coordinate.group);
    if (!begun[group]) {
      begun[group] = true;
      sums[group] = pseudo * first_widths_[c] * first_widths_[c];
    }
    if (coordinate.fixed) {
      continue;
    }
    const double off = state.point[c] - state.expected(c, state.point);
    double variance = covariance(c, c);
    if (coordinate.parent >= 0 && !coordinates_[static_cast<std::size_t>(coordinate.parent)].fixed) {
      const auto parent = static_cast<std::size_t>(coordinate.parent);
      variance += covariance(parent, parent) - 2.0 * covariance(c, parent);
    }
    sums[group] += off * off + std::max(0.0, variance);
    counts[group] += 1.0;
  }
  for (FitCoordinate& coordinate : coordinates_) {
    if (coordinate.group >= 0) {
      const auto group = static_cast<std::size_t>(coordinate.group);
      coordinate.width = std::sqrt(sums[group] / counts[group]);
    }
  }
  if (state.has_levels()) {
    double sum = pseudo * first_level_ * first_level_;
    for (std::size_t f = 0; f < families_; ++f) {
      const std::size_t at = coordinates_.size() + f;
      sum += state.levels[f] * state.levels[f] + std::max(0.0, covariance(at, at));
    }
    options_.level = std::sqrt(sum / (pseudo + static_cast<double>(families_)));
  }
}

HierarchicalFit::~HierarchicalFit() = default;

HierarchicalResult HierarchicalFit::fit() {
  State state{*this, std::vector<bool>(samples_.size(), false)};
  std::vector<double> start;
  start.reserve(coordinates_.size());
  for (const FitCoordinate& c : coordinates_) {
    start.push_back(c.fixed ? c.start : std::clamp(c.start, c.low, c.high));
  }
  state.start(std::move(start), std::vector<double>(families_, 0.0));
  int iterations = 0;
  for (int round = 0; round <= options_.variance_rounds; ++round) {
    // Widths need a point near the minimum, not at it.
    constexpr int before_widths = 6;
    iterations += state.descend(round < options_.variance_rounds ? std::min(before_widths, options_.iterations)
                                                                 : options_.iterations);
    if (round < options_.variance_rounds) {
      estimate_widths(state);
      state.cost = state.cost_of(state.point, state.errors, state.levels);
    }
  }
  if (options_.settled_noise > 0.0) {
    state.settle();
    iterations += state.descend(options_.iterations);
  }
  derivatives_ = state.derivatives;
  last_point_ = state.point;
  last_errors_ = state.errors;
  return state.result(iterations);
}

HierarchicalResult HierarchicalFit::refit(const HierarchicalResult& whole, const std::vector<bool>& out) {
  State state{*this, out};
  if (whole.point == last_point_) {
    state.draw_tangents(last_point_, last_errors_, derivatives_);
  }
  state.start(whole.point, whole.family_level);
  if (options_.settled_noise > 0.0) {
    state.settle();
  }
  int iterations = descend_again(state);
  constexpr int redrawn = 3;
  for (int i = 0; i < redrawn && !state.tangent_point.empty() && state.draw_tangents_again(); ++i) {
    iterations += descend_again(state);
  }
  return state.result(iterations);
}

int HierarchicalFit::descend_again(State& state) {
  constexpr int rounds = 2;
  constexpr int steps = 4;  // steps with the derivatives of the round
  int iterations = 0;
  for (int round = 0; round < rounds; ++round) {
    state.differentiate();
    for (int step = 0; step < steps; ++step) {
      ++iterations;
      const double before = state.cost;
      if (!state.improve() || before - state.cost < State::enough * before) {
        break;
      }
    }
  }
  state.sweep();
  return iterations;
}

}  // namespace headroom
