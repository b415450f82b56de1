// SPDX-License-Identifier: Apache-2.0
// The event simulation of a long run against the closed form, and what it alone knows: the spread.
#include <headroom/scenarios/goodput/failures.hpp>
#include <headroom/scenarios/goodput/interval.hpp>
#include <headroom/scenarios/goodput/simulation.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <cmath>

using namespace headroom;
using namespace headroom::goodput;
using headroom::test::near;

namespace {

constexpr Seconds minute{60.0};

CheckpointTime saves(SaveMode mode, Seconds copy, Seconds write) {
  CheckpointTime save;
  save.mode = mode;
  save.total = Bytes{1.0};
  save.copy = copy;
  save.write = write;
  return save;
}

Run run_of(Seconds mtbf, const CheckpointTime& save, double of_best, Seconds stop) {
  Run run;
  run.mtbf = mtbf;
  run.save = save;
  run.interval = of_best * best_interval(save, mtbf);
  run.recovery.detection = 0.25 * stop;
  run.recovery.restart = 0.75 * stop;
  run.work = 300.0 * mtbf;
  return run;
}

/// Both ways within 2 %, the failures too.
void agree(const Run& run, std::int64_t runs = 100) {
  const Goodput closed = goodput::goodput(run);
  const SimulatedRuns simulated = simulate(run, {1, runs, 1});
  CAPTURE(run.mtbf / hour);
  CAPTURE(run.interval / minute);
  CAPTURE(run.recovery.stop() / minute);
  CAPTURE(closed.ratio);
  CAPTURE(simulated.ratio);
  CHECK(simulated.mean.raw() == near(closed.completion.mid.raw(), 0.02));
  CHECK(simulated.failures == near(closed.failures, 0.03));
  CHECK(simulated.standard_error < 0.01 * simulated.mean);  // or agreement would be luck
}

double sum_of(const TimeShares& s) {
  return s.useful + s.saving + s.rework + s.recovery + s.slower + s.waiting;
}

}  // namespace

TEST_CASE("simulation and closed form agree within 2 %: failures, saves, intervals, recoveries") {
  for (const double hours : {0.5, 3.0, 50.0}) {
    for (const Seconds stall : {Seconds{5.0}, 2.0 * minute}) {
      for (const double of_best : {0.3, 1.0, 4.0}) {
        for (const Seconds stop : {minute, 20.0 * minute}) {
          agree(run_of(hours * hour, saves(SaveMode::synchronous, {}, stall), of_best, stop));
        }
      }
    }
  }
}

TEST_CASE("the same for asynchronous saves: a failure during the write goes back one save more") {
  for (const double hours : {1.0, 10.0}) {
    for (const Seconds write : {10.0 * minute, 25.0 * minute}) {
      for (const double of_best : {0.4, 1.0, 3.0}) {
        const Run run = run_of(hours * hour, saves(SaveMode::asynchronous, Seconds{5.0}, write), of_best, 5.0 * minute);
        agree(run);
        // Without the lag the closed form would be off by the write over the time between failures.
        const double without =
            WallFactor{run.mtbf, run.interval, run.save.stall(run.interval), {}, 5.0 * minute}.value();
        CHECK(run.work.raw() * without < 0.995 * simulate(run, {1, 100, 1}).mean.raw());
      }
    }
  }
}

TEST_CASE("the same with hosts that go away: spares, waiting, and going on without") {
  for (const std::int64_t spares : {0, 1, 3}) {
    for (const std::int64_t may_miss : {0, 1, 4}) {
      for (const double swap : {0.4, 1.0}) {
        Run run = run_of(12.0 * hour, saves(SaveMode::synchronous, {}, Seconds{30.0}), 1.0, 5.0 * minute);
        run.recovery.hosts = 32;
        run.recovery.spares = spares;
        run.recovery.may_miss = may_miss;
        run.recovery.swap_share = swap;
        run.recovery.repair = 10.0 * hour;
        CAPTURE(spares);
        CAPTURE(may_miss);
        CAPTURE(swap);
        agree(run, 200);
      }
    }
  }
}

TEST_CASE("hosts that come back into a running job cost a save and a restart each") {
  for (const double hours : {6.0, 24.0}) {
    Run run = run_of(hours * hour, saves(SaveMode::synchronous, {}, Seconds{30.0}), 1.0, 20.0 * minute);
    run.recovery.hosts = 64;
    run.recovery.may_miss = 8;
    run.recovery.repair = 1.5 * run.mtbf;
    agree(run, 200);
    const HostPool pool = host_pool(run.recovery, run.mtbf);
    CHECK(pool.rejoins * run.mtbf ==
          near(1.0, 0.001));  // every host that goes comes back, and hardly any is waited for
    CHECK(sum_of(goodput::goodput(run).shares) == near(1.0));
  }
}

TEST_CASE(
    "the closed form's 80 % interval is as wide as that of the simulated runs, and half of them end by the mean") {
  for (const double hours : {2.0, 20.0}) {
    const Run run = run_of(hours * hour, saves(SaveMode::synchronous, {}, Seconds{20.0}), 1.0, 10.0 * minute);
    const Goodput closed = goodput::goodput(run);
    const SimulatedRuns simulated = simulate(run, {7, 2000, 2});
    const double width = (simulated.completion.high - simulated.completion.low).raw();
    CHECK((closed.completion.high - closed.completion.low).raw() == near(width, 0.1));
    CHECK(simulated.completion.mid.raw() == near(simulated.mean.raw(), 0.002));
  }
}

TEST_CASE("Llama 3's 54 days, simulated: 419 failures, more than 90 %, and a finishing date known within a day") {
  Run run;
  run.save = saves(SaveMode::synchronous, {}, Seconds{405e9 * 14.0 / 2e12});
  run.mtbf = job_mtbf(failure_rate("llama3-54-days").per_gpu.mid, 16384);
  run.interval = best_interval(run.save, run.mtbf);
  run.recovery.restart = 10.0 * minute;
  run.work = 54.0 * day * 0.9263;  // what the closed form leaves
  const SimulatedRuns simulated = simulate(run, {54, 400, 2});
  CHECK(simulated.mean / day == near(54.0, 0.002));
  CHECK(simulated.failures == near(419.0, 0.01));
  CHECK(simulated.ratio > 0.90);
  const Seconds width = simulated.completion.high - simulated.completion.low;
  CHECK(width > 0.2 * day);
  CHECK(width < 0.6 * day);
}

TEST_CASE("the same seed gives the same answer on any number of threads, another seed another") {
  Run run = run_of(3.0 * hour, saves(SaveMode::asynchronous, Seconds{3.0}, minute), 1.0, 10.0 * minute);
  run.recovery.hosts = 8;
  run.recovery.repair = 8.0 * hour;
  run.recovery.may_miss = 1;
  const SimulatedRuns one = simulate(run, {42, 50, 1});
  const SimulatedRuns three = simulate(run, {42, 50, 3});
  CHECK(one.mean == three.mean);
  CHECK(one.completion.low == three.completion.low);
  CHECK(one.completion.high == three.completion.high);
  CHECK(one.failures == three.failures);
  CHECK(simulate(run, {43, 50, 1}).mean != one.mean);
  CHECK(simulate(run, {42, 20, 1}).mean != one.mean);
}

TEST_CASE("a run shorter than the interval is saved once, at its end") {
  Run run = run_of(3.0 * hour, saves(SaveMode::synchronous, {}, 10.0 * minute), 1.0, 10.0 * minute);
  run.work = hour;
  run.interval = 30.0 * hour;
  const Goodput closed = goodput::goodput(run);
  CHECK(closed.completion.mid / hour == near(3.0 * std::exp(1.0 / 18.0) * std::expm1((70.0 / 60.0) / 3.0)));
  CHECK(simulate(run, {1, 20'000, 2}).mean.raw() == near(closed.completion.mid.raw(), 0.02));
}

TEST_CASE("a run that almost never fails takes its work and its saves") {
  Run run = run_of(hour, saves(SaveMode::synchronous, {}, minute), 1.0, hour);
  run.mtbf = 1e9 * hour;
  run.interval = hour;
  run.work = 100.0 * hour;
  const SimulatedRuns simulated = simulate(run, {1, 10, 1});
  CHECK(simulated.mean.raw() == near((100.0 * hour + 100.0 * minute).raw(), 1e-12));
  CHECK(simulated.failures == 0.0);
}

TEST_CASE("a simulation that would not end is refused with its size") {
  Run run = run_of(hour, saves(SaveMode::synchronous, {}, Seconds{1.0}), 1.0, minute);
  run.work = 1e9 * hour;
  CHECK_THROWS_WITH_AS((void)simulate(run, {1, 1000, 1}), doctest::Contains("take the closed form"), ConfigError);
  run.work = hour;
  CHECK_THROWS_WITH_AS((void)simulate(run, {1, 0, 1}), doctest::Contains("state at least 1"), ConfigError);
  run.mtbf = Seconds{};
  CHECK_THROWS_AS((void)simulate(run, {1, 1, 1}), ConfigError);
}
