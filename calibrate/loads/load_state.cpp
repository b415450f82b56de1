// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr std::size_t enough_requests = 20;
constexpr double full_limit = 0.9;  ///< of a limit: ends of a run have fewer in flight

/// Requests a second between the first and the last that was sent.
std::optional<double> sent_rate(const LoadRun& load) {
  double first = 0.0;
  double last = 0.0;
  double count = 0.0;
  for (const LoadRequest& request : load.requests) {
    if (request.begin) {
      first = count > 0.0 ? std::min(first, request.begin->raw()) : request.begin->raw();
      last = count > 0.0 ? std::max(last, request.begin->raw()) : request.begin->raw();
      count += 1.0;
    }
  }
  return count > 2.0 && last > first ? std::optional{(count - 1.0) / (last - first)} : std::nullopt;
}

/// Whether requests wait ever longer: the mean TTFT of the last quarter is twice that of the first, and above its
/// highest ordinary value.
bool waits_grow(const LoadRun& load) {
  std::vector<std::pair<double, double>> firsts;
  for (const LoadRequest& request : load.requests) {
    if (request.begin && request.first && !request.failed) {
      firsts.emplace_back(request.begin->raw(), request.first->raw());
    }
  }
  if (firsts.size() < 2 * enough_requests) {
    return false;
  }
  std::sort(firsts.begin(), firsts.end());
  const std::size_t quarter = firsts.size() / 4;
  std::vector<double> early, late;
  for (std::size_t i = 0; i < quarter; ++i) {
    early.push_back(firsts[i].second);
    late.push_back(firsts[firsts.size() - 1 - i].second);
  }
  return median(late) > 2.0 * median(early) && median(late) > quantile(early, 0.95);
}

}  // namespace

std::optional<double> in_flight_of(const LoadRun& load) {
  const std::optional<Seconds> latency = load.of_kind(LatencyKind::request).middle();
  if (load.in_flight) {
    return load.in_flight;
  }
  return load.rate && latency ? std::optional{*load.rate * latency->raw()} : std::nullopt;
}

LoadState state_of(const LoadRun& load) {
  if (!load.asked_rate) {
    return load.limit ? LoadState::closed_loop : load.at_once ? LoadState::all_at_once : LoadState::told_nothing;
  }
  const double asked = *load.asked_rate;
  const double count = load.completed.value_or(0.0) + load.failed.value_or(0.0);
  if (!load.rate || count < 1.0) {
    return LoadState::told_nothing;
  }
  constexpr double ends = 0.05;
  const double line = asked * (1.0 - ends - 2.0 / std::sqrt(count));
  const std::optional<double> flying = in_flight_of(load);
  const bool held = load.limit && flying && *flying >= full_limit * *load.limit;
  if (*load.rate < line && held) {
    return LoadState::client_bound;
  }
  if (const std::optional<double> sent = sent_rate(load); sent && *sent < line) {
    return LoadState::client_bound;
  }
  // A run lasts until its last request has ended, which is no want of the server's.
  const ToldLatency& latency = load.of_kind(LatencyKind::request);
  const std::optional<Seconds> last = latency.at(0.99) ? latency.at(0.99) : latency.middle();
  const double with_end = count / (count / asked + (last ? last->raw() : 0.0));
  const bool short_of = *load.rate < line && *load.rate < with_end * (1.0 - ends);
  return short_of || waits_grow(load) ? LoadState::saturated : LoadState::kept_up;
}

std::optional<Seconds> wait_before_prefill(const LoadRun& load) {
  if (const std::optional<Seconds> told = load.of_kind(LatencyKind::queue).middle()) {
    return told;
  }
  std::vector<std::pair<double, double>> all;  // prompt and first token
  for (const LoadRequest& request : load.requests) {
    if (request.first && request.prompt && !request.failed && request.first->raw() > 0.0) {
      all.emplace_back(*request.prompt, request.first->raw());
    }
  }
  if (all.size() < enough_requests) {
    return std::nullopt;
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr double like = 1.25;  // lengths whose prefill takes about as long
  constexpr double fastest = 0.05;
  double waits = 0.0;
  std::int64_t grouped = 0;
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    std::vector<double> firsts;
    while (to < all.size() && all[to].first <= like * std::max(1.0, all[from].first)) {
      firsts.push_back(all[to++].second);
    }
    from = to;
    if (firsts.size() < enough_requests) {
      continue;
    }
    const double prefill = quantile(firsts, fastest);
    for (const double first : firsts) {
      waits += std::max(0.0, first - prefill);
    }
    grouped += static_cast<std::int64_t>(firsts.size());
  }
  return grouped > 0 ? std::optional{Seconds{waits / real(grouped)}} : std::nullopt;
}

std::optional<LatencySeries> first_token_series(const LoadRun& load, const std::string& file) {
  LatencySeries series;
  series.file = file + (load.of.empty() ? "" : " " + load.of) + ", first tokens";
  for (const LoadRequest& request : load.requests) {
    if (request.begin && request.first && !request.failed && request.first->raw() > 0.0) {
      series.points.push_back({*request.begin, *request.first, request.prompt, load.line});
    }
  }
  if (series.points.size() < enough_requests) {
    return std::nullopt;
  }
  std::sort(series.points.begin(), series.points.end(),
            [](const LatencyPoint& a, const LatencyPoint& b) { return a.begin < b.begin; });
  const Seconds start = series.points.front().begin;
  for (LatencyPoint& point : series.points) {
    point.begin = point.begin - start;
  }
  return series;
}

std::optional<double> relative_deviation(std::span<const double> values) {
  if (values.size() < 2) {
    return std::nullopt;
  }
  const double middle = mean(values);
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - middle) * (value - middle);
  }
  const double deviation = std::sqrt(squares / real(static_cast<std::int64_t>(values.size() - 1)));
  return middle > 0.0 ? std::optional{deviation / middle} : std::nullopt;
}

}  // namespace headroom
