// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/hierarchical_fit.hpp>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>

namespace headroom {
namespace {

constexpr double difference = 0.01;  ///< of the forward difference, in the coordinate's scale
constexpr double longest_step = 0.5;
constexpr double enough = 1e-5;  ///< relative decrease of the cost below which the fit has converged

using Eigen::Index;
Index at(std::size_t i) noexcept {
  return static_cast<Index>(i);
}

}  // namespace

/// One descent: the point, the errors there, and the derivatives last taken. Families' levels follow the coordinates.
struct HierarchicalFit::State {
  const HierarchicalFit& fit;
  std::vector<bool> out;
  std::vector<double> point;
  Eigen::VectorXd levels;
  Eigen::VectorXd errors;
  std::vector<std::vector<double>> derivatives;  ///< by sample, in the order of its `behind`
  std::vector<std::size_t> kept;
  double damping = 1e-3;
  double cost = 0.0;

  State(const HierarchicalFit& owner, std::vector<bool> left_out) : fit{owner}, out{std::move(left_out)} {
    for (std::size_t i = 0; i < fit.samples_.size(); ++i) {
      if (!out[i]) {
        kept.push_back(i);
      }
    }
    levels = Eigen::VectorXd::Zero(at(fit.families_));
    derivatives.resize(fit.samples_.size());
  }

  [[nodiscard]] Index coordinates() const noexcept { return at(fit.coordinates_.size()); }
  [[nodiscard]] bool has_levels() const noexcept { return fit.options_.level > 0.0; }

  /// All kept samples, shared out among the workers.
  [[nodiscard]] Eigen::VectorXd errors_at(const std::vector<double>& where) const {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(at(fit.samples_.size()));
    const std::size_t workers = std::max<std::size_t>(1, fit.options_.workers);
    const auto part = [&](std::size_t worker) {
      std::vector<std::size_t> mine;
      for (std::size_t i = worker; i < kept.size(); i += workers) {
        mine.push_back(kept[i]);
      }
      std::vector<double> found(mine.size());
      fit.errors_(where, mine, found, worker);
      return std::pair{std::move(mine), std::move(found)};
    };
    std::vector<std::future<std::pair<std::vector<std::size_t>, std::vector<double>>>> parts;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      parts.push_back(std::async(std::launch::async, part, worker));
    }
    for (auto& one : parts) {
      const auto [mine, found] = one.get();
      for (std::size_t i = 0; i < mine.size(); ++i) {
        result[at(mine[i])] = found[i];
      }
    }
    return result;
  }

  void differentiate() {
    std::vector<std::vector<std::size_t>> moved(fit.coordinates_.size());
    for (const std::size_t i : kept) {
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
          derivatives[sample][static_cast<std::size_t>(slot)] = (found[i] - errors[at(sample)]) / step;
        }
      }
    };
    std::vector<std::future<void>> parts;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      parts.push_back(std::async(std::launch::async, part, worker));
    }
    for (std::future<void>& one : parts) {
      one.get();
    }
  }

  [[nodiscard]] double residual(std::size_t sample, const Eigen::VectorXd& e, const Eigen::VectorXd& u) const {
    return e[at(sample)] - u[at(fit.samples_[sample].family)];
  }

  [[nodiscard]] double expected(std::size_t c, const std::vector<double>& where) const {
    const FitCoordinate& coordinate = fit.coordinates_[c];
    return coordinate.parent < 0 ? coordinate.centre : where[static_cast<std::size_t>(coordinate.parent)];
  }

  [[nodiscard]] double cost_of(const std::vector<double>& where,
                               const Eigen::VectorXd& e,
                               const Eigen::VectorXd& u) const {
    const double s = fit.options_.scale;
    const double noise = fit.options_.noise * fit.options_.noise;
    double sum = 0.0;
    for (const std::size_t i : kept) {
      const double r = residual(i, e, u) / s;
      sum += fit.samples_[i].weight * s * s * (std::sqrt(1.0 + r * r) - 1.0) / noise;
    }
    for (std::size_t c = 0; c < where.size(); ++c) {
      const double off = (where[c] - expected(c, where)) / fit.coordinates_[c].width;
      sum += fit.coordinates_[c].fixed ? 0.0 : 0.5 * off * off;
    }
    return has_levels() ? sum + 0.5 * u.squaredNorm() / (fit.options_.level * fit.options_.level) : sum;
  }

  /// Gauss-Newton's curvature and gradient, coordinates first, then levels.
  void normal_equations(Eigen::MatrixXd& curvature, Eigen::VectorXd& gradient) const {
    const Index n = coordinates();
    const Index all = n + (has_levels() ? at(fit.families_) : 0);
    curvature = Eigen::MatrixXd::Zero(all, all);
    gradient = Eigen::VectorXd::Zero(all);
    const double noise = fit.options_.noise * fit.options_.noise;
    for (const std::size_t i : kept) {
      const FitSample& sample = fit.samples_[i];
      const double r = residual(i, errors, levels);
      const double w = sample.weight / noise / std::sqrt(1.0 + r * r / (fit.options_.scale * fit.options_.scale));
      const auto& d = derivatives[i];
      for (std::size_t a = 0; a < d.size(); ++a) {
        const Index row = at(sample.behind[a]);
        gradient[row] += w * r * d[a];
        for (std::size_t b = 0; b < d.size(); ++b) {
          curvature(row, at(sample.behind[b])) += w * d[a] * d[b];
        }
        if (has_levels()) {
          curvature(row, n + at(sample.family)) -= w * d[a];
          curvature(n + at(sample.family), row) -= w * d[a];
        }
      }
      if (has_levels()) {
        gradient[n + at(sample.family)] -= w * r;
        curvature(n + at(sample.family), n + at(sample.family)) += w;
      }
    }
    add_priors(curvature, gradient);
  }

  void add_priors(Eigen::MatrixXd& curvature, Eigen::VectorXd& gradient) const {
    for (std::size_t c = 0; c < point.size(); ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      if (coordinate.fixed) {
        continue;
      }
      const double stiffness = 1.0 / (coordinate.width * coordinate.width);
      const double pull = stiffness * (point[c] - expected(c, point));
      gradient[at(c)] += pull;
      curvature(at(c), at(c)) += stiffness;
      if (coordinate.parent >= 0) {
        const Index parent = coordinate.parent;
        gradient[parent] -= pull;
        curvature(parent, parent) += stiffness;
        curvature(at(c), parent) -= stiffness;
        curvature(parent, at(c)) -= stiffness;
      }
    }
    if (has_levels()) {
      const double stiffness = 1.0 / (fit.options_.level * fit.options_.level);
      for (Index f = 0; f < levels.size(); ++f) {
        curvature(coordinates() + f, coordinates() + f) += stiffness;
        gradient[coordinates() + f] += stiffness * levels[f];
      }
    }
  }

  /// Rows and columns that do not move: fixed ones, and those at a bound that the step would leave.
  [[nodiscard]] std::vector<bool> held(const Eigen::VectorXd& step) const {
    std::vector<bool> result(static_cast<std::size_t>(step.size()), false);
    for (std::size_t c = 0; c < point.size(); ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      const double s = step[at(c)];
      result[c] = coordinate.fixed || (point[c] >= coordinate.high && s > 0.0) || (point[c] <= coordinate.low && s < 0.0);
    }
    return result;
  }

  static void hold(Eigen::MatrixXd& curvature, Eigen::VectorXd& gradient, const std::vector<bool>& still) {
    for (Index c = 0; c < gradient.size(); ++c) {
      if (still[static_cast<std::size_t>(c)]) {
        curvature.row(c).setZero();
        curvature.col(c).setZero();
        curvature(c, c) = 1.0;
        gradient[c] = 0.0;
      }
    }
  }

  /// One accepted step with the derivatives at hand; false when none lowers the cost.
  bool improve() {
    Eigen::MatrixXd curvature;
    Eigen::VectorXd gradient;
    normal_equations(curvature, gradient);
    std::vector<bool> still = held(-gradient);
    for (int tries = 0; tries < 8; ++tries) {
      Eigen::MatrixXd damped = curvature;
      damped.diagonal() *= 1.0 + damping;
      Eigen::VectorXd right = gradient;
      hold(damped, right, still);
      Eigen::VectorXd step = -damped.ldlt().solve(right);
      const double longest = step.head(coordinates()).cwiseAbs().maxCoeff();
      if (longest > longest_step) {
        step *= longest_step / longest;
      }
      std::vector<double> where = point;
      for (std::size_t c = 0; c < where.size(); ++c) {
        const FitCoordinate& coordinate = fit.coordinates_[c];
        where[c] = coordinate.fixed ? where[c] : std::clamp(where[c] + step[at(c)], coordinate.low, coordinate.high);
      }
      Eigen::VectorXd u = levels;
      if (has_levels()) {
        u += step.tail(levels.size());
      }
      const Eigen::VectorXd e = errors_at(where);
      const double found = cost_of(where, e, u);
      if (found < cost) {
        point = std::move(where);
        errors = e;
        levels = u;
        cost = found;
        damping = std::max(1e-6, 0.3 * damping);
        return true;
      }
      damping = std::max(1e-4, 5.0 * damping);
      still = held(step);
    }
    return false;
  }

  void start(std::vector<double> where, const Eigen::VectorXd& u) {
    point = std::move(where);
    levels = u;
    errors = errors_at(point);
    cost = cost_of(point, errors, levels);
  }

  [[nodiscard]] HierarchicalResult result(int iterations) const {
    HierarchicalResult r;
    r.point = point;
    r.cost = cost;
    r.iterations = iterations;
    r.family_level.assign(levels.begin(), levels.end());
    Eigen::MatrixXd curvature;
    Eigen::VectorXd gradient;
    normal_equations(curvature, gradient);
    for (std::size_t c = 0; c < point.size(); ++c) {
      if (fit.coordinates_[c].fixed) {
        curvature(at(c), at(c)) += 1e12;  // known
      }
    }
    const Eigen::MatrixXd covariance = curvature.ldlt().solve(Eigen::MatrixXd::Identity(curvature.rows(), curvature.cols()));
    const std::size_t n = point.size();
    r.correlation.resize(n * n);
    for (std::size_t c = 0; c < n; ++c) {
      const FitCoordinate& coordinate = fit.coordinates_[c];
      r.deviation.push_back(std::sqrt(std::max(0.0, covariance(at(c), at(c)))));
      r.narrowing.push_back(coordinate.fixed ? 1.0 : r.deviation.back() / coordinate.width);
      r.at_bound.push_back(!coordinate.fixed && (point[c] <= coordinate.low || point[c] >= coordinate.high));
      for (std::size_t d = 0; d < n; ++d) {
        const double scale = std::sqrt(covariance(at(c), at(c)) * covariance(at(d), at(d)));
        r.correlation[c * n + d] = scale > 0.0 ? covariance(at(c), at(d)) / scale : 0.0;
      }
    }
    return r;
  }
};

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
}

HierarchicalFit::~HierarchicalFit() = default;

HierarchicalResult HierarchicalFit::fit() {
  State state{*this, std::vector<bool>(samples_.size(), false)};
  std::vector<double> start;
  for (const FitCoordinate& coordinate : coordinates_) {
    start.push_back(std::clamp(coordinate.start, coordinate.low, coordinate.high));
  }
  state.start(std::move(start), Eigen::VectorXd::Zero(at(families_)));
  int iterations = 0;
  while (iterations < options_.iterations) {
    ++iterations;
    state.differentiate();
    const double before = state.cost;
    if (!state.improve() || before - state.cost < enough * before) {
      break;
    }
  }
  return state.result(iterations);
}

HierarchicalResult HierarchicalFit::refit(const HierarchicalResult& whole, const std::vector<bool>& out) {
  State state{*this, out};
  state.start(whole.point, Eigen::Map<const Eigen::VectorXd>(whole.family_level.data(), at(families_)));
  constexpr int rounds = 2;
  constexpr int steps = 4;  // with the derivatives of the round
  int iterations = 0;
  for (int round = 0; round < rounds; ++round) {
    state.differentiate();
    for (int step = 0; step < steps; ++step) {
      ++iterations;
      const double before = state.cost;
      if (!state.improve() || before - state.cost < enough * before) {
        break;
      }
    }
  }
  return state.result(iterations);
}

}  // namespace headroom
