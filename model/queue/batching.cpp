// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/queue/batching.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

Seconds CallCurve::at(double batch) const noexcept {
  const double clipped = std::clamp(batch, 1.0, static_cast<double>(largest()));
  const auto below = static_cast<std::int64_t>(clipped);
  const Seconds low = of(below);
  return below == largest() ? low : low + (clipped - static_cast<double>(below)) * (of(below + 1) - low);
}

CallCurve::Line CallCurve::line(std::int64_t most) const noexcept {
  const std::int64_t last = std::clamp(most, std::int64_t{1}, largest());
  if (last == 1) {
    return {of(1), Seconds{}};
  }
  const auto n = static_cast<double>(last);
  double sum = 0.0, weighted = 0.0;
  for (std::int64_t b = 1; b <= last; ++b) {
    sum += of(b).raw();
    weighted += static_cast<double>(b) * of(b).raw();
  }
  const double mean_b = (n + 1.0) / 2.0;
  const double spread = n * (n * n - 1.0) / 12.0;
  const double each = std::max((weighted - mean_b * sum) / spread, 0.0);
  return {Seconds{std::max(sum / n - each * mean_b, 0.0)}, Seconds{each}};
}

std::int64_t CallCurve::best(std::int64_t most) const noexcept {
  const std::int64_t last = std::min(most, largest());
  const auto rate = [&](std::int64_t b) { return static_cast<double>(b) / of(b).raw(); };
  double fastest = 0.0;
  for (std::int64_t b = 1; b <= last; ++b) {
    fastest = std::max(fastest, rate(b));
  }
  std::int64_t best = 1;
  while (best < last && rate(best) < 0.98 * fastest) {
    ++best;
  }
  return best;
}

WindowLoad window_load(const CallCurve& curve, const BatchingRule& rule, double rate) noexcept {
  const std::int64_t most = std::min(rule.max_batch, curve.largest());
  const CallCurve::Line line = curve.line(most);
  const double s0 = line.fixed.raw(), s1 = line.each.raw(), w = rule.window.raw();
  const auto full = static_cast<double>(most);
  WindowLoad a;
  a.rate = rate;
  a.capacity = full / curve.of(most).raw();
  a.load = rate / a.capacity;
  const double gathers = 1.0 + rate * w;
  const double queues = rate * s1 < 1.0 ? rate * s0 / (1.0 - rate * s1) : full;
  a.mean_batch = std::clamp(std::cbrt(gathers * gathers * gathers + queues * queues * queues), 1.0, full);
  a.call = curve.at(a.mean_batch);
  const double call = a.call.raw();
  const double busy = call * rate / a.mean_batch;
  const bool bound_by_calls = queues >= gathers;
  double wait = 0.5 * std::min(w, (a.mean_batch - 1.0) / rate) * (1.0 + 1.0 / a.mean_batch);
  wait = std::max(wait, 0.5 * busy * call);
  if (bound_by_calls) {
    wait = std::max(wait, 0.5 * call);
  }
  const double tail = a.stable() ? std::pow(a.load, 8.0) / (2.0 * (1.0 - a.load)) * curve.of(most).raw() : INFINITY;
  a.wait = Seconds{wait};
  a.mean = Seconds{wait + call + tail};
  a.p95 = Seconds{0.97 * std::max(w, bound_by_calls ? 0.95 * call : 0.0) + call + 3.0 * tail};
  return a;
}

ClosedLoop closed_loop(const CallCurve& curve,
                       std::int64_t clients,
                       std::int64_t samples,
                       std::int64_t max_batch,
                       double served,
                       Seconds away) noexcept {
  const auto each = static_cast<double>(samples);
  const auto all = static_cast<double>(clients);
  const auto most = static_cast<double>(std::min(max_batch, curve.largest()));
  const auto batch_of = [&](double at_server) { return std::min(std::max(at_server * each / 2.0, each), most); };
  const auto rate_of = [&](double at_server) {
    const double batch = batch_of(at_server);
    return served * batch / curve.at(batch).raw();
  };
  // As many clients at the server as those that are away leave there: one that is never overtaken, at least.
  double at_server = all;
  if (away > Seconds{}) {
    double low = 0.0, high = all;
    for (int i = 0; i < 60; ++i) {
      const double middle = 0.5 * (low + high);
      (middle + away.raw() * rate_of(middle) / each < all ? low : high) = middle;
    }
    at_server = low;
  }
  ClosedLoop loop;
  loop.batch = batch_of(at_server);
  loop.rate = rate_of(at_server);
  if (away > Seconds{}) {
    const double call = loop.batch / loop.rate;
    loop.rate = std::min(loop.rate, all * each / (away.raw() + call));
  }
  const double mean = all * each / loop.rate;
  loop.mean = Seconds{mean};
  const double server = mean - away.raw();
  loop.p95 = Seconds{1.15 * server + away.raw()};
  loop.p99 = Seconds{1.2 * server + away.raw()};
  return loop;
}

}  // namespace headroom
