// SPDX-License-Identifier: Apache-2.0
// What results of benchmarks say of a server under load and of trainings.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/telemetry/signals.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Whether a client sent what it was asked for, and the server kept up.
enum class LoadState : std::uint8_t {
  told_nothing,  ///< the file does not say what was asked
  kept_up,
  client_bound,  ///< fewer requests were sent than asked
  saturated,     ///< fewer ended than were sent, or waits grow
  closed_loop,   ///< a new request goes out when one ends: the load follows the server
  all_at_once,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(LoadState::count)> load_state_names{
    "not told", "kept up", "client-bound", "saturated", "closed loop", "all at once"};
[[nodiscard]] LoadState state_of(const LoadRun& load);

/// Mean requests in flight: told, else rate times mean latency (Little 1961).
[[nodiscard]] std::optional<double> in_flight_of(const LoadRun& load);

/// What of the mean TTFT is no prefill: the stated queue times, else what is beyond the fastest twentieth of requests
/// with prompts of like length (within a quarter). nullopt: neither is told, or fewer than 20 requests are alike.
[[nodiscard]] std::optional<Seconds> wait_before_prefill(const LoadRun& load);

/// Times to first token by begin, for those who look for spikes; nullopt: fewer than 20 requests have a begin.
[[nodiscard]] std::optional<LatencySeries> first_token_series(const LoadRun& load, const std::string& file);

/// Standard deviation over mean; nullopt: fewer than two values, or a mean that is not above 0.
[[nodiscard]] std::optional<double> relative_deviation(std::span<const double> values);

/// Adds the loads' and trainings' tables, causes and notes. Rates differ by chance: a Poisson count of n scatters by
/// its root, of which two are allowed, and a twentieth for the ends of the run.
void add_results(std::span<const BenchmarkResult> results, RunReading& reading);

/// The trainings alone, which add_results() adds as well.
void add_trainings(std::span<const BenchmarkResult> results, RunReading& reading);

}  // namespace headroom
