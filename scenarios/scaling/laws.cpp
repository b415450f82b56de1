// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/scaling/laws.hpp>

#include <cmath>

namespace headroom::scaling {
namespace {

/// The f that minimises the sum of (constant + slope f)^2, and the root mean square that it leaves.
struct Line {
  double constant = 0.0, slope = 0.0;
};
template <class ToLine>
std::optional<LawFit> fit(std::span<const Speedup> points, ToLine to_line) noexcept {
  double cross = 0.0;
  double square = 0.0;
  for (const Speedup& p : points) {
    const Line line = to_line(p);
    cross += line.constant * line.slope;
    square += line.slope * line.slope;
  }
  if (square <= 0.0) {
    return std::nullopt;
  }
  LawFit result{-cross / square, 0.0};
  double misfit = 0.0;
  double count = 0.0;
  for (const Speedup& p : points) {
    const Line line = to_line(p);
    if (line.slope != 0.0) {
      misfit += std::pow(line.constant + line.slope * result.f, 2);
      count += 1.0;
    }
  }
  result.misfit = std::sqrt(misfit / count);
  return result;
}

bool pays(const Output& o, DollarsPerSecond price, const Budget& budget, double work) noexcept {
  const bool by_rate = !budget.rate || real(o.gpus) * price <= *budget.rate;
  const bool by_run = !budget.run || cost_of(o, price, work) <= *budget.run;
  return by_rate && by_run;
}

}  // namespace

double amdahl_speedup(double f, double n) noexcept {
  return 1.0 / ((1.0 - f) + f / n);
}

double gustafson_speedup(double f, double n) noexcept {
  return (1.0 - f) + f * n;
}

std::optional<LawFit> fit_amdahl(std::span<const Speedup> points) noexcept {
  return fit(points, [](const Speedup& p) { return Line{p.speedup - 1.0, -p.speedup * (1.0 - 1.0 / p.workers)}; });
}

std::optional<LawFit> fit_gustafson(std::span<const Speedup> points) noexcept {
  return fit(points, [](const Speedup& p) { return Line{1.0 / p.speedup - 1.0, (p.workers - 1.0) / p.speedup}; });
}

std::vector<double> marginal_efficiencies(std::span<const Output> series) {
  std::vector<double> result(series.size(), 1.0);
  for (std::size_t i = 1; i < series.size(); ++i) {
    const Output& before = series[i - 1];
    const Output& here = series[i];
    const double added = (here.per_second - before.per_second) / real(here.gpus - before.gpus);
    result[i] = added / (before.per_second / real(before.gpus));
  }
  return result;
}

std::optional<std::int64_t> stopping_count(std::span<const Output> series, double least) {
  const std::vector<double> marginal = marginal_efficiencies(series);
  for (std::size_t i = 1; i < series.size(); ++i) {
    if (marginal[i] < least) {
      return series[i].gpus;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> knee(std::span<const Output> series, double least) {
  const std::vector<double> marginal = marginal_efficiencies(series);
  std::optional<std::int64_t> largest;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (i == 0 || marginal[i] >= least) {
      largest = series[i].gpus;
    }
  }
  return largest;
}

Dollars cost_of(const Output& output, DollarsPerSecond price_per_gpu, double work) noexcept {
  return real(output.gpus) * (price_per_gpu * Seconds{work / output.per_second});
}

std::optional<std::int64_t> most_useful_gpus(std::span<const Output> series,
                                             DollarsPerSecond price_per_gpu,
                                             const Budget& budget,
                                             double work,
                                             double least_per_dollar) {
  std::optional<std::int64_t> most;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!pays(series[i], price_per_gpu, budget, work)) {
      break;
    }
    if (i > 0) {
      const double added = series[i].per_second - series[i - 1].per_second;
      const DollarsPerSecond paid = real(series[i].gpus - series[i - 1].gpus) * price_per_gpu;
      if (added / paid.raw() < least_per_dollar) {
        break;
      }
    }
    most = series[i].gpus;
  }
  return most;
}

}  // namespace headroom::scaling
