// SPDX-License-Identifier: Apache-2.0
// GPUs over all files that tell of them, and the order in which signals are read.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/catalog.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

constexpr double works = 0.02;  ///< busy share above which a sample is of the run

std::optional<double> busy_of(const GpuSample& sample) {
  return sample.get(Signal::busy) ? sample.get(Signal::busy) : sample.get(Signal::engine_active);
}

/// Sums of one GPU while they are taken.
struct GpuSums {
  GpuSummary summary;
  std::array<double, signal_count> sum{};
  std::array<std::int64_t, signal_count> count{};
  std::int64_t low = 0, high = 0, told = 0;
};

void take_series(GpuSums& sums, const GpuSignals& series) {
  std::size_t first = 0;
  std::size_t last = series.samples.size();
  const auto working = [](const GpuSample& sample) { return busy_of(sample).value_or(0.0) > works; };
  const auto begin = std::find_if(series.samples.begin(), series.samples.end(), working);
  if (begin != series.samples.end()) {
    first = static_cast<std::size_t>(begin - series.samples.begin());
    last = static_cast<std::size_t>(std::find_if(series.samples.rbegin(), series.samples.rend(), working).base() -
                                    series.samples.begin());
  }
  if (first == last) {
    return;
  }
  GpuSummary& summary = sums.summary;
  if (summary.place.empty()) {
    summary.place = series.file + ":" + std::to_string(series.samples[first].line);
  }
  summary.name = summary.name.empty() ? series.name : summary.name;
  summary.unique = summary.unique.empty() ? series.unique : summary.unique;
  summary.samples += static_cast<std::int64_t>(last - first);
  constexpr double low = 0.3;
  constexpr double high = 0.7;
  for (std::size_t i = first; i < last; ++i) {
    const GpuSample& sample = series.samples[i];
    for (std::size_t s = 0; s < signal_count; ++s) {
      if (const std::optional<double> value = sample.values[s]) {
        sums.sum[s] += *value;
        ++sums.count[s];
        summary.least[s] = std::min(summary.least[s].value_or(*value), *value);
        summary.most[s] = std::max(summary.most[s].value_or(*value), *value);
      }
    }
    if (const std::optional<double> busy = busy_of(sample)) {
      ++sums.told;
      sums.low += *busy < low ? 1 : 0;
      sums.high += *busy > high ? 1 : 0;
    }
  }
}

/// What the tables of processes say of a GPU, else its memory.
void take_processes(GpuSummary& summary, const Signals& signals) {
  for (const ProcessUse& use : signals.processes) {
    const bool same = use.gpu == summary.gpu || (!summary.unique.empty() && use.gpu == summary.unique);
    if (!same) {
      continue;
    }
    const bool holds = use.process && (!use.memory || *use.memory >= least_context);
    summary.holds = summary.holds.value_or(false) || holds;
    if (holds && summary.process.empty()) {
      summary.process = use.file + ":" + std::to_string(use.line) + ": process " + std::to_string(*use.process) +
                        (use.name.empty() ? "" : " (" + use.name + ")");
    }
  }
  if (!summary.holds && summary.peak(Signal::memory_used)) {
    summary.holds = Bytes{*summary.peak(Signal::memory_used)} >= least_context;
  }
}

}  // namespace

bool GpuSummary::used() const noexcept {
  const std::optional<double> most_busy = peak(Signal::busy) ? peak(Signal::busy) : peak(Signal::engine_active);
  return holds.value_or(false) || most_busy.value_or(0.0) > works || peak(Signal::sm_active).value_or(0.0) > works;
}

std::vector<GpuSummary> gpu_summaries(const Signals& signals) {
  std::vector<GpuSums> all;
  const auto of = [&](const std::string& gpu) -> GpuSums& {
    const auto found = std::find_if(all.begin(), all.end(), [&](const GpuSums& s) {
      return s.summary.gpu == gpu || (!s.summary.unique.empty() && s.summary.unique == gpu);
    });
    if (found != all.end()) {
      return *found;
    }
    all.emplace_back();
    all.back().summary.gpu = gpu;
    return all.back();
  };
  for (const GpuSignals& series : signals.gpus) {
    take_series(of(series.gpu), series);
  }
  for (const ProcessUse& use : signals.processes) {
    GpuSummary& summary = of(use.gpu).summary;
    summary.place = summary.place.empty() ? use.file + ":" + std::to_string(use.line) : summary.place;
  }
  std::vector<GpuSummary> summaries;
  for (GpuSums& sums : all) {
    for (std::size_t s = 0; s < signal_count; ++s) {
      if (sums.count[s] > 0) {
        sums.summary.mean[s] = sums.sum[s] / real(sums.count[s]);
      }
    }
    const double told = real(std::max<std::int64_t>(1, sums.told));
    constexpr double some = 0.1;
    sums.summary.spread = real(sums.high) / told >= some ? real(sums.low) / told : 0.0;
    take_processes(sums.summary, signals);
    summaries.push_back(std::move(sums.summary));
  }
  return summaries;
}

const Device* device_of_name(const std::string& name) {
  if (name.empty()) {
    return nullptr;
  }
  static const Catalog catalog = Catalog::standard();
  try {
    return &catalog.device(name);
  } catch (const ConfigError&) {
    return nullptr;  // a card that the catalog lacks: what needs its numbers stays unsaid
  }
}

void keep_table(FindingTable table, RunReading& reading) {
  if (!table.rows.empty()) {
    reading.tables.push_back(std::move(table));
  }
}

void add_signals(const Signals& signals, RunReading& reading) {
  const std::vector<GpuSummary> gpus = gpu_summaries(signals);
  for (const GpuSummary& gpu : gpus) {
    reading.gpu = reading.gpu.empty() ? gpu.name : reading.gpu;
  }
  for (const TrainingLog& log : signals.logs) {
    reading.gpu = reading.gpu.empty() ? log.gpu : reading.gpu;
  }
  add_phases(signals, reading);
  add_processes(signals, gpus, reading);
  add_use(signals, gpus, reading);
  add_clocks(signals, gpus, reading);
  add_latencies(signals, reading);
  add_engines(signals, reading);
  add_iterations(signals, reading);
  add_formats(signals, gpus, reading);
  add_profiles(signals, reading);
  add_jobs(signals, reading);
}

}  // namespace headroom
