// SPDX-License-Identifier: Apache-2.0
// Measured runs of the user's own: how far they move the level, how far they narrow the interval, and which of them.
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "run_rows.hpp"
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

/// The study's: level .10, shape .13.
ClassErrors study() {
  ClassErrors errors;
  errors.level = 0.10;
  errors.shape = 0.13;
  return errors;
}

OwnRuns learned(const std::string& rows, const Scenario& scenario = run_scenario()) {
  const std::vector<RunFile> files{run_file(rows)};
  Diagnostics diagnostics;
  OwnRuns own = learn_from_runs(files, std::get<TrainScenario>(scenario.question), run_sources(), diagnostics);
  diagnostics.throw_if_any();
  return own;
}

std::string refused(const std::string& rows) {
  try {
    learned(rows);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// Our own price of the rows' job, in seconds.
double priced(const RunCells& cells = {}) {
  const std::vector<RunFile> files{run_file(run_row(cells))};
  return validate(files, {}, run_sources()).rows.front().prediction.predicted;
}

std::string text_of(double value) {
  return std::to_string(value);
}

Plan plan_with(std::optional<OwnRuns> own, bool explained = false) {
  return make_plan(run_scenario(), explained, PlanPart::all, {}, std::move(own));
}

/// The width that a measured run of the plan's job is said to leave.
std::optional<double> run_promise(const Plan& plan) {
  for (const NarrowingFact& fact : plan.confidence->narrowing) {
    if (fact.what.find("of this job") != std::string::npos) {
      return fact.width;
    }
  }
  return std::nullopt;
}

double step_of(const Plan& plan) {
  return std::get<TrainPlan>(plan.answer).step.mid.raw();
}

/// "mine.csv:LINE:COL: error: " of a column's cell.
std::string place(int line, const std::string& row, std::string_view column) {
  const std::string_view names = run_header;
  std::string_view name = names.substr(0, names.find("," + std::string{column} + ",") + 1);
  std::size_t at = 0;
  for (; !name.empty(); name.remove_prefix(name.find(',') + 1)) {
    at = row.find(',', at) + 1;
  }
  return "mine.csv:" + std::to_string(line) + ":" + std::to_string(at + 1) + ": error: ";
}

/// A file of the columns that a run of one's own needs at least.
OwnRuns learned_least(const std::string& row) {
  std::istringstream stream{"model,gpu,gpus,tp,pp,micro_batch,global_batch,seq_len,precision,metric,value\n" + row +
                            "\n"};
  const Scenario scenario = run_scenario();
  Diagnostics diagnostics;
  const std::vector<RunFile> files{read_runs(stream, "mine.csv", diagnostics)};
  OwnRuns own = learn_from_runs(files, std::get<TrainScenario>(scenario.question), run_sources(), diagnostics);
  diagnostics.throw_if_any();
  return own;
}

const UnusedRuns* unused(const OwnRuns& own, std::string_view why) {
  const auto found = std::find_if(own.unused.begin(), own.unused.end(),
                                  [&](const UnusedRuns& u) { return u.why.find(why) != std::string::npos; });
  return found == own.unused.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the interval narrows by the share of the variance that the level was") {
  // Three runs tell 3 / (3 + 1.69) of the level: variance left is .0169 + .01 x (1 - .6397) of .0269.
  const double left = std::sqrt((0.0169 + 0.01 * (1.69 / 4.69)) / 0.0269);
  CHECK(narrowed_width(0.23, 3.0 / 4.69, study()) == doctest::Approx(std::pow(1.23, left) - 1.0).epsilon(1e-12));
  CHECK(narrowed_width(0.23, 0.0, study()) == 0.23);
  // With the level known for certain the shape is left.
  CHECK(narrowed_width(0.23, 1.0, study()) == doctest::Approx(std::pow(1.23, 0.13 / std::sqrt(0.0269)) - 1.0));
}

TEST_CASE("a run that we price 20 % slow takes its shrunk share off the step and all that follows from it") {
  const double ours = priced();
  const OwnRuns own = learned(run_row({.value = text_of(ours / 1.2)}));
  CHECK(own.level.runs == 1);
  CHECK(own.slow() == doctest::Approx(0.2).epsilon(1e-5));
  CHECK(own.level.factor < 1.0);
  REQUIRE(own.own);

  const Plan bare = plan_with(std::nullopt);
  const Plan moved = plan_with(own);
  REQUIRE(moved.own_effect);
  const OwnEffect& effect = *moved.own_effect;
  CHECK(step_of(moved) / step_of(bare) == doctest::Approx(effect.step));
  // The plan is the run's own job: numbers, level and discrepancy are v of the v + s^2 that the error was expected to
  // have, of which the level has its variance, so that it takes level / (v + s^2) = level (1 - weight) / s^2.
  CHECK(effect.weight > 0.2);
  CHECK(effect.weight < 0.9);
  CHECK(effect.step == doctest::Approx(std::pow(1.2, -effect.weight)).epsilon(0.02));
  CHECK(own.own->after.level ==
        doctest::Approx(std::log(1.2) * -own.own->before.covariance(own.own->keyed.size(), own.own->keyed.size()) *
                        (1.0 - effect.weight) * own.own->weights[0] / own.own->noise)
            .epsilon(0.02));
  REQUIRE_FALSE(effect.moved.empty());
  for (std::size_t i = 0; i < effect.moved.size(); ++i) {
    CAPTURE(effect.moved[i].key);
    CHECK(effect.moved[i].step < 0.0);
    CHECK(effect.moved[i].was != effect.moved[i].now);
    CHECK((i == 0 || std::abs(effect.moved[i].step) <= std::abs(effect.moved[i - 1].step)));
  }
  const auto& before = std::get<TrainPlan>(bare.answer);
  const auto& after = std::get<TrainPlan>(moved.answer);
  CHECK(after.tokens_per_s.mid * effect.step == doctest::Approx(before.tokens_per_s.mid));
  CHECK(after.mfu.mid * effect.step == doctest::Approx(before.mfu.mid));
  CHECK(after.memory.mid == before.memory.mid);
  CHECK(after.step.high / after.step.mid < before.step.high / before.step.mid);
}

TEST_CASE("a run moves the numbers that its own step depends on") {
  const auto by_of = [](const OwnRuns& own, std::string_view name) {
    const std::vector<std::string>& keys = step_posterior(test::model_data()).keys;
    return own.own->after.by[static_cast<std::size_t>(std::find(keys.begin(), keys.end(), name) - keys.begin())];
  };
  // Few tokens a GPU on many hosts, of which gradients take much; and one host without a NIC.
  const RunCells wide{.seq_len = "2048", .gpus = "512", .dp = "256", .global_batch = "256", .value = "300"};
  const RunCells host{.gpus = "8", .dp = "4", .global_batch = "128", .value = "300"};
  const auto off = [](RunCells cells) {
    const double ours = priced(cells);
    cells.value = text_of(ours * 1.2);
    return learned(run_row(cells));
  };
  const double by_wide = by_of(off(wide), "physics.nic");
  CHECK(by_wide < 0.0);  // longer: the network is slower
  CHECK(std::abs(by_of(off(host), "physics.nic")) < 0.2 * std::abs(by_wide));
  CHECK(std::abs(by_of(off(host), "level.products_16_bit")) > std::abs(by_of(off(wide), "level.products_16_bit")));
}

TEST_CASE("runs tell a software's numbers of the networks that they are of, whatever class their errors are in") {
  const std::vector<std::string>& keys = step_posterior(test::model_data()).keys;
  const auto norms = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), "stack.elementwise") - keys.begin());
  REQUIRE(norms < keys.size());
  const auto by_norms = [&](const std::vector<std::string>& more, RunClass run_class) {
    const Plan plan = make_plan(run_scenario(more), false);
    REQUIRE(plan.confidence->run_class == run_class);
    const auto& train = std::get<TrainScenario>(plan.scenario.question);
    const auto& answer = std::get<TrainPlan>(plan.answer);
    const OwnNumbers own = numbers_without_runs(train, run_class);
    return step_derivative(train, own, answer.strategy, answer.groups, {})[norms];
  };
  CHECK(by_norms({}, RunClass::dense) != 0.0);
  CHECK(by_norms({"hardware.gpu=mi300x"}, RunClass::other_kernels) != 0.0);
  CHECK(by_norms({"model=mixtral-8x7b", "strategy.tp=8", "training.method=lora", "training.software=megatron-bridge"},
                 RunClass::adapters) != 0.0);
}

TEST_CASE("a run that the others contradict is named with its line") {
  const double ours = priced();
  const double twice = priced({.global_batch = "256"});
  const std::string rows = run_row({.value = text_of(ours)}) +
                           run_row({.global_batch = "256", .value = text_of(3.0 * twice)}) +
                           run_row({.seq_len = "4096", .value = text_of(priced({.seq_len = "4096"}))});
  const OwnRuns own = learned(rows);
  REQUIRE(own.odd.size() == 1);
  CHECK(own.odd.front().line == 3);
  CHECK(own.odd.front().slow < -0.3);
  // Three standard deviations off, or more: 5 / (4 + 9) of a run at most. Those that agree count in full.
  CHECK(own.odd.front().weight > 0.0);
  CHECK(own.odd.front().weight < 5.0 / (4.0 + 9.0));
  CHECK(own.less.empty());
  CHECK(learned(run_row({.value = text_of(ours)})).odd.empty());
}

TEST_CASE("a run that lies apart from many others counts as less than one, and is told with its line") {
  // Eight runs as we price them, and one that took a third longer.
  const auto row = [](const std::string& batch, double longer) {
    RunCells cells{.global_batch = batch, .value = "300"};
    cells.value = text_of(longer * priced(cells));
    return run_row(cells);
  };
  std::string rows;
  for (const char* batch : {"128", "256", "384", "512", "640", "768", "896", "1024"}) {
    rows += row(batch, 1.0);
  }
  rows += row("1152", 4.0 / 3.0);
  const OwnRuns own = learned(rows);
  REQUIRE(own.odd.size() + own.less.size() == 1);
  const OddRun& run = own.odd.empty() ? own.less.front() : own.odd.front();
  CHECK(run.line == 10);
  CHECK(run.weight < 1.0);
  CHECK(run.slow < 0.0);
}

TEST_CASE("numbers that the runs cannot tell apart are named, and no longer once they can") {
  const Plan one = plan_with(learned(run_row({.value = text_of(priced() / 1.2)})));
  REQUIRE(one.own_effect->moved.size() > 1);
  REQUIRE(one.own_effect->alike.size() == 1);  // one run says one thing
  for (const MovedNumber& number : one.own_effect->moved) {
    CHECK(one.own_effect->alike.front().find(number.key) != std::string::npos);
  }
  // Of eight times the sequence attention is most of a step, and this one is slower than ours.
  RunCells far{.seq_len = "65536", .dp = "8", .tp = "8", .global_batch = "16", .value = "300"};
  far.value = text_of(priced(far) * 1.2);
  const Plan two = plan_with(learned(run_row({.value = text_of(priced() / 1.2)}) + run_row(far)));
  const auto together = [](const OwnEffect& effect, std::string_view a, std::string_view b) {
    return std::any_of(effect.alike.begin(), effect.alike.end(), [&](const std::string& set) {
      return set.find(a) != std::string::npos && set.find(b) != std::string::npos;
    });
  };
  CHECK_FALSE(together(*two.own_effect, "attention", "products_16_bit"));
}

TEST_CASE("more runs leave less unknown") {
  const std::string one = run_row({.value = text_of(priced() / 1.1)});
  const std::string two =
      one + run_row({.global_batch = "256", .value = text_of(priced({.global_batch = "256"}) / 1.1)});
  const Plan first = plan_with(learned(one));
  const Plan second = plan_with(learned(two));
  CHECK(second.own_effect->weight > first.own_effect->weight);
  CHECK(second.own_effect->step < first.own_effect->step);
  CHECK(second.confidence->width < first.confidence->width);
  CHECK(first.confidence->width < plan_with(std::nullopt).confidence->width);
}

TEST_CASE("eleven columns say of a run what the whole row says, and what they leave out is told") {
  const OwnRuns whole = learned(run_row({}));
  const OwnRuns least = learned_least("llama3-8b,h100-sxm-80gb,64,2,1,1,128,8192,bf16,step_time_s,3");
  CHECK(least.rows == 1);
  // Recomputation and vpp are open where no column states them; what fits without takes neither.
  CHECK(std::abs(least.level.mean_error - whole.level.mean_error) < 0.02);
  REQUIRE(least.assumed.size() == 1);
  CHECK(least.assumed.front().find("this plan's software") != std::string::npos);
  CHECK(whole.assumed.empty());
  const Plan plan = plan_with(least);
  CHECK(std::find(plan.notes.begin(), plan.notes.end(), least.assumed.front()) != plan.notes.end());
}

TEST_CASE("dp that the columns leave out is what the other axes leave of the GPUs") {
  CHECK_THROWS_WITH(learned_least("llama3-8b,h100-sxm-80gb,60,8,1,1,128,8192,bf16,step_time_s,3"),
                    doctest::Contains("'gpus' is 60, but dp x tp x pp x cp is 7 x 8 x 1 x 1"));
}

TEST_CASE("runs that we price exactly move nothing, and still narrow the interval") {
  std::ostringstream exact;
  exact.precision(17);
  exact << priced();
  const OwnRuns own = learned(run_row({.value = exact.str()}));
  CHECK(own.level.factor == 1.0);
  const Plan plan = plan_with(own);
  CHECK(step_of(plan) == step_of(plan_with(std::nullopt)));
  CHECK(plan.confidence->width < plan.confidence->errors.width_80);
}

TEST_CASE("the terms add up to the moved step, and explain has a line of its own for it") {
  const OwnRuns own = learned(run_row({.value = text_of(priced() / 0.8)}));
  const Plan plan = plan_with(own, true);
  const Estimate& e = std::get<TrainPlan>(plan.answer).estimate;
  CHECK(e.time.total() == e.step);
  CHECK(e.time[Term::measured_level].raw() > 0.0);
  CHECK(step_of(plan_with(own, false)) == step_of(plan));
  const auto line = std::find_if(plan.explain.begin(), plan.explain.end(),
                                 [](const ExplainEntry& entry) { return entry.name == "level of your runs"; });
  REQUIRE(line != plan.explain.end());
  CHECK(line->value == e.time[Term::measured_level].raw());
}

TEST_CASE("runs without the level move nothing, narrow nothing and say nothing") {
  TermSet without;
  without.add(Term::measured_level);
  const OwnRuns own = learned(run_row({.value = text_of(priced() / 0.8)}));
  const Plan plan = make_plan(run_scenario(), false, PlanPart::all, without, own);
  const Plan bare = plan_with(std::nullopt);
  CHECK(step_of(plan) == step_of(bare));
  CHECK(plan.confidence->width == bare.confidence->width);
  CHECK(plan.confidence->width == plan.confidence->errors.width_80);
  CHECK_FALSE(plan.own_effect);
  CHECK_FALSE(run_promise(make_plan(run_scenario(), false, PlanPart::all, without)));  // a run would do as little
}

TEST_CASE("a strategy that breaks a rule has no step that runs could move") {
  const std::vector<std::string> broken{"strategy.tp=3"};
  const OwnRuns own = learned(run_row({.value = text_of(priced() / 1.2)}));
  const Plan plan = make_plan(run_scenario(broken), false, PlanPart::all, {}, own);
  REQUIRE_FALSE(std::get<TrainPlan>(plan.answer).problems.empty());
  CHECK_FALSE(plan.own_effect);
  CHECK(plan.confidence->width == plan.confidence->errors.width_80);
  CHECK(plan.confidence->narrowing.empty());
}

TEST_CASE("a run of the job narrows the interval as far as the plan without it promised") {
  // Off by less than its noise, it counts in full; a run far off counts less, and leaves more.
  const std::string job = run_row({.value = text_of(priced() / 1.05)});
  const std::optional<double> first = run_promise(plan_with(std::nullopt));
  REQUIRE(first);
  const Plan far = plan_with(learned(run_row({.value = text_of(priced() / 1.5)})));
  CHECK(far.confidence->width > 1.02 * *first);
  CHECK(far.confidence->width < far.confidence->errors.width_80);
  CHECK(plan_with(learned(job)).confidence->width == doctest::Approx(*first).epsilon(1e-3));
  // A run of another job leaves more for one of this job to say, and less than no run left.
  const std::string other = run_row({.gpus = "512", .dp = "256", .global_batch = "256", .value = "2"});
  const Plan known = plan_with(learned(other));
  const std::optional<double> second = run_promise(known);
  REQUIRE(second);
  CHECK(*second < known.confidence->width);
  CHECK(*second < *first);
  CHECK(plan_with(learned(other + job)).confidence->width == doctest::Approx(*second).epsilon(1e-3));
  // Repeats of a run count once.
  CHECK_FALSE(run_promise(plan_with(learned(job))));
}

TEST_CASE("times, throughputs, FLOP rates and MFU say the same") {
  const double ours = priced();
  const double theirs = ours / 1.1;
  const OwnRuns by_time = learned(run_row({.value = text_of(theirs)}));
  for (const char* metric : {"tokens_per_s_per_gpu", "samples_per_s", "model_tflops_per_gpu", "mfu"}) {
    CAPTURE(metric);
    const double rate = priced({.metric = metric, .value = "0.1"}) * 1.1;
    CHECK(learned(run_row({.metric = metric, .value = text_of(rate)})).level.mean_error ==
          doctest::Approx(by_time.level.mean_error).epsilon(1e-3));
  }
}

TEST_CASE("several metrics or repeats of one configuration are one run") {
  const double ours = priced();
  const double rate = priced({.metric = "tokens_per_s_per_gpu"});
  const OwnRuns own = learned(run_row({.id = "a", .value = text_of(ours / 1.1)}) +
                              run_row({.id = "b", .metric = "tokens_per_s_per_gpu", .value = text_of(rate * 1.1)}) +
                              run_row({.id = "c", .value = text_of(ours / 1.3)}));
  CHECK(own.rows == 3);
  CHECK(own.level.runs == 1);
  CHECK(own.level.mean_error == doctest::Approx((2 * std::log(1.1) + std::log(1.3)) / 3).epsilon(1e-4));
  const OwnRuns two = learned(run_row({.value = text_of(ours)}) + run_row({.global_batch = "256", .value = "6"}));
  CHECK(two.level.runs == 2);
}

TEST_CASE("rows of another SKU, software or class, of memory and in doubt are listed and move nothing") {
  const std::string good = run_row({.value = text_of(priced() / 1.1)});
  const OwnRuns alone = learned(good);
  const OwnRuns own = learned(
      good + run_row({.gpu = "A100-SXM4-80GB", .value = "12"}) + run_row({.framework = "torchtitan", .value = "9"}) +
      run_row({.gpu = "A100-SXM4-80GB", .framework = "torchtitan", .value = "12"}) +
      run_row({.experts = "2", .value = "9"}) + run_row({.options = "method=lora", .value = "3"}) +
      run_row({.metric = "memory_gib_per_gpu", .value = "40"}) + run_row({.value = "9", .notes = "CHECK"}) +
      run_row({.framework = "Megatorn-Core", .value = "9"}) + run_row({.gpu = "H100", .value = "9"}) +
      run_row({.metric = "loss", .value = "2"}) + run_row({.gpu = "A100-SXM4-80GB", .value = "13"}));
  CHECK(own.level.mean_error == alone.level.mean_error);
  CHECK(own.level.runs == 1);
  REQUIRE(unused(own, "another SKU"));
  CHECK(unused(own, "another SKU")->what == "a100-sxm-80gb under megatron-core");
  CHECK(unused(own, "another SKU")->rows == 2);
  CHECK(unused(own, "another software"));
  CHECK(unused(own, "another SKU and another software"));
  CHECK(unused(own, "another class: network with experts"));
  CHECK(unused(own, "another class: adapters"));
  CHECK(unused(own, "memory tells no time"));
  CHECK(unused(own, "notes say CHECK"));
  REQUIRE(unused(own, "no software known here"));
  CHECK(unused(own, "no software known here")->why.find("'Megatron-Core'") != std::string::npos);
  CHECK(unused(own, "'loss'"));
}

TEST_CASE("what a run cannot be is refused with its place, all problems at once") {
  const std::string gpus = run_row({.gpus = "48"});
  const std::string batch = run_row({.global_batch = "100"});
  const std::string broken = run_row({.micro_batch = "8k"});
  const std::string blank = run_row({.dp = "", .framework = ""});
  const std::string fast = run_row({.value = "0.0003"});
  const std::string text = refused(gpus + batch + broken + blank + fast);
  const auto says = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(says(place(2, gpus, "gpus") + "'gpus' is 48, but dp x tp x pp x cp is 32 x 2 x 1 x 1"));
  CHECK(
      says(place(3, batch, "global_batch") + "'global_batch' is 100, which does not divide by dp x micro_batch = 32"));
  CHECK(says(place(4, broken, "micro_batch") + "'micro_batch' is '8k', no integer"));
  CHECK(says(place(5, blank, "dp") + "'dp' is empty"));
  CHECK(says(place(5, blank, "framework") + "'framework' is empty"));
  CHECK(says(place(6, fast, "value") + "'value' is '0.0003' of step_time_s: faster than the roofline by"));
}

TEST_CASE("a value that is no number is refused with its place") {
  for (const char* value : {"nan", "inf", "-1", "0", "fast"}) {
    CAPTURE(value);
    const std::string row = run_row({.value = value});
    CHECK(refused(row).find(place(2, row, "value")) != std::string::npos);
  }
}

TEST_CASE("the bound is what the arithmetic needs at the peak, and nothing faster is a measurement") {
  // 6 FLOP a weight and token but for the embedding, and three passes of 4 s h over half the scores of a layer.
  const double weights = 32 * (2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336) + 128256.0 * 4096;
  const double scores = 32 * 3 * 0.5 * 4.0 * 8192 * 4096;
  const double least = (6.0 * weights + scores) * 128 * 8192 / 64 / 989.4e12;
  CHECK(refused(run_row({.value = text_of(0.99 * least)})).find("faster than the roofline by 1.01x") !=
        std::string::npos);
  CHECK(refused(run_row({.value = text_of(1.01 * least)})).empty());
  // An MFU in per cent is the commonest case.
  CHECK(refused(run_row({.metric = "mfu", .value = "42"})).find("check units") != std::string::npos);
}

TEST_CASE("no run that matches is an error that names what is needed and what there is") {
  const std::string text = refused(run_row({.gpu = "A100-SXM4-80GB", .value = "12"}));
  CHECK(text.find("needed are times or throughputs on h100-sxm-80gb under megatron-core") != std::string::npos);
  CHECK(text.find("1 row: a100-sxm-80gb under megatron-core, another SKU") != std::string::npos);
  CHECK(refused("").find("there are no rows") != std::string::npos);
}

TEST_CASE("remedies of a moved plan are priced as plans of their own with the same runs are") {
  const std::vector<std::string> tight{"model=llama3-70b", "hardware.gpus=64", "strategy.tp=4"};
  const OwnRuns own = learned(run_row({.value = text_of(priced() / 1.2)}), run_scenario(tight));
  const Scenario scenario = run_scenario(tight);
  const Plan moved = make_plan(scenario, false, PlanPart::all, {}, own);
  const std::vector<Remedy>& remedies = std::get<TrainPlan>(moved.answer).remedies;
  REQUIRE_FALSE(remedies.empty());
  for (const Remedy& remedy : remedies) {
    const Scenario mended = changed(scenario, remedy.changes);
    REQUIRE(std::get<TrainScenario>(mended.question).software.id == own.software);
    const Plan plan = make_plan(mended, false, PlanPart::all, {}, own);
    CHECK(std::get<TrainPlan>(plan.answer).estimate.step == remedy.step);
    CHECK(std::get<TrainPlan>(make_plan(mended, false).answer).estimate.step > remedy.step);  // runs were faster
  }
}
