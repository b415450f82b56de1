// SPDX-License-Identifier: Apache-2.0
// A measured row with its prediction.
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A measured row, its prediction and its groups.
struct ScoredRow {
  std::string id, file, metric, unit;
  double measured = 0.0;
  RowPrediction prediction;
  std::vector<std::string> groups;  ///< "all", "file=...", "source=...", ...
  double weight = 1.0;
  std::string source{};                                   ///< publication, used for groups only
  std::shared_ptr<const RunConfiguration> run{};          ///< what the model saw of a training row; else null
  std::shared_ptr<const ServingConfiguration> serving{};  ///< what the model saw of a serving row; else null
  /// Prediction, in the row's unit, by a fit that left out the row's source; NaN without one.
  double left_out = std::numeric_limits<double>::quiet_NaN();
  /// Mean |predicted/measured - 1| of the time by such fits with 1 or 3 other runs of the family given; NaN without
  /// any.
  std::array<double, 2> told{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  [[nodiscard]] double error() const noexcept { return prediction.predicted / measured - 1.0; }
};

/// Step time behind `value` (in the row's unit) of a training row with a time or throughput; nullopt for other rows and
/// for TFLOP metrics, because sources count FLOP differently.
[[nodiscard]] std::optional<Seconds> step_time_of(const ScoredRow& row, double value);

/// "faster than the roofline by 1.30x: check units" when a measurement beats the hardware's bound; else empty.
[[nodiscard]] std::string beyond_hardware(std::string_view metric, double measured, const RowPrediction& prediction);

/// 1 for times, -1 for rates: turns the sign of a relative error into that of a time.
[[nodiscard]] constexpr double time_sign(std::string_view metric) noexcept {
  return metric == "step_time_s" || metric == "time_to_train_s" || metric.find("_ms") != std::string_view::npos ? 1.0
                                                                                                                : -1.0;
}

}  // namespace headroom
