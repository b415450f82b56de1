// SPDX-License-Identifier: Apache-2.0
// Metrics in Prometheus' text exposition format (DCGM's exporter, vLLM, SGLang), one scrape or several, and answers of
// its HTTP API to range queries.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Reads the metrics that are known of GPUs and engines; others are passed over. A series that stands again is the next
/// scrape. ConfigError with every problem: a line that is no metric, a value that is no number, no metric that is
/// known.
void read_prometheus_text(std::string_view text, const std::string& file, Signals& signals);

/// The same of {"status": "success", "data": {"resultType": "matrix" or "vector", "result": [...]}}.
void read_prometheus_json(std::string_view text, const std::string& file, Signals& signals);

}  // namespace headroom
