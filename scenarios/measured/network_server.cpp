// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/queue/batching_simulation.hpp>
#include <headroom/model/serve/time/simulated_time.hpp>
#include <headroom/scenarios/measured/network_server.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

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

/// Seconds of answers: the mean, then latencies at the shares of requests below, of those that are answered in turn.
constexpr std::array<double, served_latency_count - 1> shares_of_requests{0.5, 0.9, 0.95, 0.99};
constexpr double run_seconds = 600.0;  // of a Server run, at least (mlperf.conf, min_duration)

constexpr std::int64_t rounds = 10;  // of full batches that a simulation serves
constexpr std::int64_t least_requests = 10'000, most_requests = 60'000;

struct SystemQueue {
  CallCurve curve;
  BatchingRule rule;
  double kept = 1.0;

  [[nodiscard]] std::array<double, served_latency_count> seconds(double rate) const {
    constexpr std::uint64_t seed = 1;
    QueuedClass arrivals;
    arrivals.rate = rate * real(rule.gpus);
    const std::int64_t requests = std::max<std::int64_t>(rounds * rule.max_batch * rule.instances, least_requests);
    const ClassOutcome outcome =
        simulate_batching(curve, rule, std::span{&arrivals, 1}, requests, seed).classes.front();
    std::array<double, served_latency_count> all{};
    // What is left to the end of the run waits for half of it on average.
    all[0] = kept * outcome.seconds / real(outcome.requests) + (1.0 - kept) * 0.5 * run_seconds;
    for (std::size_t i = 0; i < shares_of_requests.size(); ++i) {
      all[i + 1] = seconds_of(outcome.latency.quantile(std::min(shares_of_requests[i] / kept, 0.9999)));
    }
    return all;
  }
};

/// Where the host is what is busy, requests wait there, and its operator raises the rate until the limit is met. Waits
/// of a server near saturation are exponential (Kingman 1962), so that the limit at 99 % tells all of them. The ends
/// are half of the latency and the limit, by how far below it runs stay.
ServedLatencies queued_at_host(const NetworkRowCall& call) {
  const double p99 = call.harness.share * call.limit.raw();
  const double mean = p99 / std::log(100.0);
  ServedLatencies all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].middle = i == 0 ? mean : -mean * std::log1p(-shares_of_requests[i - 1]);
    all[i].low = 0.5 * all[i].middle;
    all[i].high = std::min(2.0 * all[i].middle, call.limit.raw());
  }
  return all;
}

}  // namespace

ServedQueue::ServedQueue(const NetworkRowCall& call, const CallRates& rates, const NetworkEngine& engine) {
  constexpr int halvings = 6;            // to 2 % of the rate
  constexpr std::int64_t most_gpus = 8;  // more behave alike
  const CallDevice device = call_device(*call.device, rates, engine, call.setting.format, call.setting.training);
  const auto fits = static_cast<std::int64_t>(*std::max_element(call.batches.begin(), call.batches.end()));
  const CallCurve curve =
      curve_of(call, device, rates.physics, engine, call.server.batch > 0 ? call.server.batch : fits);
  if (curve.of(1) >= call.limit) {
    return;
  }
  // A request that just missed a batch waits for it: no batch longer than the limit is of use, and, where no rule says
  // how many, none beyond the one after which the GPU is no faster.
  std::int64_t largest = 1;
  while (largest < curve.largest() && curve.of(largest + 1) < call.limit) {
    ++largest;
  }
  SystemQueue queue{curve, {}, call.server.kept};
  queue.rule.max_batch = call.server.batch > 0 ? largest : curve.best(largest);
  queue.rule.window = call.server.window;
  // GPUs of large batches are many requests: fewer of them then stand for all.
  const std::int64_t affordable = most_requests / (rounds * queue.rule.max_batch * call.server.streams);
  queue.rule.gpus =
      std::clamp<std::int64_t>(std::llround(call.gpus), 1, std::clamp<std::int64_t>(affordable, 1, most_gpus));
  queue.rule.instances = queue.rule.gpus * call.server.streams;
  queue.rule.shared = call.server.streams > 1;
  double low = 0.0;
  double high = 0.0;
  for (std::int64_t b = 1; b <= queue.rule.max_batch; ++b) {
    high = std::max(high, real(b) / curve.of(b).raw());
  }
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (queue.seconds(middle).back() <= call.limit.raw() ? low : high) = middle;
  }
  highest_ = low;
  if (highest_ <= 0.0) {
    return;
  }
  for (const double share : {0.4, 0.65, 0.8, 0.9, 0.96, 1.0}) {
    points_.push_back({share, queue.seconds(share * highest_)});
  }
}

std::array<double, served_latency_count> ServedQueue::at(double share) const {
  const auto above = std::find_if(points_.begin(), points_.end(), [&](const Point& p) { return p.share >= share; });
  if (above == points_.begin() || above == points_.end()) {
    return above == points_.end() ? points_.back().seconds : points_.front().seconds;
  }
  const Point& a = *(above - 1);
  const double part = (share - a.share) / (above->share - a.share);
  std::array<double, served_latency_count> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = a.seconds[i] + part * (above->seconds[i] - a.seconds[i]);
  }
  return all;
}

ServedWithin ServedQueue::within(const NetworkRowCall& call, double speed_spread) const {
  ServedWithin served;
  served.highest = highest_;
  if (highest_ <= 0.0) {
    return served;
  }
  double host = call.harness.host_requests / call.gpus;
  if (call.server.input > Bytes{}) {
    host = std::min(host, call.harness.host_bytes.raw() / call.server.input.raw() / call.gpus);
  }
  served.rate = std::min(call.harness.share * highest_, host);
  if (host < call.harness.share * highest_) {
    served.latencies = queued_at_host(call);
    return served;
  }
  double share = std::log(served.rate / highest_);
  double variance = call.harness.spread * call.harness.spread;
  if (call.stated > 0.0) {
    const double weight = 1.0 / variance;
    const double told = 1.0 / (speed_spread * speed_spread);
    share = (weight * share + told * std::log(call.stated / highest_)) / (weight + told);
    variance = 1.0 / (weight + told);
  }
  constexpr double eighty = 1.2816;  // standard deviations that hold 80 %
  const double rate = call.stated > 0.0 ? call.stated : served.rate;
  for (int side = -1; side <= 1; ++side) {
    const double x = std::min(share + side * eighty * std::sqrt(variance), 0.0);
    // A GPU that is faster than predicted does everything sooner.
    const double slower = std::exp(x) * highest_ / rate;
    const std::array<double, served_latency_count> all = at(std::exp(x));
    for (std::size_t i = 0; i < all.size(); ++i) {
      ServedLatency& one = served.latencies[i];
      // What waits for the end of the run waits for the run, however fast the GPU.
      const double late = i == 0 ? (1.0 - call.server.kept) * 0.5 * run_seconds : 0.0;
      const double seconds = late + (all[i] - late) * slower;
      (side < 0 ? one.low : side == 0 ? one.middle : one.high) = seconds;
    }
  }
  for (std::size_t i = 0; i < served.latencies.size(); ++i) {
    ServedLatency& one = served.latencies[i];
    one.low = std::min(one.low, one.middle) / (1.0 + call.harness.latency_width);
    one.high = std::max(one.high, one.middle) * (1.0 + call.harness.latency_width);
  }
  // A run counts whose 99th percentile keeps the limit.
  ServedLatency& p99 = served.latencies.back();
  p99.high = std::min(p99.high, call.limit.raw());
  p99.middle = std::min(p99.middle, p99.high);
  return served;
}

}  // namespace headroom
