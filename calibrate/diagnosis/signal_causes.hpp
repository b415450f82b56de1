// SPDX-License-Identifier: Apache-2.0
// Causes from telemetry, logs and tables over time: each kind of evidence adds what it says to a reading.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/telemetry/signals.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct Device;

/// Below this share of the time a cause is not named: runs differ by as much.
inline constexpr double least_signal_share = 0.03;
/// Above this share of its peak a unit holds a kernel up (Nsight Compute's own line, as in `busy_unit`); of the use of
/// a GPU, planners ask for 80 %.
inline constexpr double wanted_busy = 0.8;
/// A context of CUDA alone holds some hundred MiB; less is the driver's own or a display's.
inline constexpr Bytes least_context{128.0 * 0x1p20};

/// A GPU over all files that tell of it, while the run worked: samples before the first and after the last with a
/// kernel are left out.
struct GpuSummary {
  std::string gpu, name, unique;
  std::string place;  ///< "file:line" of its first sample
  std::int64_t samples = 0;
  std::array<std::optional<double>, signal_count> mean{}, least{}, most{};
  double spread = 0.0;        ///< share of samples below 30 % busy, 0 where fewer than a tenth are above 70 %
  std::optional<bool> holds;  ///< a process of the program has memory on it; unset: not told
  std::string process;        ///< that does, with its place

  [[nodiscard]] std::optional<double> get(Signal signal) const noexcept {
    return mean[static_cast<std::size_t>(signal)];
  }
  [[nodiscard]] std::optional<double> peak(Signal signal) const noexcept {
    return most[static_cast<std::size_t>(signal)];
  }
  /// Time with a kernel resident: the driver's, else that of the engine.
  [[nodiscard]] std::optional<double> busy() const noexcept {
    return get(Signal::busy) ? get(Signal::busy) : get(Signal::engine_active);
  }
  /// Whether the program uses it, as far as the files tell.
  [[nodiscard]] bool used() const noexcept;
};
[[nodiscard]] std::vector<GpuSummary> gpu_summaries(const Signals& signals);

/// The SKU that a driver's name means; nullptr: the catalog has none.
[[nodiscard]] const Device* device_of_name(const std::string& name);

/// Adds a table that has rows.
void keep_table(FindingTable table, RunReading& reading);

/// Adds all that the signals say: use side by side, parts of a step, causes, tables, notes.
void add_signals(const Signals& signals, RunReading& reading);

/// Utilisation, SMs, tensor cores and memory side by side; starved GPUs where neither traces nor phases say for what
/// they wait, memory at its peak, products on the ordinary units, too little work for the SMs, periodic stops.
void add_use(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading);

/// Clocks below their most while the GPU works, with the reason and the price: work that computes slows down as the
/// clock does, work at the memory's bandwidth does not (roofline; Williams, Waterman and Patterson 2009).
void add_clocks(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading);

/// GPUs without a process beside others that have one.
void add_processes(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading);

/// Phases as the parts of a step: they sum to it. Loading, collectives, copies and checkpoints with what goes without.
void add_phases(const Signals& signals, RunReading& reading);

/// Latencies above the others': after idleness, beside long prompts, at a fixed period.
void add_latencies(const Signals& signals, RunReading& reading);

/// Full KV caches, preempted requests, queues.
void add_engines(const Signals& signals, RunReading& reading);

/// Iterations of an engine: GPUs that wait for the scheduler, prompts that hold decodes up.
void add_iterations(const Signals& signals, RunReading& reading);

/// Numbers out of the range of their format, and which format the SKU offers in its place.
void add_formats(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading);

/// Counters of kernels: what holds most of their time up; lists of kernels: how many a second, and the gaps between.
void add_profiles(const Signals& signals, RunReading& reading);

/// Jobs that failed, by state and node.
void add_jobs(const Signals& signals, RunReading& reading);

}  // namespace headroom
