// SPDX-License-Identifier: Apache-2.0
// A measured row with its prediction.
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One scored row.
struct ScoredRow {
  std::string id, file, metric, unit;
  double measured = 0.0;
  RowPrediction prediction;
  std::vector<std::string> groups;  ///< "all", "file=...", "source=...", ...
  double weight = 1.0;
  std::string source{};                                   ///< publication, to name groups
  std::shared_ptr<const RunConfiguration> run{};          ///< of training rows: what the model saw
  std::shared_ptr<const ServingConfiguration> serving{};  ///< the same of serving rows
  /// What a fit that never saw the row's source predicts, in the row's unit; NaN where there was none.
  double left_out = std::numeric_limits<double>::quiet_NaN();
  [[nodiscard]] double error() const noexcept { return prediction.predicted / measured - 1.0; }
};

/// Step time of a training row that states time or throughput, from a value in its unit; nullopt for other rows.
/// TFLOP metrics are left out: sources count FLOP differently.
[[nodiscard]] std::optional<Seconds> step_time_of(const ScoredRow& row, double value);

/// "faster than the roofline by 1.30x: check units" of a measurement that beats the hardware's bound; else empty.
[[nodiscard]] std::string beyond_hardware(std::string_view metric, double measured, const RowPrediction& prediction);

/// 1 for times, -1 for rates: the sign that turns a relative error into one of time.
[[nodiscard]] constexpr double time_sign(std::string_view metric) noexcept {
  return metric == "step_time_s" || metric.find("_ms") != std::string_view::npos ? 1.0 : -1.0;
}

}  // namespace headroom
