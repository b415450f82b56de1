// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/queue/batching_simulation.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/measured/network_server.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

/// Times of 1 to `most` samples: computed at an octave's quarters, along lines between.
CallCurve curve_of(const NetworkRowCall& call,
                   const CallDevice& device,
                   const CallPhysics& physics,
                   const NetworkEngine& engine,
                   std::int64_t most) {
  const auto time = [&](std::int64_t samples) {
    NetworkRowCall one = call;
    one.batches = {real(samples)};
    return Seconds{network_pace(one, device, physics, engine).seconds};
  };
  std::vector<Seconds> times{time(1)};
  for (double next = 2.0; real(static_cast<std::int64_t>(times.size())) < real(most);) {
    const std::int64_t low = static_cast<std::int64_t>(times.size());
    const std::int64_t high = std::min(most, std::max(low + 1, static_cast<std::int64_t>(next)));
    const Seconds begin = times.back();
    const Seconds step = (time(high) - begin) / real(high - low);
    for (std::int64_t b = low + 1; b <= high; ++b) {
      times.push_back(begin + real(b - low) * step);
    }
    next = real(high) * std::pow(2.0, 0.25);
  }
  return CallCurve{std::move(times)};
}

}  // namespace

ServedWithin served_within(const NetworkRowCall& call,
                           const CallRates& rates,
                           const NetworkEngine& engine,
                           Seconds limit) {
  constexpr std::int64_t requests = 20'000;
  constexpr std::uint64_t seed = 1;
  constexpr int halvings = 8;  // to half a percent of the rate
  const CallDevice device = call_device(*call.device, rates, engine, call.setting.format, call.setting.training);
  const auto most = static_cast<std::int64_t>(*std::max_element(call.batches.begin(), call.batches.end()));
  const CallCurve curve = curve_of(call, device, rates.physics, engine, most);
  // A request that just missed a batch waits for it: no batch longer than the limit is of use, and none beyond the one
  // after which the GPU is no faster.
  std::int64_t largest = 1;
  while (largest < curve.largest() && curve.of(largest + 1) < limit) {
    ++largest;
  }
  largest = curve.best(largest);
  if (curve.of(1) >= limit) {
    return {};
  }
  BatchingRule rule;
  rule.max_batch = largest;
  const auto run = [&](double rate) {
    QueuedClass arrivals;
    arrivals.rate = rate;
    return simulate_batching(curve, rule, std::span{&arrivals, 1}, requests, seed).classes.front();
  };
  double low = 0.0;
  double high = 0.0;
  for (std::int64_t b = 1; b <= largest; ++b) {
    high = std::max(high, real(b) / curve.of(b).raw());
  }
  ServedWithin best;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    const ClassOutcome outcome = run(middle);
    const Seconds p99{seconds_of(outcome.latency.quantile(0.99))};
    if (p99 <= limit) {
      low = middle;
      best = {engine.served * middle, Seconds{outcome.seconds / real(outcome.requests)}, p99};
    } else {
      high = middle;
    }
  }
  return best;
}

}  // namespace headroom
