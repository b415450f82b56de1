// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/queue/batching.hpp>
#include <headroom/model/queue/batching_simulation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <vector>

using namespace headroom;

namespace {

CallCurve line_curve(double fixed, double each, std::int64_t largest) {
  std::vector<Seconds> times;
  for (std::int64_t b = 1; b <= largest; ++b) {
    times.push_back(Seconds{fixed + each * static_cast<double>(b)});
  }
  return CallCurve{std::move(times)};
}

double ms(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e9;
}

/// Mean of the histogram by its quantiles.
double mean_ms(const FineTimeHistogram& latency) {
  double sum = 0.0;
  for (int i = 0; i < 1000; ++i) {
    sum += ms(latency.quantile((i + 0.5) / 1000.0));
  }
  return sum / 1000.0;
}

/// One class and one instance, written as the rule reads: time goes on in small steps and nothing is looked up ahead.
std::vector<std::int64_t> stepped_batches(const std::vector<double>& arrivals, const BatchingRule& rule, double call) {
  std::vector<std::int64_t> batches;
  std::deque<double> queue;
  std::size_t next = 0;
  double free = 0.0;
  for (std::int64_t tick = 0; next < arrivals.size() || !queue.empty(); ++tick) {
    const double now = static_cast<double>(tick) * 1e-5;
    while (next < arrivals.size() && arrivals[next] <= now) {
      queue.push_back(arrivals[next++]);
    }
    if (queue.empty() || free > now) {
      continue;
    }
    const auto waiting = static_cast<std::int64_t>(queue.size());
    const bool over = now - queue.front() >= rule.window.raw();
    if (waiting < rule.max_batch && !over) {
      continue;
    }
    const std::int64_t size = std::min(waiting, rule.max_batch);
    queue.erase(queue.begin(), queue.begin() + size);
    batches.push_back(size);
    free = now + call;
  }
  return batches;
}

}  // namespace

TEST_CASE("batching: one request a call is the queue of Pollaczek and Khinchine") {
  const CallCurve curve = line_curve(0.01, 0.0, 1);
  const BatchingRule rule{1, {}, Seconds{}, 1};
  for (const double load : {0.3, 0.6, 0.8}) {
    const QueuedClass requests{load / 0.01};
    CAPTURE(load);
    const BatchingOutcome fixed = simulate_batching(curve, rule, {&requests, 1}, 2'000'000, 7);
    CHECK(mean_ms(fixed.classes[0].latency) ==
          doctest::Approx(10.0 + 10.0 * load / (2.0 * (1.0 - load))).epsilon(0.02));
    CHECK(fixed.utilisation(1) == doctest::Approx(load).epsilon(0.01));
    // Exponential calls: twice the wait.
    const BatchingOutcome spread = simulate_batching(curve, rule, {&requests, 1}, 2'000'000, 7, 1.0);
    CHECK(mean_ms(spread.classes[0].latency) == doctest::Approx(10.0 / (1.0 - load)).epsilon(0.03));
  }
}

TEST_CASE("batching: a window gathers one request and those that arrive while it is open") {
  const CallCurve curve = line_curve(0.001, 0.0003, 32);
  const BatchingRule rule{32, {}, Seconds{0.020}, 1};
  const QueuedClass requests{400.0};
  const BatchingOutcome simulated = simulate_batching(curve, rule, {&requests, 1}, 1'000'000, 3);
  CHECK(simulated.mean_batch() == doctest::Approx(9.0).epsilon(0.01));
  CHECK(window_load(curve, rule, 400.0).mean_batch == doctest::Approx(9.0).epsilon(0.01));
}

TEST_CASE("batching: closed forms hold below 80 % load") {
  double batch = 0.0, mean = 0.0;
  int questions = 0;
  for (const std::int64_t most : {4, 16, 64}) {
    const CallCurve curve = line_curve(0.002, 0.0004, most);
    for (const double window : {0.0, 0.002, 0.010, 0.040}) {
      for (const double load : {0.1, 0.3, 0.5, 0.7}) {
        const BatchingRule rule{most, {}, Seconds{window}, 1};
        const QueuedClass requests{load * static_cast<double>(most) / curve.of(most).raw()};
        const BatchingOutcome simulated = simulate_batching(curve, rule, {&requests, 1}, 200'000, 11);
        const WindowLoad closed = window_load(curve, rule, requests.rate);
        batch += std::abs(closed.mean_batch / simulated.mean_batch() - 1.0);
        mean += std::abs(1e3 * closed.mean.raw() / mean_ms(simulated.classes[0].latency) - 1.0);
        ++questions;
      }
    }
  }
  CHECK(batch / questions < 0.06);
  CHECK(mean / questions < 0.12);
}

TEST_CASE("batching: batches are those of a clock that only goes forward") {
  // Requests at equal distances, so that both see the same arrivals.
  const double rate = 730.0;
  const BatchingRule rule{6, {}, Seconds{0.0093}, 1};
  const double call = 0.0071;
  const QueuedClass frames{rate, true};
  const BatchingOutcome simulated = simulate_batching(line_curve(call, 0.0, 6), rule, {&frames, 1}, 6'000, 1);
  std::vector<double> arrivals;
  for (int i = 1; i <= 6'000; ++i) {
    arrivals.push_back(i / rate);
  }
  double samples = 0.0;
  const std::vector<std::int64_t> stepped = stepped_batches(arrivals, rule, call);
  for (const std::int64_t size : stepped) {
    samples += static_cast<double>(size);
  }
  CHECK(simulated.mean_batch() == doctest::Approx(samples / static_cast<double>(stepped.size())).epsilon(0.01));
}

TEST_CASE("batching: preferred sizes leave at once and the rest waits for its window") {
  const CallCurve curve = line_curve(0.0005, 0.0, 16);
  const BatchingRule rule{16, {4, 8}, Seconds{1.0}, 1};
  const QueuedClass requests{1'000.0};
  const BatchingOutcome simulated = simulate_batching(curve, rule, {&requests, 1}, 100'000, 5);
  for (std::int64_t b = 1; b <= 16; ++b) {
    CAPTURE(b);
    CHECK((simulated.batches[static_cast<std::size_t>(b - 1)] > 0) == (b == 4));  // calls end before four more come
  }
}

TEST_CASE("batching: high priority waits less, deadlines are counted and late requests dropped") {
  const CallCurve curve = line_curve(0.010, 0.0, 1);
  const BatchingRule rule{1, {}, Seconds{}, 1};
  std::vector<QueuedClass> classes{{40.0}, {50.0}};
  const BatchingOutcome both = simulate_batching(curve, rule, classes, 1'000'000, 2);
  // Non-preemptive priorities (Cobham 1954): W1 = R / (1 - r1), W2 = R / ((1 - r1)(1 - r1 - r2)), R = l S^2 / 2.
  const double residual = 90.0 * 1e-4 / 2.0 * 1e3;
  CHECK(mean_ms(both.classes[0].latency) == doctest::Approx(10.0 + residual / 0.6).epsilon(0.03));
  CHECK(mean_ms(both.classes[1].latency) == doctest::Approx(10.0 + residual / (0.6 * 0.1)).epsilon(0.05));

  QueuedClass hurried{150.0};  // half more than the server can do
  hurried.deadline = Seconds{0.050};
  hurried.rejects = true;
  const BatchingOutcome dropped = simulate_batching(curve, rule, {&hurried, 1}, 100'000, 2);
  const ClassOutcome& seen = dropped.classes[0];
  CHECK(static_cast<double>(seen.dropped) / static_cast<double>(seen.requests) ==
        doctest::Approx(1.0 / 3.0).epsilon(0.02));
  CHECK(seen.late >= seen.dropped);
  CHECK(ms(seen.latency.quantile(1.0)) <= 60.2);  // a request that begins in time ends at most a call later
  hurried.rejects = false;
  const BatchingOutcome kept = simulate_batching(curve, rule, {&hurried, 1}, 100'000, 2);
  CHECK(kept.classes[0].dropped == 0);
  CHECK(kept.classes[0].late > 99'000);
}

TEST_CASE("batching: two instances serve twice as much") {
  const CallCurve curve = line_curve(0.010, 0.001, 8);
  const QueuedClass requests{700.0};  // one instance does 444 a second
  const BatchingOutcome two = simulate_batching(curve, {8, {}, Seconds{}, 2}, {&requests, 1}, 300'000, 9);
  CHECK(two.utilisation(2) < 1.0);
  CHECK(ms(two.classes[0].latency.quantile(0.95)) < 60.0);
  const BatchingOutcome one = simulate_batching(curve, {8, {}, Seconds{}, 1}, {&requests, 1}, 300'000, 9);
  CHECK(ms(one.classes[0].latency.quantile(0.95)) > 1'000.0);
}

TEST_CASE("batching: a closed loop obeys Little's law and never batches more than the rule") {
  const CallCurve curve = line_curve(0.002, 0.0005, 64);
  const ClosedLoop loop = closed_loop(curve, 24, 4, 32, 0.9);
  CHECK(loop.batch == doctest::Approx(32.0));
  CHECK(loop.rate * loop.mean.raw() == doctest::Approx(96.0));
  CHECK(closed_loop(curve, 1, 4, 32, 0.9).batch == doctest::Approx(4.0));
}

TEST_CASE("batching: GPUs that take from one queue answer sooner than as many with a queue each") {
  std::vector<Seconds> times;
  for (int b = 1; b <= 16; ++b) {
    times.push_back(Seconds{1e-3 + 0.5e-3 * b});
  }
  const CallCurve curve{times};
  BatchingRule own;
  own.max_batch = 16;
  own.instances = 2;
  own.shared = true;
  BatchingRule pooled = own;
  pooled.gpus = 4;
  pooled.instances = 8;
  QueuedClass one;
  one.rate = 1500.0;
  QueuedClass four;
  four.rate = 4.0 * one.rate;
  const BatchingOutcome alone = simulate_batching(curve, own, std::span{&one, 1}, 50'000, 1);
  const BatchingOutcome together = simulate_batching(curve, pooled, std::span{&four, 1}, 200'000, 1);
  const auto mean = [](const BatchingOutcome& o) {
    return o.classes.front().seconds / static_cast<double>(o.classes.front().requests);
  };
  CHECK(mean(together) < mean(alone));
  // Four GPUs work side by side: calls of one do not slow those of another.
  CHECK(together.busy / together.span < 4.0);
  CHECK(together.busy / together.span > 1.5);
  BatchingRule crowded = pooled;
  crowded.gpus = 1;
  four.rate = 2500.0;
  CHECK(mean(simulate_batching(curve, crowded, std::span{&four, 1}, 50'000, 1)) >
        mean(simulate_batching(curve, pooled, std::span{&four, 1}, 50'000, 1)));
}

TEST_CASE("batching: clients that are away between an answer and the next request turn the loop as Little's law says") {
  const CallCurve curve{{Seconds{20e-3}}};
  // One control loop: 20 ms of the call and 30 ms of the network.
  const ClosedLoop one = closed_loop(curve, 1, 1, 1, 1.0, Seconds{30e-3});
  CHECK(one.rate == doctest::Approx(20.0));
  CHECK(one.mean.raw() == doctest::Approx(50e-3));
  // Ten keep the GPU busy all the time: 50 calls a second, whatever the network takes.
  const ClosedLoop ten = closed_loop(curve, 10, 1, 1, 1.0, Seconds{30e-3});
  CHECK(ten.rate == doctest::Approx(50.0));
  CHECK(ten.mean.raw() == doctest::Approx(200e-3));
  CHECK(closed_loop(curve, 10, 1, 1, 1.0).rate == doctest::Approx(50.0));
}
