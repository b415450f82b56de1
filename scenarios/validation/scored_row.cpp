// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/validation/scored_row.hpp>

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

}  // namespace headroom
