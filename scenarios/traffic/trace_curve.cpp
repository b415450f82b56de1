// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/traffic/trace_curve.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace headroom {
namespace {

/// Where a request lies in its trace, in parts from 0 to `bins`.
double place_of(const Request& request, std::span<const Request> trace, std::int64_t bins) noexcept {
  const double whole = seconds_of(trace.back().arrival - trace.front().arrival);
  return real(bins) * (seconds_of(request.arrival - trace.front().arrival) / whole);
}

std::size_t bin_of(double place, std::int64_t bins) noexcept {
  return static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, real(bins) - 1.0));
}

}  // namespace

std::int64_t bins_of(std::int64_t requests, Seconds span, std::optional<Seconds> bin) noexcept {
  const double most = real(bin ? most_bins : std::min(usual_bins, requests / requests_of_a_bin));
  const double wanted = bin ? std::round(span / *bin) : std::floor(span / shortest_bin);
  return static_cast<std::int64_t>(std::max(1.0, std::min(wanted, most)));
}

std::vector<std::int64_t> counts_of(std::span<const Request> trace, std::int64_t bins) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins), 0);
  for (const Request& request : trace) {
    ++counts[bin_of(place_of(request, trace, bins), bins)];
  }
  return counts;
}

LoadCurve curve_of(std::span<const Request> trace, Seconds span, std::int64_t bins) {
  LoadCurve curve;
  curve.period = span;
  curve.repeats = false;
  const double mean = real(static_cast<std::int64_t>(trace.size())) / real(bins);
  std::int64_t before = 0;
  for (const std::int64_t count : counts_of(trace, bins)) {
    const double rate = real(count) / mean;
    curve.points.push_back({(real(before) / real(bins)) * span, rate});
    curve.points.push_back({(real(before + 1) / real(bins)) * span, rate});
    ++before;
  }
  return curve;
}

std::vector<Request> at_one_rate(std::vector<Request> trace, std::int64_t bins) {
  const std::vector<std::int64_t> counts = counts_of(trace, bins);
  std::vector<double> before(counts.size(), 0.0);
  for (std::size_t i = 1; i < counts.size(); ++i) {
    before[i] = before[i - 1] + real(counts[i - 1]);
  }
  const double all = real(static_cast<std::int64_t>(trace.size()));
  const double start = seconds_of(trace.front().arrival);
  const double whole = seconds_of(trace.back().arrival - trace.front().arrival);
  std::vector<Picoseconds> arrivals;
  arrivals.reserve(trace.size());
  for (const Request& request : trace) {
    const double place = place_of(request, trace, bins);
    const std::size_t bin = bin_of(place, bins);
    const double inside = place - real(static_cast<std::int64_t>(bin));
    arrivals.push_back(picoseconds(start + whole * ((before[bin] + inside * real(counts[bin])) / all)));
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    trace[i].arrival = i == 0 ? arrivals[i] : std::max(arrivals[i], trace[i - 1].arrival);
  }
  return trace;
}

}  // namespace headroom
