// SPDX-License-Identifier: Apache-2.0
// The load of a serving plan, as benchmarks of serving engines send it.
#pragma once

#include <headroom/scenarios/launch/launch_rows.hpp>
#include <headroom/scenarios/launch/shell_words.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {
struct ServeScenario;
}  // namespace headroom

namespace headroom::launch {

/// Load that one benchmark sends to one server.
struct BenchLoad {
  std::int64_t isl = 1, osl = 1;  ///< mean tokens per request
  double spread = 0.0;            ///< lengths are uniform between 1 - spread and 1 + spread of the means, 0 to 1
  std::int64_t prompts = 1;
  std::optional<double> rate;    ///< requests/s of an open load; absent: `concurrency` requests are in flight
  double burstiness = 1.0;       ///< shape of gamma-distributed gaps; 1: Poisson
  std::int64_t concurrency = 1;  ///< requests in flight of a load without a rate
  std::string percentiles;       ///< promised percentiles, "95,99"; empty: none
};

/// Sets keys of [traffic] and [fleet]. Additional keys: `launch.servers` (replicas with spares), `launch.spread`
/// (relative half-width of uniform lengths with the traffic's variance), `launch.percentiles`, `launch.refused` (result
/// of refused_requests()).
void set_traffic(const ServeScenario& serve, LaunchPlan& plan);

/// Load on one server: that of all replicas if `one_server` holds them, else that of one replica.
[[nodiscard]] BenchLoad bench_load(const LaunchPlan& plan, bool one_server);

/// Gap distributions that a benchmark supports.
enum class BenchGaps : bool { poisson, gamma };

/// Covers the keys that the launch line and its benchmark express, and notes the others.
void note_load(LaunchWriting& writing, bool one_server, BenchGaps gaps);

/// Number of requests and their arrival: `--num-prompts`, then `--request-rate` with `--burstiness`, or
/// `--max-concurrency`. Each benchmark has its own flags for lengths.
[[nodiscard]] std::vector<std::string> load_words(const BenchLoad& load);

/// The words of a vLLM benchmark or of one made after it: `command`, then lengths, load and what is measured.
[[nodiscard]] std::vector<std::string> random_bench(std::vector<std::string> command, const BenchLoad& load);

/// How a benchmark means --random-range-ratio r of a length l: from (1 - r) l to (1 + r) l, or from r l to l.
enum class RangeRatio : bool { around, below };

/// Reads lengths, concurrency or rate of a benchmark with random requests.
void read_benchmark(const std::vector<ShellWord>& words, RangeRatio ratio, LaunchReading& reading);

}  // namespace headroom::launch
