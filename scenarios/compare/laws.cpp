// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/compare/laws.hpp>

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

}  // namespace

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

SeriesLaws laws_of(std::span<const Output> series, double least) {
  SeriesLaws told;
  std::vector<Speedup> speedups;
  for (const Output& here : series) {
    speedups.push_back({real(here.gpus) / real(series[0].gpus), here.per_second / series[0].per_second});
    told.speedup.push_back(speedups.back().speedup);
    told.efficiency.push_back(speedups.back().speedup / speedups.back().workers);
  }
  told.marginal = marginal_efficiencies(series);
  told.amdahl = fit_amdahl(speedups);
  told.gustafson = fit_gustafson(speedups);
  if (series.size() >= 2) {
    told.knee = knee(series, least);
    told.stop = stopping_count(series, least);
  }
  return told;
}

Dollars cost_of(const Output& output, DollarsPerSecond price_per_gpu, double work) noexcept {
  return real(output.gpus) * (price_per_gpu * Seconds{work / output.per_second});
}

bool pays(const Budget& budget, const Output& output, DollarsPerSecond price_per_gpu, double work) noexcept {
  const bool by_rate = !budget.rate || real(output.gpus) * price_per_gpu <= *budget.rate;
  const bool by_run = !budget.run || cost_of(output, price_per_gpu, work) <= *budget.run;
  return by_rate && by_run;
}

std::optional<std::int64_t> most_useful_gpus(std::span<const Output> series,
                                             DollarsPerSecond price_per_gpu,
                                             const Budget& budget,
                                             double work,
                                             double least_per_dollar) {
  const Output* taken = nullptr;
  for (const Output& here : series) {
    if (!pays(budget, here, price_per_gpu, work)) {
      continue;
    }
    if (taken != nullptr) {
      const double added = here.per_second - taken->per_second;
      const DollarsPerSecond paid = real(here.gpus - taken->gpus) * price_per_gpu;
      if (added / paid.raw() < least_per_dollar) {
        continue;
      }
    }
    taken = &here;
  }
  return taken == nullptr ? std::nullopt : std::optional{taken->gpus};
}

}  // namespace headroom::scaling
