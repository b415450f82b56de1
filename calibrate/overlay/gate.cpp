// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/overlay/gate.hpp>
#include <headroom/calibrate/samples/spread.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace headroom {
namespace {

/// Continued fraction of the incomplete beta function (Abramowitz and Stegun 1964, 26.5.8) by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int most = 300;
  const auto bounded = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1.0;
  double d = 1.0 / bounded(1.0 - (a + b) * x / (a + 1.0));
  double h = d;
  for (int i = 1; i <= most; ++i) {
    const double m = i;
    for (const double term : {m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))}) {
      d = 1.0 / bounded(1.0 + term * d);
      c = bounded(1.0 + term / c);
      h *= d * c;
    }
    if (std::abs(d * c - 1.0) < 1e-14) {
      break;
    }
  }
  return h;
}

/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0 || x >= 1.0) {
    return x <= 0.0 ? 0.0 : 1.0;
  }
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/// P(T > t) of Student's t (Abramowitz and Stegun 1964, 26.7.1).
double above(double t, double freedom) {
  const double both = incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
  return t > 0.0 ? 0.5 * both : 1.0 - 0.5 * both;
}

/// The t with P(T > t) = p for p < 1/2, by bisection: `above` decreases in t.
double student(double p, double freedom) {
  double low = 0.0;
  double high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (above(middle, freedom) > p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

struct Moments {
  double n = 0.0, mean = 0.0, variance = 0.0;
};

/// Moments of logarithms, with outliers moved to the farthest ordinary value to limit their weight.
Moments moments_of(std::span<const double> values) {
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
  Moments m;
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

/// A difference of logarithms, its standard error and degrees of freedom.
struct Difference {
  double value = 0.0, error = 0.0, freedom = 1.0;
};

double p_above(double value, const Difference& d) {
  if (d.error <= 0.0) {
    return d.value > value ? 0.0 : 1.0;
  }
  return above((d.value - value) / d.error, d.freedom);
}

void judge(GateRow& row, const Difference& d, const GateRule& rule) {
  const double tail = 0.5 * (1.0 - rule.confidence);
  const double limit = std::log1p(rule.threshold);
  const double reach = d.error > 0.0 ? student(tail, d.freedom) * d.error : 0.0;
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

/// Family of a probe's name, the words before the first that begins with a digit: "gemm bf16" of "gemm bf16 1x128x64".
std::string family_of(const std::string& name) {
  std::size_t end = name.size();
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (name[i - 1] == ' ' && name[i] >= '0' && name[i] <= '9') {
      end = i - 1;
      break;
    }
  }
  return name.substr(0, end);
}

/// Holm 1979: multiplies the k-th smallest of n p-values by n - k + 1 and keeps their order.
void correct(std::vector<GateRow>& rows, const GateRule& rule) {
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

std::vector<GateRow> families_of(const std::map<std::string, std::vector<double>>& differences, const GateRule& rule) {
  std::vector<GateRow> rows;
  for (const auto& [family, logs] : differences) {
    if (logs.size() < 2) {
      continue;
    }
    Difference d;
    const auto n = static_cast<double>(logs.size());
    d.value = mean(logs);
    double squares = 0.0;
    for (const double value : logs) {
      squares += (value - d.value) * (value - d.value);
    }
    d.error = std::sqrt(squares / (n - 1.0) / n);
    d.freedom = n - 1.0;
    GateRow row;
    row.name = family;
    row.n_a = row.n_b = logs.size();
    judge(row, d, rule);
    rows.push_back(std::move(row));
  }
  return rows;
}

GateVerdict verdict_of(const Gate& gate) {
  const auto any = [](const std::vector<GateRow>& rows, GateVerdict verdict) {
    return std::any_of(rows.begin(), rows.end(), [&](const GateRow& r) { return r.verdict == verdict; });
  };
  if (any(gate.families, GateVerdict::slower) || any(gate.probes, GateVerdict::slower)) {
    return GateVerdict::slower;
  }
  const std::vector<GateRow>& judged = gate.families.empty() ? gate.probes : gate.families;
  if (any(judged, GateVerdict::inconclusive)) {
    return GateVerdict::inconclusive;
  }
  return any(judged, GateVerdict::same) ? GateVerdict::same : GateVerdict::faster;
}

}  // namespace

GateRow compare_times(std::string name, std::span<const double> a, std::span<const double> b, const GateRule& rule) {
  const Moments of_a = moments_of(a);
  const Moments of_b = moments_of(b);
  const double error_a = of_a.variance / of_a.n;
  const double error_b = of_b.variance / of_b.n;
  Difference d;
  d.value = of_b.mean - of_a.mean;
  d.error = std::sqrt(error_a + error_b);
  // Welch 1947, Satterthwaite 1946.
  const double freedom = error_a * error_a / (of_a.n - 1.0) + error_b * error_b / (of_b.n - 1.0);
  d.freedom = freedom > 0.0 ? (error_a + error_b) * (error_a + error_b) / freedom : of_a.n + of_b.n - 2.0;
  GateRow row;
  row.name = std::move(name);
  row.n_a = a.size();
  row.n_b = b.size();
  judge(row, d, rule);
  return row;
}

Gate compare_calibrations(std::span<const ProbeTiming> a, std::span<const ProbeTiming> b, const GateRule& rule) {
  Gate gate;
  std::map<std::string_view, const ProbeTiming*> of_b;
  for (const ProbeTiming& timing : b) {
    if (timing.counted > 0) {
      of_b.emplace(timing.key, &timing);
    }
  }
  std::map<std::string, std::vector<double>> differences;
  for (const ProbeTiming& timing : a) {
    if (timing.counted == 0) {
      continue;
    }
    const auto found = of_b.find(timing.key);
    if (found == of_b.end()) {
      gate.only_a.push_back(timing.key);
      continue;
    }
    const ProbeTiming& other = *found->second;
    of_b.erase(found);
    differences[family_of(timing.key)].push_back(std::log(other.sample.latency / timing.sample.latency));
    if (timing.spans.size() > 1 && other.spans.size() > 1) {
      gate.probes.push_back(compare_times(timing.key, timing.spans, other.spans, rule));
    }
  }
  for (const auto& [key, timing] : of_b) {
    gate.only_b.emplace_back(key);
  }
  if (differences.empty()) {
    throw ConfigError{"the two hold no probe in common: nothing can be compared"};
  }
  correct(gate.probes, rule);
  gate.families = families_of(differences, rule);
  gate.verdict = verdict_of(gate);
  return gate;
}

}  // namespace headroom
