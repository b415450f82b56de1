// SPDX-License-Identifier: Apache-2.0
// Random linear problems of two numbers, the second expected near the first, against Cramer's rule.
#include <headroom/calibrate/solver/hierarchical_fit.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>

using namespace headroom;

namespace {

struct Sample {
  std::array<double, 2> slope{};
  double measured = 0.0;
};

double number(int low, int high) {
  return 0.01 * *rc::gen::inRange(100 * low, 100 * high + 1);
}

std::vector<Sample> any_samples() {
  std::vector<Sample> samples(*rc::gen::inRange<std::size_t>(1, 9));
  for (Sample& sample : samples) {
    sample = {{number(-2, 2), number(-2, 2)}, number(-1, 1)};
  }
  return samples;
}

struct Priors {
  double centre = 0.0, width = 1.0, child = 1.0;
};

Priors any_priors() {
  return {number(-1, 1), number(0, 1) + 0.1, number(0, 1) + 0.1};
}

constexpr double noise = 0.2;

HierarchicalResult fit_of(const std::vector<Sample>& samples, const Priors& priors, double low, double high) {
  const std::vector<FitCoordinate> two{{0.0, low, high, priors.centre, priors.width, -1, false},
                                       {0.0, low, high, 0.0, priors.child, 0, false}};
  const std::vector<FitSample> seen(samples.size(), FitSample{1.0, 0, {0, 1}});
  const auto errors = [&](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out,
                          std::size_t) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Sample& s = samples[which[i]];
      out[i] = s.slope[0] * x[0] + s.slope[1] * x[1] - s.measured;
    }
  };
  return HierarchicalFit{two, seen, errors, {1e4, noise, 0.0, 200, 1}}.fit();
}

struct Exact {
  std::array<double, 2> point{}, deviation{};
};

Exact exact_of(const std::vector<Sample>& samples, const Priors& p) {
  const double own = 1.0 / (p.width * p.width);
  const double child = 1.0 / (p.child * p.child);
  double a = own + child, b = -child, d = child, right0 = own * p.centre, right1 = 0.0;
  for (const Sample& s : samples) {
    a += s.slope[0] * s.slope[0] / noise / noise;
    b += s.slope[0] * s.slope[1] / noise / noise;
    d += s.slope[1] * s.slope[1] / noise / noise;
    right0 += s.slope[0] * s.measured / noise / noise;
    right1 += s.slope[1] * s.measured / noise / noise;
  }
  const double determinant = a * d - b * b;
  return {{(d * right0 - b * right1) / determinant, (a * right1 - b * right0) / determinant},
          {std::sqrt(d / determinant), std::sqrt(a / determinant)}};
}

bool close(double a, double b, double by) {
  return std::abs(a - b) <= by;
}

}  // namespace

TEST_CASE("linear problems come out as Cramer's rule says, in whatever order their samples stand") {
  CHECK(rc::check("posterior", [] {
    const std::vector<Sample> samples = any_samples();
    const Priors priors = any_priors();
    const Exact exact = exact_of(samples, priors);
    const HierarchicalResult r = fit_of(samples, priors, -100.0, 100.0);
    std::vector<Sample> reversed = samples;
    std::reverse(reversed.begin(), reversed.end());
    const HierarchicalResult back = fit_of(reversed, priors, -100.0, 100.0);
    for (const std::size_t c : {0U, 1U}) {
      RC_ASSERT(close(r.point[c], exact.point[c], 0.05 * exact.deviation[c] + 1e-4));
      RC_ASSERT(close(r.deviation[c], exact.deviation[c], 1e-6 * exact.deviation[c]));
      RC_ASSERT(close(back.point[c], r.point[c], 1e-6));
    }
  }));
}

TEST_CASE("no number leaves its bounds, and one at a bound says so") {
  CHECK(rc::check("bounds", [] {
    const double low = number(-1, 0) - 0.05;
    const double high = number(0, 1) + 0.05;
    const HierarchicalResult r = fit_of(any_samples(), any_priors(), low, high);
    for (const std::size_t c : {0U, 1U}) {
      RC_ASSERT(low <= r.point[c] && r.point[c] <= high);
      RC_ASSERT(r.at_bound[c] == (r.point[c] == low || r.point[c] == high));
    }
  }));
}

TEST_CASE("one more sample never widens a posterior") {
  CHECK(rc::check("narrower", [] {
    std::vector<Sample> samples = any_samples();
    const Priors priors = any_priors();
    const HierarchicalResult fewer = fit_of(samples, priors, -100.0, 100.0);
    samples.push_back({{number(-2, 2), number(-2, 2)}, number(-1, 1)});
    const HierarchicalResult more = fit_of(samples, priors, -100.0, 100.0);
    for (const std::size_t c : {0U, 1U}) {
      RC_ASSERT(more.deviation[c] <= fewer.deviation[c] * (1.0 + 1e-6));
    }
  }));
}
