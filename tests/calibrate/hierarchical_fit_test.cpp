// SPDX-License-Identifier: Apache-2.0
// Posteriors that can be written down by hand: means, deviations, parents, bounds, levels of families, outliers.
#include <headroom/calibrate/solver/hierarchical_fit.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using test::near;

namespace {

constexpr double squares = 1e4;  ///< a scale that no error reaches: pseudo-Huber's cost is that of least squares

FitCoordinate coordinate(double centre, double width, std::ptrdiff_t parent = -1) {
  return {0.0, -10.0, 10.0, centre, width, parent, false};
}

/// One measurement: sum of slopes x coordinates, less what was measured.
struct Line {
  std::vector<std::pair<std::size_t, double>> slopes;
  double measured = 0.0;
  std::size_t family = 0;
  double weight = 1.0;
};

std::vector<FitSample> samples_of(const std::vector<Line>& lines) {
  std::vector<FitSample> samples;
  for (const Line& line : lines) {
    FitSample sample{line.weight, line.family, {}};
    for (const auto& [index, slope] : line.slopes) {
      sample.behind.push_back(index);
    }
    samples.push_back(sample);
  }
  return samples;
}

HierarchicalFit problem(std::vector<FitCoordinate> coordinates,
                        const std::vector<Line>& lines,
                        HierarchicalOptions options) {
  return {
      std::move(coordinates), samples_of(lines),
      [lines](std::span<const double> x, std::span<const std::size_t> which, std::span<double> errors, std::size_t) {
        for (std::size_t i = 0; i < which.size(); ++i) {
          const Line& line = lines[which[i]];
          errors[i] = -line.measured;
          for (const auto& [index, slope] : line.slopes) {
            errors[i] += slope * x[index];
          }
        }
      },
      options};
}

HierarchicalResult fitted(std::vector<FitCoordinate> coordinates,
                          const std::vector<Line>& lines,
                          HierarchicalOptions options = {squares, 0.1, 0.0, 25, 1}) {
  return problem(std::move(coordinates), lines, options).fit();
}

/// Growth and decay that no least squares solves in one step, in two families.
HierarchicalFit curved(std::size_t workers, const std::vector<std::size_t>& kept) {
  std::vector<FitSample> samples;
  for (const std::size_t i : kept) {
    samples.push_back({1.0 + 0.1 * static_cast<double>(i), i % 2, {0, 1}});
  }
  const auto errors = [kept](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out,
                             std::size_t) {
    for (std::size_t k = 0; k < which.size(); ++k) {
      const auto i = static_cast<double>(kept[which[k]]);
      const double noise = 0.05 * std::sin(7.0 * i) + (kept[which[k]] % 2 == 1 ? 0.3 : 0.0);
      out[k] = std::log((std::exp(x[0]) + i * std::exp(x[1])) / (2.0 + 0.5 * i)) + noise;
    }
  };
  return {{coordinate(0.0, 1.0), coordinate(0.0, 0.5, 0)}, samples, errors, {0.1, 0.05, 0.06, 40, workers}};
}

std::vector<std::size_t> numbers(std::size_t n) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = i;
  }
  return all;
}

}  // namespace

TEST_CASE("one number seen by weighted samples takes the mean and the deviation of normal theory") {
  // Precision: (1 + 1 + 2) / 0.1^2 of the samples, 1 / 0.2^2 of the prior around 0.5.
  const HierarchicalResult r =
      fitted({coordinate(0.5, 0.2)}, {{{{0, 1.0}}, 0.1}, {{{0, 1.0}}, 0.3}, {{{0, 1.0}}, 0.2, 0, 2.0}});
  const double precision = 400.0 + 25.0;
  CHECK(r.point[0] == near((100.0 * 0.1 + 100.0 * 0.3 + 200.0 * 0.2 + 25.0 * 0.5) / precision, 1e-5));
  CHECK(r.deviation[0] == near(1.0 / std::sqrt(precision), 1e-6));
  CHECK(r.narrowing[0] == near(1.0 / std::sqrt(precision) / 0.2, 1e-6));
  CHECK_FALSE(r.at_bound[0]);
}

TEST_CASE("numbers that samples see only together are correlated") {
  // One sample of the sum: precision 1/s^2 [1 1; 1 1] + I/w^2, w = s sqrt(9): covariance in proportion to [10 -9; -9
  // 10].
  const HierarchicalResult r = fitted({coordinate(0.0, 0.3), coordinate(0.0, 0.3)}, {{{{0, 1.0}, {1, 1.0}}, 1.0}});
  CHECK(r.point[0] == near(r.point[1], 1e-9));
  CHECK(r.point[0] == near(9.0 / 19.0, 1e-5));
  CHECK(r.correlation[1] == near(-0.9, 1e-6));
  CHECK(r.correlation[0] == near(1.0, 1e-9));
  CHECK(r.deviation[0] == near(0.3 * std::sqrt(10.0 / 19.0), 1e-6));
}

TEST_CASE("a child without samples takes its parent's value, and the parent's deviation plus its own width") {
  const HierarchicalResult r = fitted({coordinate(0.0, 1.0), coordinate(7.0, 0.3, 0)}, {{{{0, 1.0}}, 0.8}});
  const double precision = 100.0 + 1.0;
  CHECK(r.point[0] == near(80.0 / precision, 1e-5));
  CHECK(r.point[1] == near(r.point[0], 1e-4));
  CHECK(r.deviation[1] == near(std::sqrt(1.0 / precision + 0.09), 1e-6));
}

TEST_CASE("a child with samples pulls its parent, and through it the sibling") {
  // Parent N(0, 1), children N(parent, 0.5^2), the first measured at 1 within 0.1.
  const HierarchicalResult r =
      fitted({coordinate(0.0, 1.0), coordinate(0.0, 0.5, 0), coordinate(0.0, 0.5, 0)}, {{{{1, 1.0}}, 1.0}});
  const double child = 1.0 / 0.01 / (1.0 / 0.01 + 1.0 / 1.25);
  CHECK(r.point[1] == near(child, 1e-4));
  CHECK(r.point[0] == near(child / 1.25, 1e-4));
  CHECK(r.point[2] == near(r.point[0], 1e-3));
}

TEST_CASE("a number stops at its bound, says so, and the others take the rest") {
  std::vector<FitCoordinate> two{coordinate(0.0, 1.0), coordinate(0.0, 1.0)};
  two[0].high = 0.3;
  const HierarchicalResult r = fitted(two, {{{{0, 1.0}, {1, 1.0}}, 2.0}});
  CHECK(r.point[0] == 0.3);
  CHECK(r.at_bound[0]);
  CHECK_FALSE(r.at_bound[1]);
  CHECK(r.point[1] == near(100.0 * 1.7 / 101.0, 1e-4));
  two[0].high = 10.0;
  two[0].low = 1.9;
  CHECK(fitted(two, {{{{0, 1.0}, {1, 1.0}}, 2.0}}).point[0] == 1.9);
}

TEST_CASE("a fixed number stays where it is, whatever its bounds and prior say, and holds its children") {
  std::vector<FitCoordinate> two{{5.0, -1.0, 1.0, 0.0, 0.01, -1, true}, coordinate(0.0, 0.2, 0)};
  const HierarchicalResult r = fitted(two, {{{{0, 1.0}}, 2.0}});
  CHECK(r.point[0] == 5.0);
  CHECK_FALSE(r.at_bound[0]);
  CHECK(r.narrowing[0] == 1.0);
  CHECK(r.deviation[0] < 1e-5);
  CHECK(r.point[1] == near(5.0, 1e-3));
  CHECK(r.deviation[1] == near(0.2, 1e-6));
}

TEST_CASE("levels of families absorb an offset as far as normal theory gives it to them") {
  // x measured at 0 three times by one family, at 0.6 twice by another; a family's mean varies by level^2 + noise^2 /
  // n.
  const std::vector<Line> lines{
      {{{0, 1.0}}, 0.0, 0}, {{{0, 1.0}}, 0.0, 0}, {{{0, 1.0}}, 0.0, 0}, {{{0, 1.0}}, 0.6, 1}, {{{0, 1.0}}, 0.6, 1}};
  const double level = 0.2;
  const HierarchicalResult r = fitted({coordinate(0.0, 100.0)}, lines, {squares, 0.1, level, 25, 1});
  const double first = level * level + 0.01 / 3.0;
  const double second = level * level + 0.01 / 2.0;
  const double precision = 1.0 / first + 1.0 / second;
  const double x = 0.6 / second / precision;
  CHECK(r.point[0] == near(x, 1e-3));
  CHECK(r.deviation[0] == near(1.0 / std::sqrt(precision), 1e-4));
  CHECK(r.family_level[0] == near(level * level / first * x, 2e-3));
  CHECK(r.family_level[1] == near(level * level / second * (x - 0.6), 2e-3));
  const HierarchicalResult none = fitted({coordinate(0.0, 100.0)}, lines);
  CHECK(none.point[0] == near(0.6 * 2.0 / 5.0, 1e-4));
  CHECK(none.family_level == std::vector<double>{0.0, 0.0});
}

TEST_CASE("an outlier pulls like a sample that lies one scale away") {
  // Ten samples at 0, one at 2: 10 t / sqrt(1 + t^2) = 1 where t = x / scale, so t = 1 / sqrt(99).
  std::vector<Line> lines(10, Line{{{0, 1.0}}, 0.0});
  lines.push_back({{{0, 1.0}}, 2.0});
  const HierarchicalResult r = fitted({coordinate(0.0, 1e3)}, lines, {0.1, 0.1, 0.0, 25, 1});
  CHECK(r.point[0] == near(0.1 / std::sqrt(99.0), 0.01));
  // The cost is scale^2 / noise^2 = 1 times the sum of sqrt(1 + t^2) - 1.
  CHECK(r.cost == near(10.0 * (std::sqrt(100.0 / 99.0) - 1.0) + std::sqrt(1.0 + 19.8995 * 19.8995) - 1.0, 1e-4));
}

TEST_CASE("any number of workers gives the same bytes") {
  const HierarchicalResult one = curved(1, numbers(12)).fit();
  for (const std::size_t workers : {2U, 3U, 20U}) {
    const HierarchicalResult more = curved(workers, numbers(12)).fit();
    CHECK(one.point == more.point);
    CHECK(one.deviation == more.deviation);
    CHECK(one.family_level == more.family_level);
    CHECK(one.cost == more.cost);
  }
}

TEST_CASE("a refit without some samples is the fit that never had them") {
  HierarchicalFit all = curved(2, numbers(12));
  const HierarchicalResult whole = all.fit();
  std::vector<bool> out(12, false);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = i % 2 == 1;
    if (!out[i]) {
      kept.push_back(i);
    }
  }
  const HierarchicalResult rest = all.refit(whole, out);
  const HierarchicalResult never = curved(2, kept).fit();
  for (const std::size_t c : {0U, 1U}) {
    CHECK(std::abs(rest.point[c] - never.point[c]) < 0.02 * never.deviation[c]);
    CHECK(std::abs(whole.point[c] - never.point[c]) > 0.1 * never.deviation[c]);
    CHECK(rest.deviation[c] == near(never.deviation[c], 0.01));
  }
  // Nothing is left that tells the level of the family that is out.
  CHECK(std::abs(rest.family_level[1]) < 1e-6);
  const HierarchicalResult again = all.refit(whole, std::vector<bool>(12, false));
  CHECK(again.point[0] == near(whole.point[0], 1e-3));
}

TEST_CASE("without any sample every number stays at its prior") {
  const HierarchicalResult r = fitted({coordinate(0.4, 0.2), coordinate(9.0, 0.1, 0)}, {});
  CHECK(r.point[0] == near(0.4, 1e-5));
  CHECK(r.point[1] == near(0.4, 1e-4));
  CHECK(r.narrowing[0] == near(1.0, 1e-9));
}

TEST_CASE("the width of a group is estimated from how far its members lie apart") {
  // Twelve numbers around one parent, each seen exactly: their spread is the width, beside three of the prior's.
  std::vector<FitCoordinate> coordinates{coordinate(0.0, 1.0)};
  std::vector<Line> lines;
  double squares_of = 0.0;
  for (std::size_t i = 0; i < 12; ++i) {
    FitCoordinate c = coordinate(0.0, 0.1, 0);
    c.group = 0;
    coordinates.push_back(c);
    const double off = i % 2 == 0 ? 0.5 : -0.5;
    squares_of += off * off;
    lines.push_back({{{i + 1, 1.0}}, off, i, 1e4});
  }
  HierarchicalOptions options{squares, 0.1, 0.0, 25, 1};
  options.variance_rounds = 30;
  const HierarchicalResult r = fitted(coordinates, lines, options);
  const double expected = std::sqrt((3.0 * 0.1 * 0.1 + squares_of) / 15.0);
  CHECK(r.width[1] == near(expected, 0.05));
  CHECK(r.width[12] == r.width[1]);
  CHECK(r.width[0] == 1.0);  // of no group
  options.variance_rounds = 0;
  CHECK(fitted(coordinates, lines, options).width[1] == 0.1);
}

TEST_CASE("a settled fit gives a lone family's level to its own number, and keeps the level in the covariance") {
  const std::vector<FitCoordinate> coordinates{coordinate(0.0, 0.1)};
  const std::vector<Line> lines{{{{0, 1.0}}, 0.3, 0, 100.0}};
  HierarchicalOptions options{squares, 0.1, 0.1, 25, 1};
  const HierarchicalResult shared = fitted(coordinates, lines, options);
  CHECK(shared.point[0] == near(0.15, 0.02));  // half the number's, half the level's
  options.settled_noise = 0.1;
  const HierarchicalResult settled = fitted(coordinates, lines, options);
  CHECK(settled.point[0] == near(0.3, 0.02));
  CHECK(settled.covariance(0, 0) == near(shared.covariance(0, 0)));
}

TEST_CASE("a number reaches its minimum beside another whose errors jump, in the fit and in a refit") {
  // The first is measured at 1, its prior is 0; the second's error is a saw of teeth shorter than a difference, whose
  // slopes say nothing and whose steps, taken with the first's, cost more than those gain.
  std::vector<FitSample> samples(40);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].behind = {i < 20 ? 0U : 1U};
  }
  const SampleErrors errors = [](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out,
                                 std::size_t) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double phase = 137.0 * x[1] + 0.3;
      out[i] = which[i] < 20 ? x[0] - 1.0 : 0.5 * (phase - std::floor(phase));
    }
  };
  HierarchicalOptions options;
  options.scale = squares;
  options.noise = 0.1;
  HierarchicalFit fit{{coordinate(0.0, 1.0), coordinate(0.0, 1.0)}, samples, errors, options};
  const HierarchicalResult whole = fit.fit();
  CHECK(std::abs(whole.point[0] - 1.0) < 0.01);
  // Without its samples it goes back to its prior.
  std::vector<bool> out(40, false);
  std::fill(out.begin(), out.begin() + 20, true);
  CHECK(std::abs(fit.refit(whole, out).point[0]) < 0.01);
}

TEST_CASE("a sample with nothing to move behind it is no part of a descent, and has its error where it is asked") {
  std::vector<FitCoordinate> two{coordinate(0.0, 1.0), coordinate(0.0, 1.0)};
  two[1].fixed = true;
  std::vector<FitSample> samples(3);
  samples[0].behind = {0};
  samples[1].behind = {1};  // fixed
  std::vector<int> asked(3, 0);
  const SampleErrors errors = [&](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out,
                                  std::size_t) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      ++asked[which[i]];
      out[i] = x[0] - 1.0 + static_cast<double>(which[i]);
    }
  };
  HierarchicalFit fit{two, samples, errors, {squares, 0.1, 0.0, 25, 1}};
  const HierarchicalResult r = fit.fit();
  CHECK(r.point[0] == near(100.0 / 101.0, 1e-4));
  CHECK(asked[0] > 0);
  CHECK(asked[1] == 0);
  CHECK(asked[2] == 0);
  const std::vector<double> all = fit.errors_at(r.point, {2, 0});
  CHECK(all[0] == near(r.point[0] + 1.0));
  CHECK(all[1] == near(r.point[0] - 1.0));
}

TEST_CASE("a refit by the tangents of costly samples ends where one without them does, and asks them far less") {
  // Growth and decay as above; the odd samples are costly, and the even ones without the first four are left.
  std::vector<bool> out(12, false);
  std::fill(out.begin(), out.begin() + 4, true);
  std::vector<HierarchicalResult> rest;
  std::vector<std::size_t> asked;
  for (const bool costly : {false, true}) {
    std::size_t odd = 0;
    std::vector<FitSample> samples;
    for (std::size_t i = 0; i < 12; ++i) {
      samples.push_back({1.0, 0, {0, 1}, costly && i % 2 == 1});
    }
    const SampleErrors errors = [&](std::span<const double> x, std::span<const std::size_t> which,
                                    std::span<double> found, std::size_t) {
      for (std::size_t k = 0; k < which.size(); ++k) {
        const auto i = static_cast<double>(which[k]);
        odd += which[k] % 2;
        found[k] = std::log((std::exp(x[0]) + i * std::exp(x[1])) / (2.0 + 0.5 * i)) + 0.05 * std::sin(7.0 * i) +
                   (which[k] < 4 ? 0.4 : 0.0);
      }
    };
    HierarchicalFit fit{{coordinate(0.0, 1.0), coordinate(0.0, 0.5, 0)}, samples, errors, {0.1, 0.05, 0.0, 40, 1}};
    const HierarchicalResult whole = fit.fit();
    odd = 0;
    rest.push_back(fit.refit(whole, out));
    asked.push_back(odd);
    // What is left out had drawn the fit aside by more than its deviation, so that tangents are drawn anew.
    CHECK(std::abs(whole.point[0] - rest.back().point[0]) > rest.back().deviation[0]);
  }
  for (const std::size_t c : {0U, 1U}) {
    CHECK(std::abs(rest[1].point[c] - rest[0].point[c]) < 0.05 * rest[0].deviation[c]);
  }
  // Each of at most three drawings takes an error and a derivative by each of both coordinates, of four samples.
  CHECK(asked[1] > 0);
  CHECK(asked[1] % (3 * 4) == 0);
  CHECK(asked[1] <= 3 * 3 * 4);
  CHECK(asked[0] > 2 * asked[1]);
}

TEST_CASE("samples of one work are computed by one worker") {
  std::vector<FitSample> samples(12);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].behind = {0};
    samples[i].work = static_cast<std::ptrdiff_t>(i / 4);
  }
  std::vector<std::size_t> by(12, 9);
  const SampleErrors errors = [&](std::span<const double> x, std::span<const std::size_t> which, std::span<double> out,
                                  std::size_t worker) {
    for (std::size_t i = 0; i < which.size(); ++i) {
      by[which[i]] = worker;
      out[i] = x[0];
    }
  };
  const HierarchicalFit fit{{coordinate(0.0, 1.0)}, samples, errors, {squares, 0.1, 0.0, 25, 2}};
  static_cast<void>(fit.errors_at({0.5}, numbers(12)));
  CHECK(by == std::vector<std::size_t>{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0});
}
