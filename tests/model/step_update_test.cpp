// SPDX-License-Identifier: Apache-2.0
// Runs that condition the posterior of a step's numbers: what they move, by hand, and what they leave unknown.
#include <headroom/model/train/errors/step_update.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace headroom;

namespace {

/// Two independent numbers with these variances.
PairTable two(double first, double second) {
  PairTable prior{2};
  prior(0, 0) = first;
  prior(1, 1) = second;
  return prior;
}

/// Of the two numbers.
double correlation(const UpdatedNumbers& n) {
  return n.covariance(0, 1) / std::sqrt(n.covariance(0, 0) * n.covariance(1, 1));
}

UpdatedNumbers told(const PairTable& prior, double level, const std::vector<ToldRun>& runs) {
  UpdatedNumbers numbers = without_runs(prior, level);
  for (const ToldRun& run : runs) {
    learn(numbers, run);
  }
  return numbers;
}

}  // namespace

TEST_CASE("one run moves numbers and level by their share of its variance") {
  // Variances .04 x .5^2 = .01 of the first number, .02 of the level, .03 of the noise: half of the error is the run's.
  const UpdatedNumbers numbers = told(two(0.04, 0.5), 0.02, {{{0.5, 0.0}, 0.12, 0.03}});
  CHECK(numbers.by[0] == doctest::Approx(-0.04 * 0.5 / 0.06 * 0.12));
  CHECK(numbers.by[1] == 0.0);
  CHECK(numbers.level == doctest::Approx(-0.02 / 0.06 * 0.12));
  const std::vector<double> job{0.5, 0.0};
  CHECK(numbers.departure(job) == doctest::Approx(-0.06));
  CHECK(numbers.variance(job) == doctest::Approx(0.03 * 0.03 / 0.06));
  // Another job of the cluster takes the level, and of the number what it depends on it by.
  const std::vector<double> other{0.1, 1.0};
  CHECK(numbers.departure(other) == doctest::Approx(0.1 * numbers.by[0] + numbers.level));
  CHECK(numbers.variance(other) > 0.5);
}

TEST_CASE("runs may come in any order, and repeats tell less and less") {
  const std::vector<ToldRun> runs{{{0.5, 0.1}, 0.12, 0.03}, {{0.0, 0.4}, -0.2, 0.01}, {{0.3, 0.3}, 0.05, 0.02}};
  const UpdatedNumbers there = told(two(0.04, 0.09), 0.005, {runs[0], runs[1], runs[2]});
  const UpdatedNumbers back = told(two(0.04, 0.09), 0.005, {runs[2], runs[0], runs[1]});
  for (std::size_t key = 0; key < 2; ++key) {
    CHECK(there.by[key] == doctest::Approx(back.by[key]).epsilon(1e-12));
  }
  CHECK(there.level == doctest::Approx(back.level).epsilon(1e-12));
  CHECK(there.variance(runs[0].derivative) == doctest::Approx(back.variance(runs[0].derivative)).epsilon(1e-12));
  double last = 1.0;
  UpdatedNumbers numbers = without_runs(two(0.04, 0.09), 0.005);
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double before = numbers.variance(runs[0].derivative);
    learn(numbers, runs[0]);
    const double took = before - numbers.variance(runs[0].derivative);
    CHECK(took > 0.0);
    CHECK(took < last);
    last = took;
  }
}

TEST_CASE("a run narrows by what it is, not by how far off it was") {
  const std::vector<double> job{0.2, 0.7};
  const UpdatedNumbers near = told(two(0.04, 0.09), 0.01, {{{0.5, 0.1}, 0.0, 0.03}});
  const UpdatedNumbers far = told(two(0.04, 0.09), 0.01, {{{0.5, 0.1}, 0.9, 0.03}});
  CHECK(near.departure(job) == 0.0);
  CHECK(near.variance(job) == far.variance(job));
  CHECK(near.variance(job) < without_runs(two(0.04, 0.09), 0.01).variance(job));
}

TEST_CASE("a run far off counts as Student's t lets it, and one within its deviation in full") {
  // Level 0.02, noise 0.01 / w: of 0.6 the run stays off by 0.6 / (1 + 2 w), and w = 5 / (4 + 36 / (1 + 2 w)^2) is 1/4.
  UpdatedNumbers numbers = without_runs(two(0.0, 0.0), 0.02);
  const std::vector<ToldRun> far{{{0.0, 0.0}, 0.6, 0.01}};
  CHECK(learn_all(numbers, far).front() == doctest::Approx(0.25).epsilon(1e-3));
  CHECK(numbers.level == doctest::Approx(-0.2).epsilon(1e-3));
  CHECK(numbers.variance(far.front().derivative) == doctest::Approx(0.02 * 0.04 / 0.06).epsilon(1e-3));
  UpdatedNumbers normal = without_runs(two(0.0, 0.0), 0.02);
  const ToldRun within{{0.0, 0.0}, 0.05, 0.01};
  learn(normal, within);
  numbers = without_runs(two(0.0, 0.0), 0.02);
  CHECK(learn_all(numbers, std::vector{within}).front() == 1.0);
  CHECK(numbers.level == normal.level);
  CHECK(run_weight(0.3, 0.0) == 1.0);  // a run without noise is believed
}

TEST_CASE("of three runs the one that the others contradict counts least, in any order") {
  const ToldRun one{{0.0, 0.0}, 0.1, 0.003}, odd{{0.0, 0.0}, -0.9, 0.003};
  UpdatedNumbers there = without_runs(two(0.0, 0.0), 0.003);
  UpdatedNumbers back = there;
  const std::vector<double> weights = learn_all(there, std::vector{one, one, odd});
  const std::vector<double> again = learn_all(back, std::vector{odd, one, one});
  CHECK(weights[2] < 0.05);
  CHECK(weights[0] > 0.9);
  CHECK(again[0] == doctest::Approx(weights[2]));
  CHECK(there.level == doctest::Approx(back.level));
  CHECK(there.level < 0.0);  // with normal noise the odd run would have made it 0.7 / 4
}

TEST_CASE("two numbers that a run only shows together are told apart by a second run") {
  const ToldRun both{{1.0, 1.0}, 0.2, 1e-4};
  const UpdatedNumbers one = told(two(0.04, 0.04), 0.0, {both});
  CHECK(one.by[0] == doctest::Approx(one.by[1]));
  CHECK(correlation(one) < -0.99);
  const UpdatedNumbers apart = told(two(0.04, 0.04), 0.0, {both, {{1.0, 0.0}, 0.2, 1e-4}});
  CHECK(std::abs(correlation(apart)) < 0.8);
  CHECK(apart.by[0] == doctest::Approx(-0.2).epsilon(0.01));
  CHECK(std::abs(apart.by[1]) < 0.01);
}

TEST_CASE("numbers that are known for certain stay") {
  const UpdatedNumbers numbers = told(two(0.0, 0.0), 0.0, {{{1.0, 1.0}, 0.3, 0.0}});
  CHECK(numbers.by[0] == 0.0);
  CHECK(numbers.level == 0.0);
}

TEST_CASE("discrepancies of like jobs go with a run's, by the conditional normal distribution") {
  const Likeness likeness{0.03, 0.7};
  JobPlace there;
  JobPlace twice = there;
  twice.axes[5] = std::log(2.0);  // another micro-batch
  JobPlace far = there;
  far.axes[1] = std::log(64.0);
  JobPlace other = there;
  other.recipe = 1;
  const double fades = std::exp(-0.5 * std::pow(std::log(2.0) / 0.7, 2));
  CHECK(likeness.covariance(there, there) == doctest::Approx(0.03));
  CHECK(likeness.covariance(there, twice) == doctest::Approx(0.03 * fades));
  CHECK(likeness.covariance(there, other) == doctest::Approx(0.03 * std::exp(-0.5)));
  // Level 0.01, discrepancy 0.03, noise 0.02: a run that we price e slow takes (0.01 + covariance) / 0.06 of e there.
  UpdatedNumbers numbers = at_places(without_runs(two(0.0, 0.0), 0.01), likeness, std::vector{there, twice, far});
  const double before = numbers.variance(std::vector{0.0, 0.0}, 1);
  CHECK(before == doctest::Approx(0.04));
  learn(numbers, {{0.0, 0.0}, 0.3, 0.02, 0});
  const std::vector<double> none{0.0, 0.0};
  CHECK(numbers.departure(none, 0) == doctest::Approx(-0.3 * 0.04 / 0.06));
  CHECK(numbers.departure(none, 1) == doctest::Approx(-0.3 * (0.01 + 0.03 * fades) / 0.06));
  CHECK(numbers.departure(none, 2) == doctest::Approx(-0.3 * 0.01 / 0.06).epsilon(1e-6));
  CHECK(numbers.departure(none) == doctest::Approx(-0.3 * 0.01 / 0.06));
  CHECK(numbers.variance(none, 1) == doctest::Approx(0.04 - std::pow(0.01 + 0.03 * fades, 2) / 0.06));
}

TEST_CASE("what closing a blank axis is off by is alike where both jobs leave one blank") {
  const Likeness likeness{0.03, 0.7};
  JobPlace blank;
  blank.blank = 0.02;
  CHECK(likeness.covariance(blank, blank) == doctest::Approx(0.05));
  CHECK(likeness.covariance(blank, JobPlace{}) == doctest::Approx(0.03));
  CHECK(Likeness{}.covariance(blank, blank) == 0.0);  // nothing is known of likeness
}
