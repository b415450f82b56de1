// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/validation/scored_row.hpp>

#include <cmath>

namespace headroom {

std::optional<Seconds> step_time_of(const ScoredRow& row, double value) {
  if (row.metric == "step_time_s") {
    return Seconds{value};
  }
  if (!row.run || !row.run->global_batch || !row.run->gpus || !row.run->seq_len) {
    return std::nullopt;
  }
  const auto batch = static_cast<double>(*row.run->global_batch);
  if (row.metric == "samples_per_s") {
    return Seconds{batch / value};
  }
  if (row.metric == "tokens_per_s_per_gpu") {
    return Seconds{batch * static_cast<double>(*row.run->seq_len) / static_cast<double>(*row.run->gpus) / value};
  }
  return std::nullopt;
}

std::string beyond_hardware(std::string_view metric, double measured, const RowPrediction& prediction) {
  if (prediction.status != RowStatus::ok || prediction.fastest <= 0.0) {
    return {};
  }
  const double excess = std::pow(measured / prediction.fastest, -time_sign(metric));
  return excess > 1.0 ? "faster than the roofline by " + format_number(excess) + "x: check units" : std::string{};
}

}  // namespace headroom
