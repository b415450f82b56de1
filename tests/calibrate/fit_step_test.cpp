// SPDX-License-Identifier: Apache-2.0
// Runs that the model itself made with one number changed: the fit finds it, weighs as it says, and says what it
// cannot.
#include <headroom/calibrate/stacks/fit_step.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "step_runs.hpp"
#include <algorithm>
#include <cmath>
#include <random>
#include <span>

using namespace headroom;
using test::MadeRun;
using test::near;
using test::step_sources;

namespace {

const StepKnobs& knobs() {
  static const StepKnobs standard = StepKnobs::of(step_sources());
  return standard;
}

std::size_t knob(std::string_view key) {
  return test::knob_behind(knobs(), {"megatron-core-te", "h100-sxm-80gb", "hopper", false}, key);
}

/// Exact runs: next to no noise and no levels of sources.
StepFitOptions exact() {
  StepFitOptions options;
  options.stack = knobs().all()[knob("host")].id;
  options.level = 0.0;
  options.noise = 0.002;
  return options;
}

StepFit fit_of(const std::vector<MadeRun>& runs, const StepFitOptions& options) {
  static std::vector<std::vector<RunFile>> kept;  // the answer refers to its rows
  kept.push_back(test::parsed(runs));
  return fit_step(kept.back(), step_sources(), options);
}

std::string refusal(const std::vector<MadeRun>& runs, const StepFitOptions& options) {
  try {
    static_cast<void>(fit_of(runs, options));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the host time that made the runs is found again") {
  const std::size_t host = knob("host");
  const double truth = 1.4 * knobs().all()[host].value;
  const StepFit fit = fit_of(test::measured(test::grid(), {{host, truth}}), exact());
  CHECK(fit.values[host] == near(truth, 0.03));
  CHECK(fit.runs.size() == 16);
  for (const FittedRun& run : fit.runs) {
    CHECK(std::abs(run.fitted) < 0.01);
  }
  CHECK(std::any_of(fit.runs.begin(), fit.runs.end(), [](const FittedRun& r) { return r.before < -0.1; }));
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    if (!fit.free[i]) {
      CHECK_MESSAGE(std::abs(fit.values[i] - fit.knobs[i].value) <= 1e-9 * fit.knobs[i].value, fit.knobs[i].name());
    }
  }
}

TEST_CASE("the products' level of a SKU is found again when it is asked for, and else does not move") {
  const std::size_t level = knob("products_16_bit");
  const double truth = 1.15 * knobs().all()[level].value;
  const std::vector<MadeRun> runs = test::measured(test::grid(), {{level, truth}});
  StepFitOptions options = exact();
  options.gpus = {knobs().all()[level].id};
  CHECK(fit_of(runs, options).values[level] == near(truth, 0.03));
  options.gpus.clear();
  CHECK(fit_of(runs, options).values[level] == near(knobs().all()[level].value));
}

TEST_CASE("profiles share one row's weight, and a family of n profiles weighs the root of n") {
  std::vector<MadeRun> runs(6);
  runs[1].layers = 12;  // what one layer does is the same
  runs[2].global_batch = 128;
  runs[3].hidden = 1024;
  runs[4].micro_batch = 2;
  runs[5].source = "T";
  const StepFit fit = fit_of(test::measured(runs, {}), exact());
  REQUIRE(fit.runs.size() == 6);
  REQUIRE(fit.families.size() == 2);
  const double root = 1.0 / std::sqrt(3.0);
  const std::vector<double> expected{root / 3.0, root / 3.0, root / 3.0, root, root, 1.0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(fit.runs[i].weight == near(expected[i]));
  }
  CHECK(fit.families[0].runs == 5);
}

TEST_CASE("families part by source, SKU, kind of network and hosts") {
  std::vector<MadeRun> runs(5);
  runs[1].source = "T";
  runs[2].gpu = "A100-SXM4-80GB";
  runs[3].gpus = 16;
  runs[4].layers = 12;
  const StepFit fit = fit_of(test::measured(runs, {}), exact());
  REQUIRE(fit.families.size() == 4);
  CHECK(fit.families[0].runs == 2);
  CHECK(fit.families[3].hosts);
  CHECK_FALSE(fit.families[0].hosts);
  CHECK(fit.families[0].kind == "dense");
}

TEST_CASE("a configuration published as a rate of FLOPs and as a time counts by its time alone") {
  std::vector<MadeRun> runs(3);
  runs[1].metric = "model_tflops_per_gpu";
  runs[2].metric = "model_tflops_per_gpu";
  runs[2].layers = 12;  // of this one nothing else is known
  const StepFit fit = fit_of(test::measured(runs, {}), exact());
  REQUIRE(fit.runs.size() == 2);
  CHECK(fit.runs[0].row->metric == "step_time_s");
  CHECK(fit.runs[1].row->metric == "model_tflops_per_gpu");
  CHECK(fit.unused.empty());
}

TEST_CASE("errors are those of the step's time, whatever the metric") {
  std::vector<MadeRun> runs(2);
  runs[1].metric = "tokens_per_s_per_gpu";
  runs[1].source = "T";
  const std::size_t host = knob("host");
  const StepFit fit = fit_of(test::measured(runs, {{host, 2.0 * knobs().all()[host].value}}), exact());
  REQUIRE(fit.runs.size() == 2);
  CHECK(fit.runs[0].before < -0.05);
  CHECK(fit.runs[1].before == near(fit.runs[0].before, 1e-6));
}

TEST_CASE("each source has the error of a fit that never saw it, a single one has none") {
  const std::size_t host = knob("host");
  const double was = knobs().all()[host].value;
  std::vector<MadeRun> runs = test::measured(test::grid("A"), {});
  for (const MadeRun& slow : test::measured(test::grid("B"), {{host, 1.5 * was}})) {
    runs.push_back(slow);
  }
  const StepFit fit = fit_of(runs, exact());
  double fitted = 0.0, left_out = 0.0;
  for (const FittedRun& run : fit.runs) {
    REQUIRE(std::isfinite(run.left_out));
    fitted += std::abs(run.fitted);
    left_out += std::abs(run.left_out);
    // Without B its rows come out too fast, without A those of A too slow.
    CHECK((run.row->source == "A" ? run.left_out > -0.01 : run.left_out < 0.01));
  }
  CHECK(left_out > 1.5 * fitted);
  for (const FittedRun& run : fit_of(test::measured(test::grid(), {}), exact()).runs) {
    CHECK(std::isnan(run.left_out));
  }
  StepFitOptions options = exact();
  options.leave_one_out = false;
  CHECK(std::isnan(fit_of(runs, options).runs.front().left_out));
}

TEST_CASE("a number that runs drive to its bound is flagged") {
  const std::size_t host = knob("host");
  const double high = knobs().all()[host].high;
  const StepFit fit = fit_of(test::measured(test::grid(), {{host, 4.0 * high}}), exact());
  CHECK(fit.result.at_bound[host]);
  CHECK(fit.values[host] == near(high));
}

TEST_CASE("one run leaves the numbers to their priors") {
  const StepFit fit = fit_of(test::measured({MadeRun{}}, {}), [] {
    StepFitOptions options = exact();
    options.noise = 0.04;
    return options;
  }());
  std::size_t leaning = 0, free = 0;
  for (std::size_t i = 0; i < fit.knobs.size(); ++i) {
    free += fit.free[i] ? 1 : 0;
    leaning += fit.free[i] && fit.result.narrowing[i] > 0.6 ? 1 : 0;
  }
  CHECK(leaning + 1 >= free);
}

TEST_CASE("rows that tell nothing are kept apart with their reasons") {
  std::vector<MadeRun> runs(6);
  runs = test::measured(runs, {});
  runs[1].notes = "CHECK";
  runs[2].framework = "Megatrom of my own";
  runs[3].tp = 3;  // 8 GPUs
  runs[4].value = "1e-6";
  runs[5].precision = "int3";
  const StepFit fit = fit_of(runs, exact());
  CHECK(fit.runs.size() == 1);
  REQUIRE(fit.unused.size() == 5);
  const std::vector<UnusedKind> kinds{UnusedKind::doubted, UnusedKind::framework, UnusedKind::unpredicted,
                                      UnusedKind::impossible, UnusedKind::unpredicted};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CAPTURE(fit.unused[i].why);
    CHECK(fit.unused[i].kind == kinds[i]);
    CHECK(fit.unused[i].row->line == static_cast<int>(i) + 3);
  }
  CHECK(holds(fit.unused[1].why, "'Megatrom of my own'"));
  CHECK(holds(fit.unused[3].why, "faster than the roofline"));
}

TEST_CASE("what cannot be fitted is refused with every reason") {
  const std::vector<MadeRun> runs = test::measured({MadeRun{}}, {});
  StepFitOptions options = exact();
  options.stack = "megatron-coer";
  CHECK(holds(refusal(runs, options), "unknown software stack 'megatron-coer'; did you mean"));
  options = exact();
  options.gpus = {"hoper", "none-such"};
  CHECK(holds(refusal(runs, options), "--level 'hoper' is no level that a fit may move; did you mean 'hopper'?"));
  CHECK(holds(refusal(runs, options), "--level 'none-such'"));
  options.gpus.clear();
  options.stack = "nanotron";
  CHECK(holds(refusal(runs, options), "no number of 'nanotron' may be moved"));
  CHECK(holds(refusal({}, exact()), "no row states the time or the throughput"));
  options.stack = knobs().all()[test::knob_behind(knobs(), {"internevo", "a100-sxm-80gb", "ampere", false}, "gemm")].id;
  CHECK(holds(refusal(runs, options), "rests on a number of"));
  std::vector<MadeRun> broken = runs;
  broken.push_back(runs[0]);
  broken[0].tp = 3;
  broken[1].value = "1e-6";
  const std::string all = refusal(broken, exact());
  CHECK(holds(all, "none of the 2 rows of time can be fitted"));
  CHECK(holds(all, "made.csv:2:1: error: "));
  CHECK(holds(all, "made.csv:3:1: error: faster than the roofline"));
}

TEST_CASE("mean absolute errors by hand") {
  const double e = std::log(1.1);
  const std::vector<double> same(4, e);
  CHECK(mape_of(same) == near(0.1));
  CHECK(mape_of(std::vector<double>{e, -e}) == near(0.5 * (0.1 + 1.0 - 1.0 / 1.1)));
  CHECK(std::isnan(mape_of({})));
}

namespace {

/// Runs of a family whose one number departs by `off` from its prior, beside noise.
std::vector<LeftOutRun> family(double off, double deviation) {
  std::mt19937_64 random{7};
  std::normal_distribution<double> noise{0.0, deviation};
  std::vector<LeftOutRun> runs;
  for (std::size_t i = 0; i < 40; ++i) {
    const double derivative = 0.3 + 0.01 * static_cast<double>(i);
    runs.push_back({i,
                    std::to_string(i / 2),
                    {{derivative}, off * derivative + noise(random), deviation * deviation},
                    0.04 * derivative * derivative + deviation * deviation,
                    {},
                    deviation * deviation});
  }
  return runs;
}

}  // namespace

TEST_CASE("intervals of a family's runs hold four of five once some are given, and errors shrink") {
  // 200 families whose number departs as its prior says.
  PairTable prior{1};
  prior(0, 0) = 0.04;
  std::mt19937_64 random{3};
  std::normal_distribution<double> departs{0.0, 0.2};
  for (const std::size_t given : given_runs) {
    double held = 0.0, all = 0.0, error = 0.0, bare = 0.0;
    for (int f = 0; f < 200; ++f) {
      const std::vector<LeftOutRun> runs = family(departs(random), 0.05);
      for (const ToldError& e : told_errors(without_runs(prior, 0.0), runs, given)) {
        held += std::abs(e.error) <= 1.2816 * e.deviation ? 1.0 : 0.0;
        error += std::abs(e.error);
        bare += std::abs(runs[e.run].told.error);
        all += 1.0;
      }
    }
    CAPTURE(given);
    CHECK(held / all == doctest::Approx(0.8).epsilon(0.06));
    CHECK(error < 0.75 * bare);
  }
  // With none given they hold as many, and errors stay what they were.
  double held = 0.0, all = 0.0;
  for (int f = 0; f < 200; ++f) {
    const std::vector<LeftOutRun> runs = family(departs(random), 0.05);
    for (const ToldError& e : told_errors(without_runs(prior, 0.0), runs, 0)) {
      held += std::abs(e.error) <= 1.2816 * e.deviation ? 1.0 : 0.0;
      all += 1.0;
      REQUIRE(e.error == runs[e.run].told.error);
    }
  }
  CHECK(held / all == doctest::Approx(0.8).epsilon(0.06));
}

TEST_CASE("rows of one configuration are given together, and predicted by none of their own") {
  PairTable prior{1};
  prior(0, 0) = 0.04;
  const std::vector<LeftOutRun> runs = family(0.2, 0.05);
  CHECK(told_errors(without_runs(prior, 0.0), std::span{runs}.first(2), 1).empty());
  const std::vector<ToldError> errors = told_errors(without_runs(prior, 0.0), std::span{runs}.first(4), 1);
  REQUIRE(errors.size() == 80);  // two rows of the other configuration in each of 40 draws
  CHECK(told_errors(without_runs(prior, 0.0), std::span{runs}.first(4), 3).empty());
}

TEST_CASE("each configuration is given as often as the next") {
  PairTable prior{1};
  prior(0, 0) = 0.04;
  const std::vector<LeftOutRun> runs = family(0.2, 0.05);
  // Three configurations of two rows in 39 draws: each is given in 13, and its rows are predicted in the other 26.
  std::vector<int> predicted(6, 0);
  for (const ToldError& e : told_errors(without_runs(prior, 0.0), std::span{runs}.first(6), 1)) {
    ++predicted[e.run];
  }
  CHECK(predicted == std::vector<int>(6, 26));
}

TEST_CASE("the likeness of a family's runs is found in their errors") {
  // 60 families of six runs: pairs at one micro-batch share a discrepancy of 0.1 beside a noise of 0.03, or nothing.
  const auto families = [](double shared, double own) {
    std::mt19937_64 random{11};
    std::normal_distribution<double> normal{0.0, 1.0};
    PairTable prior{1};
    std::vector<LeftOutFamily> made;
    for (int f = 0; f < 60; ++f) {
      LeftOutFamily one{without_runs(prior, 1e-6), {}};
      double pair = 0.0;
      for (std::size_t i = 0; i < 6; ++i) {
        pair = i % 2 == 0 ? shared * normal(random) : pair;
        LeftOutRun run{i, std::to_string(i), {{0.0}, pair + own * normal(random), 0.0109}, 0.0109, {}};
        run.spread = run.told.variance;
        run.place.axes[5] = 10.0 * static_cast<double>(i / 2);
        one.runs.push_back(run);
      }
      made.push_back(std::move(one));
    }
    return made;
  };
  const FamilyLikeness like = likeness_of(families(0.1, 0.03));
  CHECK(like.length > 0.0);
  CHECK(like.alike >= 0.8);  // 0.01 of 0.0109
  CHECK(likeness_of(families(0.0, 0.1044)).alike <= 0.2);
  const auto off = [&](const FamilyLikeness& likeness) {
    double sum = 0.0;
    for (const LeftOutFamily& one : families(0.1, 0.03)) {
      for (const ToldError& e : told_errors(one.before, one.runs, 1, likeness)) {
        sum += std::abs(e.error);
      }
    }
    return sum;
  };
  CHECK(off(like) < 0.95 * off({}));  // one of the other five is the given run's like
}
