// SPDX-License-Identifier: Apache-2.0
// What holds of the outlook of any job: both ways of finding its end agree, its clock never runs backwards.
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/sources.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::sources;

namespace {

/// Log-uniform between `low` and `high`.
double any(double low, double high) {
  return low * std::pow(high / low, 0.001 * *rc::gen::inRange(0, 1001));
}

bool chance(int percent) {
  return *rc::gen::inRange(0, 100) < percent;
}

/// A job of 64 hosts that may fail in every way that a scenario can state, recoveries short against what lies between
/// two failures.
TrainScenario any_job() {
  static const Scenario base = scenario_from_overrides(
      std::vector<std::string>{"kind=train", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=512",
                               "training.seq_len=8192", "training.global_batch=1024", "training.precision=bf16",
                               "training.tokens=1e12", "goodput.failures=published", "goodput.checkpoint_store=1 TB/s",
                               "goodput.detection=1 min", "goodput.restart=1 min"},
      sources());
  TrainScenario t = std::get<TrainScenario>(base.question);
  goodput::Question& q = *t.long_run;
  const double mtbf = any(3600.0, 1e6);  // of the job
  q.per_gpu.mid = Hertz{1.0 / mtbf / 512.0};
  q.per_gpu.low = any(0.2, 1.0) * q.per_gpu.mid;
  q.per_gpu.high = any(1.0, 2.0) * q.per_gpu.mid;
  q.per_job = chance(30) ? Hertz{any(0.1, 1.0) / mtbf} : Hertz{};
  q.checkpoint = Bytes{112e9};
  q.store.storage = BytesPerSecond{112e9 / any(1.0, 0.05 * mtbf)};
  if (chance(50)) {
    q.store.mode = goodput::SaveMode::asynchronous;
    q.store.copy = BytesPerSecond{112e9 / 512.0 / any(0.1, 10.0)};
  }
  if (chance(50)) {
    q.interval = Seconds{any(0.01, 0.5) * mtbf};
  }
  q.recovery.detection = any(1.0, 0.01 * mtbf) * Seconds{1.0};
  q.recovery.restart = any(1.0, 0.02 * mtbf) * Seconds{1.0};
  if (chance(50)) {
    q.recovery.repair = any(0.1, 1.0) * Seconds{mtbf};
    q.recovery.spares = *rc::gen::inRange(0, 4);
    q.recovery.may_miss = *rc::gen::inRange(0, 4);
    q.recovery.swap_share = 0.01 * *rc::gen::inRange(0, 101);
  }
  if (chance(30)) {
    q.evaluation = Seconds{any(10.0, 600.0)};
    q.evaluation_every = *rc::gen::inRange(100, 2000);
  }
  t.tokens = 300.0 * mtbf / 4.0 * 1024.0 * 8192.0;  // 300 lives of steps of 4 s
  q.runs = 100;
  return t;
}

constexpr Seconds step{4.0};

}  // namespace

TEST_CASE("outlook: closed form and simulation agree within 2 %, whatever a scenario states") {
  CHECK(rc::check([] {
    const TrainScenario t = any_job();
    const RunOutlook o = outlook_of(t, {step, 0.3, std::nullopt, true});
    RC_ASSERT(o.simulated);
    RC_ASSERT(std::abs(o.disagreement()) < 0.02);
    RC_ASSERT(std::abs(o.simulated->failures / o.failures - 1.0) < 0.04);
  }));
}

TEST_CASE("outlook: shares add up, ends are in order, and the whole is wider than each of its parts") {
  CHECK(rc::check([] {
    const TrainScenario t = any_job();
    const RunOutlook o = outlook_of(t, {step, 0.3, std::nullopt, false});
    const goodput::TimeShares& s = o.shares;
    RC_ASSERT(std::abs(s.useful + s.saving + s.rework + s.recovery + s.slower + s.waiting + o.evaluation - 1.0) < 1e-9);
    RC_ASSERT(o.ratio.low <= o.ratio.mid);
    RC_ASSERT(o.ratio.mid <= o.ratio.high);
    RC_ASSERT(o.mtbf.low <= o.mtbf.mid);
    RC_ASSERT(o.mtbf.mid <= o.mtbf.high);
    RC_ASSERT(o.calendar.mid == o.completion.mid);
    RC_ASSERT(o.calendar.low <= o.completion.low);
    RC_ASSERT(o.calendar.high >= o.completion.high);
    RC_ASSERT(o.calendar.high >= 1.3 * o.calendar.mid);
    const double training = t.tokens / (1024.0 * 8192.0) * step.raw();
    RC_ASSERT(std::abs(training / o.completion.mid.raw() / o.ratio.mid - 1.0) < 1e-9);
  }));
}

TEST_CASE("the clock of a search is that of the outlook, and never runs backwards as the step grows") {
  CHECK(rc::check([] {
    TrainScenario t = any_job();
    if (chance(50)) {
      t.tokens *= any(1e-5, 1e-2);  // shorter than the interval between saves, some of them
    }
    if (chance(30)) {
      t.long_run->interval.reset();
      t.long_run->interval_steps = *rc::gen::inRange(1, 500);
    }
    const goodput::RunClock clock = clock_of(t);
    const Seconds at{any(0.1, 100.0)};
    if (t.long_run->interval_steps == 0 || clock.interval(at) < 10.0 * clock.pace.mtbf) {
      RC_ASSERT(clock.calendar(at) == outlook_of(t, {at, 0.3, std::nullopt, false}).completion.mid);
    }
    const Seconds later = (1.0 + any(1e-9, 1.0)) * at;
    RC_ASSERT(clock.calendar(later) >= (1.0 - 1e-13) * clock.calendar(at));  // flat where saves take all the time
    RC_ASSERT(clock.calendar(at) >= clock.work(at));
  }));
}
