// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/gate/student.hpp>
#include <headroom/calibrate/gate/welch.hpp>
#include <headroom/calibrate/samples/spread.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headroom {
namespace {

double p_above(double value, const LogDifference& d) {
  if (d.error <= 0.0) {
    return d.value > value ? 0.0 : 1.0;
  }
  return student_above((d.value - value) / d.error, d.freedom);
}

}  // namespace

LogMoments log_moments(std::span<const double> values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (const double value : values) {
    logs.push_back(std::log(value));
  }
  const std::vector<bool> odd = outliers_of(values);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (!odd[i]) {
      low = std::min(low, logs[i]);
      high = std::max(high, logs[i]);
    }
  }
  LogMoments m;
  m.n = static_cast<double>(logs.size());
  for (double& value : logs) {
    value = std::clamp(value, low, high);
    m.mean += value / m.n;
  }
  for (const double value : logs) {
    m.variance += (value - m.mean) * (value - m.mean) / (m.n - 1.0);
  }
  return m;
}

LogMoments log_moments(double n, double mean, double deviation) {
  const double variance = std::log1p(deviation * deviation / (mean * mean));
  return {n, std::log(mean) - 0.5 * variance, variance};
}

LogDifference welch(const LogMoments& a, const LogMoments& b) {
  const double error_a = a.variance / a.n;
  const double error_b = b.variance / b.n;
  LogDifference d;
  d.value = b.mean - a.mean;
  d.error = std::sqrt(error_a + error_b);
  const double freedom = error_a * error_a / (a.n - 1.0) + error_b * error_b / (b.n - 1.0);
  d.freedom = freedom > 0.0 ? (error_a + error_b) * (error_a + error_b) / freedom : a.n + b.n - 2.0;
  return d;
}

void judge(GateRow& row, const LogDifference& d, const GateRule& rule) {
  const double tail = 0.5 * (1.0 - rule.confidence);
  const double limit = std::log1p(rule.threshold);
  const double reach = d.error > 0.0 ? student_quantile(tail, d.freedom) * d.error : 0.0;
  row.ratio = std::exp(d.value);
  row.low = std::exp(d.value - reach);
  row.high = std::exp(d.value + reach);
  row.p = p_above(limit, d);
  const bool not_slower = 1.0 - row.p < tail;
  const bool faster = 1.0 - p_above(-limit, d) < tail;
  row.verdict = row.p < tail ? GateVerdict::slower
                : faster     ? GateVerdict::faster
                : not_slower ? GateVerdict::same
                             : GateVerdict::inconclusive;
}

void correct_for_number(std::vector<GateRow>& rows, const GateRule& rule) {
  std::vector<GateRow*> order;
  for (GateRow& row : rows) {
    order.push_back(&row);
  }
  std::stable_sort(order.begin(), order.end(), [](const GateRow* a, const GateRow* b) { return a->p < b->p; });
  double least = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    least = std::max(least, std::min(1.0, order[k]->p * static_cast<double>(order.size() - k)));
    order[k]->p = least;
    if (order[k]->verdict == GateVerdict::slower && least >= 0.5 * (1.0 - rule.confidence)) {
      order[k]->verdict = GateVerdict::inconclusive;
    }
  }
}

GateRow compare_times(std::string name, std::span<const double> a, std::span<const double> b, const GateRule& rule) {
  GateRow row;
  row.name = std::move(name);
  row.n_a = a.size();
  row.n_b = b.size();
  judge(row, welch(log_moments(a), log_moments(b)), rule);
  return row;
}

double least_shown(const LogDifference& d, double power, const GateRule& rule) {
  const double tail = 0.5 * (1.0 - rule.confidence);
  return std::expm1(std::log1p(rule.threshold) +
                    (student_quantile(tail, d.freedom) + student_quantile(1.0 - power, d.freedom)) * d.error);
}

std::optional<double> runs_needed(double variance, double power, const GateRule& rule) {
  constexpr double most = 1e6;
  const double limit = std::log1p(rule.threshold);
  if (limit <= 0.0) {
    return std::nullopt;
  }
  const double tail = 0.5 * (1.0 - rule.confidence);
  const auto enough = [&](double n) {
    const double freedom = 2.0 * (n - 1.0);
    const double reach = student_quantile(tail, freedom) + student_quantile(1.0 - power, freedom);
    return n * limit * limit >= 2.0 * variance * reach * reach;
  };
  double high = 2.0;
  while (!enough(high)) {
    if (high >= most) {
      return std::nullopt;
    }
    high *= 2.0;
  }
  double low = high / 2.0;
  while (high - low > 1.0) {
    const double middle = std::floor(0.5 * (low + high));
    (middle >= 2.0 && enough(middle) ? high : low) = middle;
  }
  return std::max(2.0, high);
}

}  // namespace headroom
