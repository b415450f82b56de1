// SPDX-License-Identifier: Apache-2.0
// The fit finds what made the data, ignores what did not, and leaves to priors what the data cannot tell.
#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/calibrate/solver/robust_fit.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace headroom;

namespace {

constexpr std::size_t samples = 60;

/// t = launch + bytes / rate, bytes from 1 to 6e6; every seventh sample is five times too slow when asked.
struct Line {
  double launch = 3.0;
  double rate = 2000.0;
  bool outliers = false;
  [[nodiscard]] double bytes(std::size_t i) const { return std::pow(1.3, static_cast<double>(i)); }
  [[nodiscard]] double measured(std::size_t i) const {
    return (launch + bytes(i) / rate) * (outliers && i % 7 == 0 ? 5.0 : 1.0);
  }
  [[nodiscard]] LogErrors errors() const {
    return [*this](std::span<const double> p, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = std::log((p[0] + bytes(i) / p[1]) / measured(i));
      }
    };
  }
};

const std::vector<FitParameter> free_line{{"launch", 1.0, 0.0, 0.01, 100.0}, {"rate", 1e3, 0.0, 1.0, 1e6}};

}  // namespace

TEST_CASE("the fit recovers the parameters that made the samples") {
  const Line line;
  const FitResult fit = robust_fit(free_line, samples, line.errors(), {});
  CHECK(fit.parameters[0].value == doctest::Approx(3.0).epsilon(1e-3));
  CHECK(fit.parameters[1].value == doctest::Approx(2000.0).epsilon(1e-3));
  CHECK_FALSE(fit.parameters[0].from_prior);
}

TEST_CASE("one sample in seven five times too slow moves the parameters by less than three per cent") {
  const Line line{3.0, 2000.0, true};
  const FitResult fit = robust_fit(free_line, samples, line.errors(), {});
  CHECK(fit.parameters[0].value == doctest::Approx(3.0).epsilon(0.03));
  CHECK(fit.parameters[1].value == doctest::Approx(2000.0).epsilon(0.03));
}

TEST_CASE("a parameter that the samples do not see stays at its prior and says so") {
  const Line line;
  std::vector<FitParameter> parameters = free_line;
  parameters.push_back({"unseen", 7.0, 0.5, 0.1, 100.0});
  const FitResult fit = robust_fit(parameters, samples, line.errors(), {});
  CHECK(fit.parameters[2].value == doctest::Approx(7.0).epsilon(1e-6));
  CHECK(fit.parameters[2].from_prior);
  CHECK(fit.parameters[2].deviation > fit.parameters[0].deviation);
}

TEST_CASE("bounds hold, fixed parameters stay, and the best of the starts wins") {
  const Line line;
  std::vector<FitParameter> parameters = free_line;
  parameters[0].high = 2.0;
  CHECK(robust_fit(parameters, samples, line.errors(), {}).parameters[0].value == 2.0);
  parameters[0].fixed = true;
  CHECK(robust_fit(parameters, samples, line.errors(), {}).parameters[0].value == 1.0);
  const std::vector<std::vector<double>> starts{{0.02, 5e5}, {2.9, 1990.0}};
  const FitResult fit = robust_fit(free_line, samples, line.errors(), starts);
  CHECK(fit.parameters[1].value == doctest::Approx(2000.0).epsilon(1e-3));
}

TEST_CASE("the same samples give the same bits") {
  const Line line{3.0, 2000.0, true};
  const FitResult a = robust_fit(free_line, samples, line.errors(), {});
  const FitResult b = robust_fit(free_line, samples, line.errors(), {});
  CHECK(a.parameters[0].value == b.parameters[0].value);
  CHECK(a.cost == b.cost);
}

TEST_CASE("parameters that move together are reported as correlated") {
  // t = a b: only the product is known.
  const std::vector<FitParameter> two{{"a", 1.0, 1.0, 0.01, 100.0}, {"b", 1.0, 1.0, 0.01, 100.0}};
  const LogErrors errors = [](std::span<const double> p, std::span<double> out) {
    for (double& e : out) {
      e = std::log(p[0] * p[1] / 4.0);
    }
  };
  const FitResult fit = robust_fit(two, 20, errors, {});
  CHECK(fit.parameters[0].value * fit.parameters[1].value == doctest::Approx(4.0).epsilon(0.01));
  CHECK(fit.correlation[1] < -0.9);
}

TEST_CASE("held-out errors are those of folds that did not see the shape") {
  constexpr std::array<CurveParameter, 1> one{{{"constant", CurveUnit::share, 1.0, 0.0, 1e-3, 1e3}}};
  CurveProblem problem;
  problem.parameters = one;
  // Two shapes: one takes 1 s, the other 2 s. A constant that saw one alone is wrong by a factor of two on the other.
  for (int i = 0; i < 10; ++i) {
    problem.measured.emplace_back(i < 5 ? 1.0 : 2.0);
    problem.shapes.push_back(i < 5 ? 0 : 1);
  }
  problem.predict = [](std::span<const double> p, std::span<const std::size_t> which, std::span<double> seconds) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      seconds[i] = p[0];
    }
  };
  const CurveFit fit = fit_curve(problem, 2);
  CHECK(fit.held_out.n == 10);
  CHECK(fit.held_out_errors[0] == doctest::Approx(1.0).epsilon(0.01));
  CHECK(fit.held_out_errors[9] == doctest::Approx(-0.5).epsilon(0.01));
  CHECK(fit.fitted.mape < fit.held_out.mape);
  problem.measured.clear();
  problem.shapes.clear();
  CHECK_THROWS_WITH_AS(static_cast<void>(fit_curve(problem, 0)), doctest::Contains("constant"), ConfigError);
}
