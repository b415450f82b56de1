// SPDX-License-Identifier: Apache-2.0
// What holds of the closed form for any run that gets ahead.
#include <headroom/scenarios/goodput/goodput.hpp>
#include <headroom/scenarios/goodput/interval.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>

using namespace headroom;
using namespace headroom::goodput;

namespace {

/// Log-uniform between `low` and `high`.
double any(double low, double high) {
  return low * std::pow(high / low, 0.001 * *rc::gen::inRange(0, 1001));
}

Run any_run() {
  Run run;
  run.mtbf = Seconds{any(600.0, 1e7)};
  run.work = Seconds{any(1e5, 1e8)};
  run.save.mode = *rc::gen::element(SaveMode::synchronous, SaveMode::asynchronous);
  run.save.total = Bytes{1.0};
  run.save.copy = any(1e-4, 0.1) * run.mtbf;
  run.save.write = any(1e-4, 0.5) * run.mtbf;
  run.interval = any(1e-3, 3.0) * run.mtbf;
  run.recovery.detection = any(1e-4, 1.0) * run.mtbf;
  run.recovery.restart = any(1e-4, 0.1) * run.mtbf;
  run.recovery.hosts = *rc::gen::inRange(10, 1000);
  run.recovery.spares = *rc::gen::inRange(0, 5);
  run.recovery.may_miss = *rc::gen::inRange(0, 5);
  run.recovery.swap_share = 0.01 * *rc::gen::inRange(0, 101);
  run.recovery.repair = any(1e-2, 2.0) * run.mtbf;
  return run;
}

}  // namespace

TEST_CASE("goodput: the shares of the time are not negative and add up to 1") {
  CHECK(rc::check([] {
    const Goodput g = goodput::goodput(any_run());
    double sum = 0.0;
    for (const double share :
         {g.shares.useful, g.shares.saving, g.shares.rework, g.shares.recovery, g.shares.slower, g.shares.waiting}) {
      RC_ASSERT(share >= 0.0);
      sum += share;
    }
    RC_ASSERT(std::abs(sum - 1.0) < 1e-9);
    RC_ASSERT(g.ratio > 0.0);
    RC_ASSERT(g.ratio < 1.0);
    RC_ASSERT(g.completion.low <= g.completion.mid);
    RC_ASSERT(g.completion.mid <= g.completion.high);
  }));
}

TEST_CASE("goodput: slower saves, longer recoveries and more failures never help, another spare never hurts") {
  CHECK(rc::check([] {
    Run run = any_run();
    run.recovery.may_miss = 0;
    const double ratio = goodput::goodput(run).ratio;
    const auto worse = [&](auto change) {
      Run changed = run;
      change(changed);
      return goodput::goodput(changed).ratio <= ratio * (1.0 + 1e-12);
    };
    RC_ASSERT(worse([](Run& r) { r.save.copy *= 1.2; }));
    RC_ASSERT(worse([](Run& r) { r.save.write *= 1.2; }));
    RC_ASSERT(worse([](Run& r) { r.recovery.restart *= 1.2; }));
    RC_ASSERT(worse([](Run& r) { r.mtbf /= 1.2; }));
    run.recovery.spares += 1;
    RC_ASSERT(goodput::goodput(run).ratio >= ratio * (1.0 - 1e-12));
  }));
}

TEST_CASE("goodput: no interval beats the best one") {
  CHECK(rc::check([] {
    Run run = any_run();
    run.recovery = {};
    run.recovery.restart = 0.01 * run.mtbf;
    run.work = 1e3 * run.mtbf;
    const double other = goodput::goodput(run).ratio;
    run.interval = best_interval(run.save, run.mtbf);
    RC_ASSERT(goodput::goodput(run).ratio >= other * (1.0 - 1e-12));
  }));
}
