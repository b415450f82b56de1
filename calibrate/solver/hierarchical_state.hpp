// SPDX-License-Identifier: Apache-2.0
// One descent of a hierarchical fit, for hierarchical_fit.cpp alone.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/calibrate/solver/linear_algebra.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <future>
#include <numeric>
#include <utility>
#include <vector>

namespace headroom {

/// State of one descent: the point, its errors, and the latest derivatives. Families' levels come after the
/// coordinates. Samples with nothing to move behind them are no part of it unless they tell a level.
struct HierarchicalFit::State {
  static constexpr double difference = 0.01;  ///< step of the forward difference, in the coordinate's scale
  static constexpr double longest_step = 0.5;
  static constexpr double enough = 1e-5;  ///< relative decrease of the cost below which the fit has converged
  static constexpr double far = 0.02;     ///< distance from which a tangent is drawn anew, in the coordinate's scale

  const HierarchicalFit& fit;
  std::vector<bool> out;
  std::vector<double> point;
  std::vector<double> levels;
  std::vector<double> errors;
  std::vector<std::vector<double>> derivatives;  ///< for each sample, in the order of its `behind`
  std::vector<std::size_t> kept;
  std::vector<double> tangent_point, tangent_errors;  ///< where costly samples have their tangents; empty: nowhere
  std::vector<std::vector<double>> tangents;          ///< their derivatives there
  double damping = 1e-3;
  double cost = 0.0;
  bool settled = false;  ///< without levels

  State(const HierarchicalFit& owner, std::vector<bool> left_out) : fit{owner}, out{std::move(left_out)} {
    const auto moves = [&](std::size_t coordinate) { return !fit.coordinates_[coordinate].fixed; };
    for (std::size_t i = 0; i < fit.samples_.size(); ++i) {
      const std::vector<std::size_t>& behind = fit.samples_[i].behind;
      derivatives.emplace_back(behind.size(), 0.0);
      if (!out[i] && (fit.options_.level > 0.0 || std::any_of(behind.begin(), behind.end(), moves))) {
        kept.push_back(i);
      }
    }
    levels.assign(fit.families_, 0.0);
  }

  /// Runs `part` with each worker's number, at the same time.
  static void by_workers(std::size_t workers, const std::function<void(std::size_t)>& part) {
    std::vector<std::future<void>> parts;
    parts.reserve(workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
      parts.push_back(std::async(std::launch::async, part, worker));
    }
    for (std::future<void>& one : parts) {
      one.get();
    }
  }

  [[nodiscard]] std::size_t coordinates() const noexcept { return fit.coordinates_.size(); }
  [[nodiscard]] bool has_levels() const noexcept { return fit.options_.level > 0.0 && !settled; }
  [[nodiscard]] double noise() const noexcept { return settled ? fit.options_.settled_noise : fit.options_.noise; }

  /// Goes on without levels.
  void settle() {
    settled = true;
    std::fill(levels.begin(), levels.end(), 0.0);
    cost = cost_of(point, errors, levels);
  }

  [[nodiscard]] bool by_tangent(std::size_t sample) const {
    return !tangent_point.empty() && fit.samples_[sample].costly;
  }
  /// Error of a costly sample by its tangent.
  [[nodiscard]] double tangent_error(std::size_t sample, const std::vector<double>& where) const {
    const std::vector<std::size_t>& behind = fit.samples_[sample].behind;
    double error = tangent_errors[sample];
    for (std::size_t i = 0; i < behind.size(); ++i) {
      error += tangents[sample][i] * (where[behind[i]] - tangent_point[behind[i]]);
    }
    return error;
  }
  /// Draws the tangents of costly samples at the point of a descent, from its errors and derivatives.
  void draw_tangents(std::vector<double> where, std::vector<double> e, std::vector<std::vector<double>> slopes) {
    tangent_point = std::move(where);
    tangent_errors = std::move(e);
    tangents = std::move(slopes);
  }
  /// Draws them anew at the present point if something behind them is far from where they are.
  bool draw_tangents_again() {
    std::vector<std::size_t> costly;
    bool moved = false;
    for (const std::size_t i : kept) {
      if (fit.samples_[i].costly) {
        costly.push_back(i);
        for (const std::size_t c : fit.samples_[i].behind) {
          moved = moved || std::abs(point[c] - tangent_point[c]) > far;
        }
      }
    }
    if (!moved) {
      return false;
    }
    tangent_point.clear();
    const std::vector<double> e = errors_at(point, costly);
    for (const std::size_t i : costly) {
      errors[i] = e[i];
    }
    differentiate(costly);
    draw_tangents(point, errors, derivatives);
    cost = cost_of(point, errors, levels);
    return true;
  }

  /// Errors of all kept samples.
  [[nodiscard]] std::vector<double> errors_at(const std::vector<double>& where) const { return errors_at(where, kept); }
  /// Errors of the listed samples, each in its place among all; 0 of the others.
  [[nodiscard]] std::vector<double> errors_at(const std::vector<double>& where,
                                              const std::vector<std::size_t>& listed) const {
    std::vector<double> result(fit.samples_.size(), 0.0);
    std::vector<std::size_t> asked;
    for (const std::size_t i : listed) {
      if (by_tangent(i)) {
        result[i] = tangent_error(i, where);
      } else {
        asked.push_back(i);
      }
    }
    const std::vector<double> found = fit.errors_at(where, asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      result[asked[i]] = found[i];
    }
    return result;
  }

  void differentiate() { differentiate(kept); }
  /// Derivatives of the listed samples' errors at the point.
  void differentiate(const std::vector<std::size_t>& listed) {
    std::vector<std::vector<std::size_t>> moved(fit.coordinates_.size());
    for (const std::size_t i : listed) {
      if (by_tangent(i)) {
        derivatives[i] = tangents[i];
        continue;
      }
      derivatives[i].assign(fit.samples_[i].behind.size(), 0.0);
      for (const std::size_t c : fit.samples_[i].behind) {
        moved[c].push_back(i);
      }
    }
    const std::size_t workers = std::max<std::size_t>(1, fit.options_.workers);
    const auto part = [&](std::size_t worker) {
      for (std::size_t c = worker; c < moved.size(); c += workers) {
        const FitCoordinate& coordinate = fit.coordinates_[c];
        if (coordinate.fixed || moved[c].empty()) {
          continue;
        }
        std::vector<double> where = point;
        const double step = where[c] + difference <= coordinate.high ? difference : -difference;
        where[c] += step;
        std::vector<double> found(moved[c].size());
        fit.errors_(where, moved[c], found, worker);
        for (std::size_t i = 0; i < moved[c].size(); ++i) {
          const std::size_t sample = moved[c][i];
          const auto& behind = fit.samples_[sample].behind;
          const auto slot = std::find(behind.begin(), behind.end(), c) - behind.begin();
          derivatives[sample][static_cast<std::size_t>(slot)] = (found[i] - errors[sample]) / step;
        }
      }
    };
    by_workers(workers, part);
  }

  [[nodiscard]] double residual(std::size_t sample, const std::vector<double>& e, const std::vector<double>& u) const {
    return e[sample] - u[fit.samples_[sample].family];
  }

  [[nodiscard]] double expected(std::size_t c, const std::vector<double>& where) const {
    const FitCoordinate& coordinate = fit.coordinates_[c];
    return coordinate.parent < 0 ? coordinate.centre : where[static_cast<std::size_t>(coordinate.parent)];
  }

  /// Part of the cost that listed samples have.
  [[nodiscard]] double cost_of_samples(const std::vector<std::size_t>& listed,
                                       const std::vector<double>& e,
                                       const std::vector<double>& u) const {
    const double s = fit.options_.scale;
    const double noise = this->noise() * this->noise();
    double sum = 0.0;
    for (const std::size_t i : listed) {
      const double r = residual(i, e, u) / s;
      sum += fit.samples_[i].weight * s * s * (std::sqrt(1.0 + r * r) - 1.0) / noise;
    }
    return sum;
  }
  /// Part of the cost that the priors have.
  [[nodiscard]] double cost_of_priors(const std::vector<double>& where) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < where.size(); ++c) {
      const double off = (where[c] - expected(c, where)) / fit.coordinates_[c].width;
      sum += fit.coordinates_[c].fixed ? 0.0 : 0.5 * off * off;
    }
    return sum;
  }

  [[nodiscard]] double cost_of(const std::vector<double>& where,
                               const std::vector<double>& e,
                               const std::vector<double>& u) const {
    const double sum = cost_of_samples(kept, e, u) + cost_of_priors(where);
    const double squares = std::inner_product(u.begin(), u.end(), u.begin(), 0.0);
    return has_levels() ? sum + 0.5 * squares / (fit.options_.level * fit.options_.level) : sum;
  }

  /// Gauss-Newton's curvature and gradient: coordinates first, then levels.
  void normal_equations(SquareMatrix& curvature, std::vector<double>& gradient) const {
    const std::size_t n = coordinates();
    const std::size_t all = n + (has_levels() ? fit.families_ : 0);
    curvature = SquareMatrix{all};
    gradient.assign(all, 0.0);
    const double noise = this->noise() * this->noise();
    for (const std::size_t i : kept) {
      const FitSample& sample = fit.samples_[i];
      const double r = residual(i, errors, levels);
      const double w = sample.weight / noise / std::sqrt(1.0 + r * r / (fit.options_.scale * fit.options_.scale));
      const auto& d = derivatives[i];
      for (std::size_t a = 0; a < d.size(); ++a) {
        const std::size_t row = sample.behind[a];
        gradient[row] += w * r * d[a];
        for (std::size_t b = 0; b < d.size(); ++b) {
          curvature(row, sample.behind[b]) += w * d[a] * d[b];
        }
        if (has_levels()) {
          curvature(row, n + sample.family) -= w * d[a];
          curvature(n + sample.family, row) -= w * d[a];
        }
      }
      if (has_levels()) {
        gradient[n + sample.family] -= w * r;
        curvature(n + sample.family, n + sample.family) += w;
      }
    }
    add_priors(curvature, gradient);
  }

  void add_priors(SquareMatrix& curvature, std::vector<double>& gradient) const {
    for (std::size_t c = 0; c < point.size(); ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      if (coordinate.fixed) {
        continue;
      }
      const double stiffness = 1.0 / (coordinate.width * coordinate.width);
      const double pull = stiffness * (point[c] - expected(c, point));
      gradient[c] += pull;
      curvature(c, c) += stiffness;
      if (coordinate.parent >= 0) {
        const auto parent = static_cast<std::size_t>(coordinate.parent);
        gradient[parent] -= pull;
        curvature(parent, parent) += stiffness;
        curvature(c, parent) -= stiffness;
        curvature(parent, c) -= stiffness;
      }
    }
    if (has_levels()) {
      const double stiffness = 1.0 / (fit.options_.level * fit.options_.level);
      for (std::size_t f = 0; f < levels.size(); ++f) {
        curvature(coordinates() + f, coordinates() + f) += stiffness;
        gradient[coordinates() + f] += stiffness * levels[f];
      }
    }
  }

  /// Coordinates that do not move: fixed ones, and those at a bound that the step would cross.
  [[nodiscard]] std::vector<bool> held(const std::vector<double>& step) const {
    std::vector<bool> result(step.size(), false);
    for (std::size_t c = 0; c < point.size(); ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      const double s = step[c];
      result[c] =
          coordinate.fixed || (point[c] >= coordinate.high && s > 0.0) || (point[c] <= coordinate.low && s < 0.0);
    }
    return result;
  }

  static void hold(SquareMatrix& curvature, std::vector<double>& gradient, const std::vector<bool>& still) {
    for (std::size_t c = 0; c < gradient.size(); ++c) {
      if (still[c]) {
        for (std::size_t other = 0; other < gradient.size(); ++other) {
          curvature(c, other) = curvature(other, c) = 0.0;
        }
        curvature(c, c) = 1.0;
        gradient[c] = 0.0;
      }
    }
  }

  static std::vector<double> negative(std::vector<double> values) {
    std::transform(values.begin(), values.end(), values.begin(), std::negate<>{});
    return values;
  }

  /// Levenberg-Marquardt step, with no coordinate moving further than `longest_step`.
  [[nodiscard]] std::vector<double> damped_step(SquareMatrix curvature,
                                                std::vector<double> gradient,
                                                const std::vector<bool>& still) const {
    for (std::size_t c = 0; c < gradient.size(); ++c) {
      curvature(c, c) *= 1.0 + damping;
    }
    hold(curvature, gradient, still);
    std::vector<double> step = negative(solve_symmetric(curvature, gradient));
    double longest = 0.0;
    for (std::size_t c = 0; c < coordinates(); ++c) {
      longest = std::max(longest, std::abs(step[c]));
    }
    if (longest > longest_step) {
      std::transform(step.begin(), step.end(), step.begin(), [&](double s) { return s * longest_step / longest; });
    }
    return step;
  }

  /// Tries to take one step with the current derivatives; false when none lowers the cost.
  bool improve() {
    SquareMatrix curvature;
    std::vector<double> gradient;
    normal_equations(curvature, gradient);
    std::vector<bool> still = held(negative(gradient));
    for (int tries = 0; tries < 8; ++tries) {
      const std::vector<double> step = damped_step(curvature, gradient, still);
      std::vector<double> where = point;
      for (std::size_t c = 0; c < where.size(); ++c) {
        const FitCoordinate& coordinate = fit.coordinates_[c];
        where[c] = coordinate.fixed ? where[c] : std::clamp(where[c] + step[c], coordinate.low, coordinate.high);
      }
      std::vector<double> u = levels;
      for (std::size_t f = 0; has_levels() && f < u.size(); ++f) {
        u[f] += step[coordinates() + f];
      }
      std::vector<double> e = errors_at(where);
      const double found = cost_of(where, e, u);
      if (found < cost) {
        point = std::move(where);
        errors = std::move(e);
        levels = std::move(u);
        cost = found;
        damping = std::max(1e-6, 0.3 * damping);
        return true;
      }
      damping = std::max(1e-4, 5.0 * damping);
      still = held(step);
    }
    return false;
  }

  /// Steps of one coordinate after another, each judged by the samples that depend on it. Errors of simulated samples
  /// jump, so that a step of all coordinates may gain nothing although one of them is far from its minimum.
  void sweep() {
    std::vector<std::vector<std::size_t>> moved(fit.coordinates_.size());
    for (const std::size_t i : kept) {
      for (const std::size_t c : fit.samples_[i].behind) {
        moved[c].push_back(i);
      }
    }
    for (std::size_t c = 0; c < moved.size(); ++c) {
      if (!fit.coordinates_[c].fixed) {
        sweep_along(c, moved[c]);
      }
    }
    cost = cost_of(point, errors, levels);
  }

  void sweep_along(std::size_t c, const std::vector<std::size_t>& moved) {
    const FitCoordinate& coordinate = fit.coordinates_[c];
    const auto part = [&](const std::vector<double>& where, const std::vector<double>& e) {
      return cost_of_samples(moved, e, levels) + cost_of_priors(where);
    };
    const auto at = [&](double value) {
      std::vector<double> where = point;
      where[c] = std::clamp(value, coordinate.low, coordinate.high);
      return where;
    };
    // Slope and curvature from differences wide enough for what jumps.
    constexpr double wide = 5.0 * difference;
    const double before = part(point, errors);
    const std::vector<double> above = at(point[c] + wide), below = at(point[c] - wide);
    const double up = part(above, errors_at(above, moved)), down = part(below, errors_at(below, moved));
    const double slope = (up - down) / (2.0 * wide);
    const double curvature =
        std::max((up - 2.0 * before + down) / (wide * wide), 1.0 / (coordinate.width * coordinate.width));
    double step = std::clamp(-slope / curvature, -longest_step, longest_step);
    for (int tries = 0; tries < 4 && std::abs(step) > 1e-4; ++tries, step *= 0.4) {
      std::vector<double> where = at(point[c] + step);
      if (where[c] == point[c]) {
        return;
      }
      const std::vector<double> e = errors_at(where, moved);
      if (part(where, e) < before) {
        point = std::move(where);
        for (const std::size_t i : moved) {
          errors[i] = e[i];
        }
        return;
      }
    }
  }

  /// Descends until neither a step of all coordinates nor a sweep gains anything, with new derivatives at each; returns
  /// the number of steps.
  int descend(int most) {
    int steps = 0;
    while (steps < most) {
      ++steps;
      differentiate();
      const double before = cost;
      if (!improve() || before - cost < enough * before) {
        sweep();
        if (before - cost < enough * before) {
          break;
        }
      }
    }
    return steps;
  }

  void start(std::vector<double> where, const std::vector<double>& u) {
    point = std::move(where);
    levels = u;
    errors = errors_at(point);
    cost = cost_of(point, errors, levels);
  }

  /// Laplace's covariance of coordinates and levels at the point, with levels also where the descent had none.
  [[nodiscard]] SquareMatrix covariance() {
    const bool without = std::exchange(settled, false);
    SquareMatrix curvature;
    std::vector<double> gradient;
    normal_equations(curvature, gradient);
    settled = without;
    for (std::size_t c = 0; c < point.size(); ++c) {
      if (fit.coordinates_[c].fixed) {
        curvature(c, c) += 1e12;  // a fixed coordinate has no uncertainty
      }
    }
    return inverse_symmetric(curvature);
  }

  [[nodiscard]] HierarchicalResult result(int iterations) {
    HierarchicalResult r;
    r.point = point;
    r.cost = cost;
    r.iterations = iterations;
    r.family_level = levels;
    r.level = fit.options_.level;
    const SquareMatrix covariance = this->covariance();
    const std::size_t n = point.size();
    r.correlation.resize(n * n);
    r.covariance = SquareMatrix{n};
    for (std::size_t c = 0; c < n; ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      r.width.push_back(coordinate.width);
      r.deviation.push_back(std::sqrt(std::max(0.0, covariance(c, c))));
      r.narrowing.push_back(coordinate.fixed ? 1.0 : r.deviation.back() / coordinate.width);
      r.at_bound.push_back(!coordinate.fixed && (point[c] <= coordinate.low || point[c] >= coordinate.high));
      for (std::size_t d = 0; d < n; ++d) {
        const double scale = std::sqrt(covariance(c, c) * covariance(d, d));
        r.correlation[c * n + d] = scale > 0.0 ? covariance(c, d) / scale : 0.0;
        r.covariance(c, d) = coordinate.fixed || fit.coordinates_[d].fixed ? 0.0 : covariance(c, d);
      }
    }
    return r;
  }
};

}  // namespace headroom
