// SPDX-License-Identifier: Apache-2.0
// Failure rates: the published ones, and the mean time between failures of a job with many GPUs.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::goodput {

/// What a source counts. `job`: every unexpected interruption of a job, software and network among them. `gpu`: GPU
/// failures alone, only part of what interrupts a job.
enum class FailureScope : std::uint8_t { job, gpu };
inline constexpr std::array<std::string_view, 2> failure_scope_names{"job", "gpu"};

/// A published rate of failures.
struct FailureRate {
  std::string id, name, file, source, notes;
  std::string gpu;        ///< SKU name as the source writes it
  std::int64_t gpus = 1;  ///< GPUs in the source's sample, >= 1
  FailureScope scope = FailureScope::job;
  /// Failures per second and GPU. Low and high are the 80 % interval of the count or the source's own range; equal to
  /// the middle where a source states only a rate.
  Interval<Hertz> per_gpu;
};

/// Reads `failures` in `duration` on `gpus`, or `failures_at_least` and `failures_at_most`, or
/// `failures_per_1000_node_days` with `gpus_per_node`. Problems go to `diagnostics`.
[[nodiscard]] FailureRate read_failure_rate(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

/// All rates that ship with Headroom, sorted by id.
[[nodiscard]] const std::vector<FailureRate>& failure_rates();
/// Throws ConfigError with the known ids for an unknown id.
[[nodiscard]] const FailureRate& failure_rate(std::string_view id);

/// 80 % interval of the mean of a Poisson count: Byar's approximation of the exact limits (Rothman and Boice 1979;
/// Garwood 1936). `events` >= 0; the low end is 0 for no events.
[[nodiscard]] Interval<double> count_interval(double events) noexcept;

/// Lowest, median and highest rate of the sources with this scope; sources differ by more than counting error. Throws
/// ConfigError when there is no such source.
[[nodiscard]] Interval<Hertz> failure_range(std::span<const FailureRate> rates, FailureScope scope);

/// Mean time between failures of a job that stops when any of its GPUs fails: 1 / (gpus x per_gpu + per_job), failures
/// independent and memoryless. `per_job`: rate of failures that do not grow with the GPUs (storage, scheduler, code).
/// Throws ConfigError for no GPUs, negative rates, or a total rate of zero.
[[nodiscard]] Seconds job_mtbf(Hertz per_gpu, double gpus, Hertz per_job = Hertz{});

/// Throughput left where the clock falls to `clock` of itself and `compute_share` of the time is bound by it:
/// 1 / (share / clock + 1 - share). In a synchronous step that of the slowest GPU is everybody's.
[[nodiscard]] constexpr double throttled(double clock, double compute_share) noexcept {
  return 1.0 / (compute_share / clock + 1.0 - compute_share);
}

}  // namespace headroom::goodput
