// SPDX-License-Identifier: Apache-2.0
// How often something breaks: published rates, and what they come to for a job of many GPUs.
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

/// What was counted. Job: every unexpected interruption of a job, software and network among them. GPU: failures of
/// GPUs alone, a part of what interrupts a job.
enum class FailureScope : std::uint8_t { job, gpu };
inline constexpr std::array<std::string_view, 2> failure_scope_names{"job", "gpu"};

/// A published rate of failures.
struct FailureRate {
  std::string id, name, file, source, notes;
  std::string gpu;        ///< as the source calls it
  std::int64_t gpus = 1;  ///< that it was seen on
  FailureScope scope = FailureScope::job;
  /// A second and GPU. The interval is that of the count (80 %), the source's own range, or no wider than the number
  /// where a source prints nothing but a rate.
  Interval<Hertz> per_gpu;
};

/// Reads `failures` in `duration` on `gpus`, or `failures_at_least` and `failures_at_most`, or
/// `failures_per_1000_node_days` with `gpus_per_node`. Problems go to `diagnostics`.
[[nodiscard]] FailureRate read_failure_rate(const ConfigValue& document,
                                            const std::string& file,
                                            Diagnostics& diagnostics);

/// All that ship, by id.
[[nodiscard]] const std::vector<FailureRate>& failure_rates();
/// ConfigError with the known ids for another.
[[nodiscard]] const FailureRate& failure_rate(std::string_view id);

/// The 80 % interval of the mean of a Poisson count: Byar's approximation of the exact limits (Rothman and Boice 1979;
/// Garwood 1936). Of zero events the low end is zero. `events` at least 0.
[[nodiscard]] Interval<double> count_interval(double events) noexcept;

/// Lowest, median and highest rate of the sources that counted this; they differ by more than any count explains.
/// ConfigError when there is none.
[[nodiscard]] Interval<Hertz> failure_range(std::span<const FailureRate> rates, FailureScope scope);

/// Mean time between failures of a job that stops when any of its GPUs does: 1 / (gpus x per_gpu + per_job), failures
/// independent and without memory. `per_job`: of what does not grow with the GPUs (a storage, a scheduler, the code).
/// ConfigError for no GPUs, negative rates, or no failures at all.
[[nodiscard]] Seconds job_mtbf(Hertz per_gpu, double gpus, Hertz per_job = Hertz{});

/// Throughput left where the clock falls to `clock` of itself and `compute_share` of the time is bound by it:
/// 1 / (share / clock + 1 - share). In a synchronous step that of the slowest GPU is everybody's.
[[nodiscard]] constexpr double throttled(double clock, double compute_share) noexcept {
  return 1.0 / (compute_share / clock + 1.0 - compute_share);
}

}  // namespace headroom::goodput
