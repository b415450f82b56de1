// SPDX-License-Identifier: Apache-2.0
// The long run of a scenario: published questions and runs through its keys, and what failures do to days and dollars.
#include <headroom/answers/views/render.hpp>
#include <headroom/core/date.hpp>
#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/compare/scaling.hpp>
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <random>

using namespace headroom;
using headroom::test::near;
using headroom::test::sources;

namespace {

using Texts = std::vector<std::string>;

Texts keys(const Texts& more, const std::string& gpus = "1024") {
  Texts all{"kind=train",
            "model=llama3-8b",
            "hardware.gpu=h100-sxm-80gb",
            "hardware.gpus=" + gpus,
            "training.seq_len=8192",
            "training.global_batch=1024",
            "training.precision=bf16",
            "training.software=megatron-core-te",
            "training.tokens=2e13",
            "strategy.tp=2",
            "strategy.micro_batch=1",
            "strategy.recompute=full"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Scenario scenario(const Texts& more, const std::string& gpus = "1024") {
  return scenario_from_overrides(keys(more, gpus), sources());
}
Plan plan(const Texts& more, const std::string& gpus = "1024") {
  return make_plan(scenario(more, gpus), true);
}
const TrainPlan& train(const Plan& p) {
  return std::get<TrainPlan>(p.answer);
}
const RunOutlook& outlook(const Plan& p) {
  REQUIRE(train(p).outlook);
  return *train(p).outlook;
}

/// 60 s to write, of anything.
const Texts minute_to_save{"goodput.checkpoint=60 GB", "goodput.checkpoint_store=1 GB/s"};

Texts with(const Texts& a, const Texts& b) {
  Texts all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::string problems(const Texts& more) {
  try {
    static_cast<void>(scenario(more));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

bool has(const Texts& notes, std::string_view part) {
  const bool found = std::any_of(notes.begin(), notes.end(),
                                 [&](const std::string& note) { return note.find(part) != std::string::npos; });
  if (!found) {
    for (const std::string& note : notes) {
      MESSAGE(note);
    }
  }
  return found;
}

double sum(const RunOutlook& o) {
  const goodput::TimeShares& s = o.shares;
  return s.useful + s.saving + s.rework + s.recovery + s.slower + s.waiting + o.evaluation;
}

}  // namespace

TEST_CASE("in a scenario 1,024 GPUs of 50,000 h and 60 s to save are 48.8 h, 4,593 s and 2.6 %") {
  const Plan p =
      plan(with(minute_to_save, {"goodput.mtbf_per_gpu=50000 h", "goodput.detection=0 s", "goodput.restart=0 s"}));
  const RunOutlook& o = outlook(p);
  CHECK(o.mtbf.mid / hour == near(48.8, 0.001));
  CHECK(o.stall.raw() == near(60.0));
  CHECK(o.young.raw() == near(4593.0, 1e-4));
  CHECK(o.run.interval.raw() == near(4593.0, 0.01));  // the exact optimum beside Young's
  CHECK(o.shares.saving + o.shares.rework == near(0.026, 0.02));
  CHECK(o.ratio.mid == near(1.0 / 1.0262, 0.001));
  CHECK(o.ratio.low == o.ratio.high);  // a stated rate has no spread of its own
}

TEST_CASE("in a scenario 28 GB through one writer of 2 GB/s take 14 s, through 64 0.22 s of 0.44 GB each") {
  const Texts base{"goodput.mtbf_per_gpu=50000 h", "goodput.detection=0 s", "goodput.restart=10 min",
                   "goodput.checkpoint_writer=2 GB/s", "goodput.checkpoint=28 GB"};
  CHECK(outlook(plan(with(base, {"goodput.writers=1"}))).run.save.write.raw() == near(14.0));
  const Plan sharded = plan(with(base, {"goodput.writers=64"}));
  CHECK(outlook(sharded).run.save.of_writer.raw() == near(0.4375e9));
  CHECK(plan_text(sharded).find("26.1 GiB, 417 MiB by each of 64 writers, 219 ms to write") != std::string::npos);
  CHECK(outlook(sharded).run.save.write.raw() == near(14.0 / 64.0));
}

TEST_CASE("a checkpoint that is not stated: weights and optimizer states, of adapters what is trained") {
  const Texts base{"goodput.mtbf_per_gpu=50000 h", "goodput.detection=0 s", "goodput.restart=10 min",
                   "goodput.checkpoint_store=100 GB/s"};
  const Plan full = plan(base);
  // 8.03 G parameters of 2 + 12 bytes.
  CHECK(outlook(full).run.save.total.raw() == near(8.0303e9 * 14.0, 1e-4));
  CHECK(has(full.notes, "goodput.checkpoint = 105 GiB (weights and optimizer states, 14.0 bytes a parameter)"));
  // Rank 16 on every matrix of an 8B: 41.9 M parameters.
  const Plan adapters = plan(with(base, {"training.method=lora", "training.lora_rank=16"}));
  CHECK(outlook(adapters).run.save.total.raw() == near(41.94e6 * 14.0, 0.001));
}

TEST_CASE("in a scenario 148.8 s of waiting become the 6.3 s of the copy") {
  const Texts base{"goodput.mtbf_per_gpu=50000 h",
                   "goodput.detection=0 s",
                   "goodput.restart=10 min",
                   "goodput.checkpoint=98 GB",
                   "goodput.checkpoint_store=658.6 MB/s",
                   "goodput.interval=1 h"};
  const double waits = outlook(plan(base, "8")).stall.raw();
  const double copies =
      outlook(plan(with(base, {"goodput.asynchronous=true", "goodput.copy=1.944 GB/s"}), "8")).stall.raw();
  CHECK(waits == near(148.8, 0.001));
  CHECK(copies == near(6.3, 0.001));
  CHECK(waits / copies == near(23.6, 0.002));
  // Not stated, the copy goes over the SKU's own link: PCIe 5 of 16 lanes.
  const Plan linked = plan(with(base, {"goodput.asynchronous=true"}), "8");
  CHECK(has(linked.notes, "goodput.copy = "));
  CHECK(outlook(linked).run.save.copy.raw() == near(98e9 / 8.0 / 64e9, 0.05));
}

TEST_CASE("in a scenario spot at 0.3, preempted every 6 h, saved in 1 min each 30, back in 10: 0.331 of on-demand") {
  const Texts spot = with(minute_to_save, {"goodput.preemptions_every=6 h", "goodput.interval=30 min",
                                           "goodput.detection=0 s", "goodput.restart=10 min", "money.price=0.3 $/h"});
  const Plan p = plan(spot);
  CHECK(outlook(p).ratio.mid == near(0.907, 0.01));  // which is first order; what fails again comes on top
  const double hours_of_work = 1024.0 * (train(p).duration.mid / hour);
  CHECK(train(p).cost.mid.raw() / hours_of_work == near(0.331, 0.01));
  CHECK(train(p).cost_per_million_tokens.mid.raw() == near(train(p).cost.mid.raw() / 2e7));
  CHECK(has(p.notes, "goodput.failures: none counted"));
  // Held against on-demand a dollar buys 0.907 / 0.3 of it.
  std::vector<Scenario> both;
  both.push_back(scenario({"money.price=1 $/h"}));
  both.push_back(scenario(spot));
  const Comparison c = compare_plans(std::move(both), {});
  REQUIRE(c.ranking.front().offer == 1);
  CHECK(c.ranking[0].samples_per_dollar / c.ranking[1].samples_per_dollar == near(1.0 / 0.331, 0.01));
  // A deadline that the training alone would keep.
  std::vector<Scenario> again;
  again.push_back(scenario({"money.price=1 $/h"}));
  again.push_back(scenario(spot));
  Objectives deadline;
  deadline.duration = 1.01 * train(p).duration.mid;
  const Comparison late = compare_plans(std::move(again), deadline);
  CHECK(late.ranking.front().offer == 0);
  CHECK(late.ranking.back().standing == Standing::misses);
}

TEST_CASE("scale: what a dollar buys at each count is of the calendar, efficiency of the step") {
  const Texts base{"money.price=1 $/h"};
  const Texts failing{"money.price=1 $/h", "goodput.failures=opt-175b", "goodput.checkpoint_store=1 GB/s",
                      "goodput.detection=10 min", "goodput.restart=30 min"};
  scaling::Request request;
  request.from = 256;
  request.to = 1024;
  const scaling::Curve free = scaling::scaling_curve(scenario(base), request);
  const scaling::Curve counted = scaling::scaling_curve(scenario(failing), request);
  REQUIRE(counted.points.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const scaling::Point& point = counted.points[i];
    REQUIRE(point.train().outlook);
    CHECK(point.efficiency == free.points[i].efficiency);
    CHECK(point.samples_per_dollar == near(free.points[i].samples_per_dollar * point.train().outlook->ratio.mid));
  }
  CHECK(counted.points[2].train().outlook->ratio.mid < counted.points[0].train().outlook->ratio.mid);
}

TEST_CASE("in a scenario 48.8 h, 15 min to detect and restart, 76 min between saves: 1.8 % on top of saving") {
  const Plan p = plan(with(minute_to_save, {"goodput.mtbf_job=48.8 h", "goodput.interval=76 min",
                                            "goodput.detection=5 min", "goodput.restart=10 min"}));
  const RunOutlook& o = outlook(p);
  CHECK(o.shares.rework + o.shares.recovery == near(0.018, 0.03));
  CHECK(sum(o) == near(1.0));
}

TEST_CASE("Llama 3's 54 days as a scenario: 419 failures, more than 90 % effective, both ways") {
  const std::string file = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/train/llama3-405b-54-days.toml";
  const Plan p = make_plan(load_scenario(file, {}, sources()), false);
  const RunOutlook& o = outlook(p);
  CHECK(o.mtbf.mid / hour == near(54.0 * 24.0 / 419.0));
  CHECK(o.run.save.total.raw() == near(405.85e9 * 14.0, 0.001));
  CHECK(o.run.save.write.raw() == near(405.85 * 14.0 / 2000.0, 0.001));
  CHECK(o.ratio.low > 0.90);
  CHECK(o.ratio.high < 1.0);
  // Whatever the step makes of the tokens: in 54 days so many.
  CHECK(o.failures * (54.0 * day / o.completion.mid) == near(419.0, 0.001));
  REQUIRE(o.simulated);
  CHECK(o.simulated->failures * (54.0 * day / o.simulated->mean) == near(419.0, 0.02));
  CHECK(std::abs(o.disagreement()) < 0.02);
  CHECK(sum(o) == near(1.0));
  REQUIRE(o.end);
  CHECK(o.end->low < o.end->mid);
  CHECK(o.end->mid < o.end->high);
  CHECK(o.end->mid == *date_after(*parse_date("2024-04-01"), o.calendar.mid / day));
}

TEST_CASE("days, GPU-hours and dollars are those of the calendar, wider than the step alone") {
  const Texts failing{"goodput.failures=published", "goodput.checkpoint_store=100 GB/s", "goodput.detection=5 min",
                      "goodput.restart=10 min", "money.price=2 $/h"};
  const Plan p = plan(failing), free = plan({"money.price=2 $/h"});
  const TrainPlan& t = train(p);
  CHECK(t.duration.mid == train(free).duration.mid);
  CHECK(t.calendar.mid == outlook(p).completion.mid);
  CHECK(t.duration.mid / t.calendar.mid == near(outlook(p).ratio.mid));
  CHECK(t.gpu_hours.mid == near(1024.0 * (t.calendar.mid / hour)));
  CHECK(t.cost.high.raw() == near(2.0 * 1024.0 * (t.calendar.high / hour)));
  CHECK(t.calendar.high / t.calendar.mid > t.duration.high / t.duration.mid);
  CHECK(t.calendar.low / t.calendar.mid < t.duration.low / t.duration.mid);
  // Lowest and highest published rate.
  const goodput::FailureRate& opt = goodput::failure_rate("opt-175b");
  CHECK(outlook(p).mtbf.low.raw() == near(goodput::job_mtbf(opt.per_gpu.mid, 1024).raw()));
  CHECK(outlook(p).ratio.low < outlook(p).ratio.mid);
  CHECK(outlook(p).ratio.mid < outlook(p).ratio.high);
}

TEST_CASE("without [goodput] nothing changes, and the plan says what it left out") {
  const Plan p = plan({"money.price=2 $/h"}, "512");
  CHECK_FALSE(train(p).outlook);
  CHECK(train(p).calendar.high == train(p).duration.high);
  CHECK(train(p).useful() == 1.0);
  // 60 days x 992 / 90 restarts and 8,000 / 2.34 node-days over 512 GPUs.
  CHECK(has(p.notes, "failures: none counted; at the published rates a job of 512 GPUs stops every 31 to 160 h"));
}

TEST_CASE("independent errors: squares of the logarithms add, side by side") {
  const Interval<Seconds> all =
      combined({Seconds{95.0}, Seconds{100.0}, Seconds{105.0}}, {Seconds{90.0}, Seconds{100.0}, Seconds{120.0}}, 0.3);
  // ln 1.3 = 0.2624, ln 1.05 = 0.0488, ln 1.2 = 0.1823: root of the sum of squares 0.3232.
  CHECK(all.high.raw() == near(138.154, 1e-4));
  // ln 0.95 = -0.0513, ln 0.9 = -0.1054: 0.2873.
  CHECK(all.low.raw() == near(75.025, 1e-4));
  CHECK(all.mid == Seconds{100.0});
  // Drawn: a product of three lognormal factors whose 80 % are those widths.
  constexpr double z = 1.2815515655446004;
  std::mt19937_64 engine{11};
  std::normal_distribution<double> normal;
  std::vector<double> drawn(200'000);
  for (double& value : drawn) {
    value =
        100.0 *
        std::exp((std::log(1.3) * normal(engine) + std::log(1.05) * normal(engine) + std::log(1.2) * normal(engine)) /
                 z);
  }
  std::nth_element(drawn.begin(), drawn.begin() + 180'000, drawn.end());
  CHECK(drawn[180'000] == near(all.high.raw(), 0.005));
}

TEST_CASE("going on without a host: what the plan keeps on the GPUs that are left, where its batch runs there") {
  const Texts elastic{"training.global_batch=1792", "training.seq_len=2048",      "strategy.tp=1",
                      "strategy.micro_batch=4",     "goodput.failures=published", "goodput.checkpoint_store=10 GB/s",
                      "goodput.detection=5 min",    "goodput.restart=10 min",     "goodput.repair=24 h",
                      "goodput.may_miss=1"};
  const Plan p = plan(with(elastic, {"training.elastic=[56]"}), "64");
  REQUIRE(train(p).advice.elastic.size() == 1);
  const double kept = train(p).advice.elastic.front().kept;
  REQUIRE(outlook(p).run.recovery.kept);
  CHECK(*outlook(p).run.recovery.kept == near(kept));
  CHECK(kept == near(7.0 / 8.0, 0.02));
  CHECK(has(p.notes, "(this plan on 56 GPUs, its batch kept)"));
  CHECK(outlook(p).shares.slower > 0.0);
  // 504 of 512 GPUs do not divide by 7 x 8 replicas of the batch: the share of the hosts.
  const Plan share = plan(with(elastic, {"training.global_batch=1024"}), "64");
  CHECK_FALSE(outlook(share).run.recovery.kept);
  CHECK(outlook(share).run.recovery.rate(1) == near(7.0 / 8.0));
  CHECK(has(share.notes, "the batch cannot be kept on 56 GPUs: global batch 1024 does not divide by dp 56"));
  const Plan stated = plan(with(elastic, {"goodput.kept=0.8"}), "64");
  CHECK(*outlook(stated).run.recovery.kept == 0.8);
  CHECK(outlook(stated).ratio.mid < outlook(p).ratio.mid);
}

TEST_CASE("spare hosts stand by, shorten the waiting and are paid for") {
  const Texts waiting{"goodput.failures=opt-175b", "goodput.checkpoint_store=100 GB/s",
                      "goodput.detection=5 min",   "goodput.restart=10 min",
                      "goodput.repair=24 h",       "money.price=2 $/h"};
  const Plan none = plan(waiting), two = plan(with(waiting, {"goodput.spares=8"}));
  CHECK(outlook(none).shares.waiting > 0.5);
  CHECK(outlook(two).shares.waiting < 0.01);
  CHECK(train(two).gpu_hours.mid == near((1024.0 + 64.0) * (train(two).calendar.mid / hour)));
  CHECK(train(two).cost.mid.raw() == near(2.0 * train(two).gpu_hours.mid));
  CHECK(has(two.notes, "spare hosts are paid for: 1088 GPUs"));
}

TEST_CASE("evaluation is a share of the time beside training: 12 minutes every 1,000 steps") {
  const Texts base{"goodput.failures=published", "goodput.checkpoint_store=100 GB/s", "goodput.detection=5 min",
                   "goodput.restart=10 min"};
  const Plan never = plan(base),
             often = plan(with(base, {"goodput.evaluation=12 min", "goodput.evaluation_every=1000"}));
  const double step = train(often).estimate.step.raw();
  CHECK(outlook(often).evaluation / outlook(often).shares.useful == near(720.0 / (1000.0 * step)));
  CHECK(outlook(often).ratio.mid < outlook(never).ratio.mid);
  CHECK(sum(outlook(often)) == near(1.0));
  CHECK(train(often).calendar.mid / train(never).calendar.mid == near(1.0 + 720.0 / (1000.0 * step), 1e-4));
}

TEST_CASE("saves every so many steps follow the step") {
  const Texts base{"goodput.failures=published", "goodput.checkpoint_store=100 GB/s", "goodput.detection=5 min",
                   "goodput.restart=10 min", "goodput.interval_steps=100"};
  const Plan p = plan(base);
  CHECK(outlook(p).run.interval.raw() == near(100.0 * train(p).estimate.step.raw()));
}

TEST_CASE("a sweep's units are those of the calendar") {
  const Plan p = plan({"goodput.failures=published", "goodput.checkpoint_store=100 GB/s", "goodput.detection=5 min",
                       "goodput.restart=10 min", "sweep.configurations=81", "sweep.max_resource=81"});
  REQUIRE(train(p).advice.sweep);
  CHECK(train(p).advice.sweep->duration.mid.raw() == near(5.0 * train(p).calendar.mid.raw()));
  CHECK(train(p).advice.sweep->gpu_hours.mid == near(5.0 * train(p).gpu_hours.mid));
}

TEST_CASE("explain has a line for each number of the run") {
  const Plan p = plan({"goodput.failures=published", "goodput.checkpoint_store=100 GB/s", "goodput.detection=5 min",
                       "goodput.restart=10 min"});
  const auto line = [&](std::string_view name) {
    const auto found =
        std::find_if(p.explain.begin(), p.explain.end(), [&](const ExplainEntry& entry) { return entry.name == name; });
    REQUIRE_MESSAGE(found != p.explain.end(), name);
    return found->value;
  };
  const RunOutlook& o = outlook(p);
  CHECK(line("mtbf") == o.mtbf.mid.raw());
  CHECK(line("checkpoint_write") == o.run.save.write.raw());
  CHECK(line("checkpoint_interval") == o.run.interval.raw());
  CHECK(line("completion") == o.completion.mid.raw());
  CHECK(line("goodput") == o.ratio.mid);
  CHECK(line("calendar_high") == o.calendar.high.raw());
}

TEST_CASE("a search judges by the calendar: its best is the plan's own time, and a deadline counts failures") {
  const Texts job{"schema=1",
                  "kind=\"train\"",
                  "model=llama3-8b",
                  "hardware.gpu=h100-sxm-80gb",
                  "hardware.gpus=64",
                  "training.seq_len=8192",
                  "training.global_batch=512",
                  "training.precision=bf16",
                  "training.tokens=1e12",
                  "search.tp=[1, 2, 4]",
                  "objective.simplicity=0 %",
                  "goodput.mtbf_per_gpu=1000 h",
                  "goodput.checkpoint_store=5 GB/s",
                  "goodput.detection=10 min",
                  "goodput.restart=20 min",
                  "goodput.repair=24 h",
                  "goodput.spares=1",
                  "goodput.may_miss=1",
                  "goodput.start=\"2026-12-01\""};
  const auto search = [](const Texts& assignments) {
    const SearchQuestion question = read_search(scenario_tree(assignments), "test", sources());
    return explain_search(question, run_search(question, {}));
  };
  const SearchPlan found = search(job);
  REQUIRE(found.plan);
  const TrainPlan& t = train(*found.plan);
  CHECK(found.recommended.goals[static_cast<std::size_t>(Goal::time)] == near(t.calendar.mid.raw(), 1e-12));
  CHECK(t.calendar.mid > 1.02 * t.duration.mid);
  // A day between the training alone and the calendar: kept without failures, missed with them.
  const double between = (t.duration.mid.raw() + t.calendar.mid.raw()) / 2.0;
  const std::string deadline = "objective.deadline=" + std::to_string(static_cast<long long>(between)) + " s";
  CHECK_FALSE(search(with(job, {deadline})).plan);
  Texts free = job;
  std::erase_if(free, [](const std::string& key) { return key.starts_with("goodput."); });
  CHECK(search(with(free, {deadline})).plan);
}

TEST_CASE("a target loss states the tokens, a batch beyond the critical one is not free") {
  const Texts target{"target.loss=2.1", "target.critical_batch=8e6"};
  Texts base = keys(target);
  std::erase(base, std::string{"training.tokens=2e13"});
  const Scenario small = scenario_from_overrides(base, sources());
  const auto& t = std::get<TrainScenario>(small.question);
  REQUIRE(t.target);
  const goodput::LossLaw& law = goodput::loss_law("besiroglu-2024");
  const double parameters = 8.0303e9;
  CHECK(t.target->way.least_tokens == near(goodput::tokens_to_loss(law, parameters, 2.1), 1e-3));
  // 1,024 sequences of 8,192 are 8.39 M tokens, as many as the critical batch and 5 % more.
  CHECK(t.tokens == near(t.target->way.least_tokens * (1.0 + 8'388'608.0 / 8e6)));
  const Scenario large = changed(small, Changes{{Knob::global_batch, 4096}});
  CHECK(std::get<TrainScenario>(large.question).tokens ==
        near(t.target->way.least_tokens * (1.0 + 4.0 * 8'388'608.0 / 8e6)));
  CHECK(has(small.assumptions, "target.law = besiroglu-2024"));
}

TEST_CASE("stated tokens tell the loss that the law gives them, the batch's price taken off") {
  const goodput::LossLaw& law = goodput::loss_law("hoffmann-2022");
  const Scenario s = scenario({"target.law=hoffmann-2022", "target.critical_batch=8e6"});
  const auto& t = std::get<TrainScenario>(s.question);
  REQUIRE(t.target);
  CHECK(t.target->predicted);
  CHECK(t.target->loss == near(law.loss(8.0303e9, 2e13 / (1.0 + 8'388'608.0 / 8e6)), 1e-6));
  CHECK(t.tokens == 2e13);
  // By the law of the critical batch: the loss whose way takes the stated tokens.
  const Scenario by_law = scenario({"target.law=hoffmann-2022"});
  const goodput::Target& own = *std::get<TrainScenario>(by_law.question).target;
  CHECK(goodput::way_to_loss(law, own.parameters, own.loss, 8'388'608.0).tokens == near(2e13, 1e-6));
}

TEST_CASE("what cannot be is refused with what was published") {
  const std::string none = problems({"goodput.seed=1"});
  for (const char* part : {"llama3-54-days", "e.g. \"100 GB/s\" (BLOOM 57 GB/s, Llama 3 2 TB/s)", "needs 'detection'",
                           "needs 'restart'", "MegaScale"}) {
    CHECK_MESSAGE(none.find(part) != std::string::npos, none);
  }
  const Texts base{"goodput.failures=llama3-54-days", "goodput.detection=5 min", "goodput.restart=5 min"};
  const std::string slow = problems(with(base, {"goodput.checkpoint_store=100 kB/s"}));
  CHECK_MESSAGE(slow.find("no run gets ahead; write over more writers") != std::string::npos, slow);
  // So many steps between saves that none is ever reached: known with the step's time alone.
  const Scenario rare = scenario(
      with(base, {"goodput.checkpoint_store=1 GB/s", "goodput.interval_steps=100000000", "goodput.mtbf_job=1 h"}));
  CHECK_THROWS_WITH_AS((void)make_plan(rare, false), doctest::Contains("no run gets ahead; save every"), ConfigError);
}
