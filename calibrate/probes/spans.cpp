// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probes/spans.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::probes {

std::int64_t launches_for(double span, double seconds_each, std::int64_t copies) {
  constexpr double shortest = 1e-6;  // no kernel is shorter; limits the graph when an estimate is wrong
  const double wanted = std::ceil(span / std::max(seconds_each, shortest));
  const auto rounds = static_cast<std::int64_t>(std::ceil(wanted / static_cast<double>(copies)));
  return std::max<std::int64_t>(rounds, 1) * copies;
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return std::nan("");
  }
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

namespace {

void tell(Result& result, const std::vector<double>& spans) {
  const std::size_t told = std::min(spans.size(), static_cast<std::size_t>(most_told));
  std::copy(spans.end() - static_cast<std::ptrdiff_t>(told), spans.end(), result.told_seconds.begin());
  result.told = static_cast<std::int64_t>(told);
}

}  // namespace

Result summary(const std::vector<double>& spans, std::int64_t launches) {
  Result result{};
  result.latency_seconds = median(spans);
  result.fastest_seconds = *std::min_element(spans.begin(), spans.end());
  result.slowest_seconds = *std::max_element(spans.begin(), spans.end());
  result.spans = static_cast<std::int64_t>(spans.size());
  result.launches = launches;
  tell(result, spans);
  return result;
}

Result sustained_summary(const std::vector<double>& spans, std::int64_t launches) {
  Result result = summary(spans, launches);
  result.first_seconds = spans.front();
  result.lasted_seconds = 0.0;
  for (const double span : spans) {
    result.lasted_seconds += span * static_cast<double>(launches);
  }
  const auto half = static_cast<std::ptrdiff_t>(spans.size() / 2);
  result.latency_seconds = median({spans.begin() + half, spans.end()});
  return result;
}

}  // namespace headroom::probes
