// SPDX-License-Identifier: Apache-2.0
// The load that a serving plan counts with, as the benchmarks of serving engines send it.
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

/// What one benchmark sends to one server.
struct BenchLoad {
  std::int64_t isl = 1, osl = 1;  ///< mean tokens
  double spread = 0.0;            ///< lengths are drawn evenly from 1 - spread to 1 + spread of the means
  std::int64_t prompts = 1;
  std::optional<double> rate;    ///< requests/s, however many are under way; blank: `concurrency` are under way
  double burstiness = 1.0;       ///< shape of gamma gaps; 1: Poisson
  std::int64_t concurrency = 1;  ///< of a load without a rate
  std::string percentiles;       ///< "95,99": those that are promised; empty: none
};

/// Keys of [traffic] and [fleet]. Beside those of a scenario: `launch.servers` (replicas with the spare ones),
/// `launch.spread` (half the width of even lengths as wide as the traffic's), `launch.percentiles`, `launch.refused`
/// (refused_requests()).
void set_traffic(const ServeScenario& serve, LaunchPlan& plan);

/// Of all replicas where one server holds them, else of one.
[[nodiscard]] BenchLoad bench_load(const LaunchPlan& plan, bool one_server);

/// Whether a benchmark's gaps may be other than those of a Poisson process.
enum class BenchGaps : bool { poisson, gamma };

/// Covers what the line and its benchmark say of the load and the fleet, and notes the rest of it.
void note_load(LaunchWriting& writing, bool one_server, BenchGaps gaps);

/// How many requests and how they come: `--num-prompts`, then `--request-rate` with the `--burstiness` of its gaps, or
/// `--max-concurrency`. Their lengths each benchmark says in its own way.
[[nodiscard]] std::vector<std::string> load_words(const BenchLoad& load);

/// The words of a vLLM benchmark or of one made after it: `command`, then lengths, load and what is measured.
[[nodiscard]] std::vector<std::string> random_bench(std::vector<std::string> command, const BenchLoad& load);

/// How a benchmark means --random-range-ratio r of a length l: from (1 - r) l to (1 + r) l, or from r l to l.
enum class RangeRatio : bool { around, below };

/// Lengths, concurrency or rate of a benchmark of random requests.
void read_benchmark(const std::vector<ShellWord>& words, RangeRatio ratio, LaunchReading& reading);

}  // namespace headroom::launch
