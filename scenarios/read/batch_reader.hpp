// SPDX-License-Identifier: Apache-2.0
// The tables of a question of kind batch.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/inference/batch_scenario.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What a table of latency_rows (keys/batch_keys.hpp) promises, p50 to p999 in this order.
template <class Slo>
[[nodiscard]] std::vector<BatchPromise> read_latencies(Slo& slo) {
  std::vector<BatchPromise> promises;
  const auto promise = [&](double share, const std::optional<Seconds>& latency) {
    if (latency) {
      promises.push_back({share, *latency});
    }
  };
  promise(0.5, slo.template stated<"p50">());
  promise(0.95, slo.template stated<"p95">());
  promise(0.99, slo.template stated<"p99">());
  promise(0.999, slo.template stated<"p999">());
  return promises;
}

/// [hardware], [inference], [requests], [clients], [job], [data], [money], [energy]; `model` may be left out where
/// [[inference.call]] states calls. Throws ConfigError with every problem at once.
[[nodiscard]] BatchScenario read_batch_scenario(const ConfigValue& root,
                                                const std::string& file,
                                                const Sources& sources,
                                                const NetworkLibrary& networks);

}  // namespace headroom
