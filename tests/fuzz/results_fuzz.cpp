// SPDX-License-Identifier: Apache-2.0
// Any text as the result of a benchmark or as iterations of an engine: a reading of numbers and shares of 0 to 1, or
// refused with its problems. The first byte chooses which.
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/telemetry/iteration_log.hpp>
#include <headroom/core/diagnostic.hpp>

#include "require.hpp"
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Chosen chosen{data, size, 2};
  Evidence evidence;
  evidence.files = {"f"};
  try {
    if (chosen.which == 0) {
      BenchmarkResult result = read_result(chosen.text, "f");
      for (const LoadRun& load : result.loads) {
        if (std::optional<LatencySeries> series = first_token_series(load, "f")) {
          evidence.signals.latencies.push_back(std::move(*series));
        }
      }
      evidence.results.push_back(std::move(result));
    } else {
      read_iteration_log(chosen.text, "f", evidence.signals);
    }
  } catch (const ConfigError&) {
    return 0;
  }
  const RunReading reading = reading_of(evidence);
  for (const Cause& cause : reading.causes) {
    fuzz::require(cause.lost >= 0.0 && cause.lost <= 1.0 + 1e-9);
    fuzz::require(!cause.time_ratio || (*cause.time_ratio >= 0.0 && *cause.time_ratio <= 1.0));
    fuzz::require(!cause.says.empty() && !cause.cure.empty());
  }
  for (const FindingTable& table : reading.tables) {
    for (const auto& row : table.rows) {
      fuzz::require(row.size() == table.columns.size());
      for (const FindingCell& cell : row) {
        const double* const number = std::get_if<double>(&cell);
        fuzz::require(number == nullptr || std::isfinite(*number));
      }
    }
  }
  return 0;
}
