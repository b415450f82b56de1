// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks that tell of a load or a training.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/diagnostic.hpp>

#include <optional>
#include <utility>

namespace headroom {
namespace {

bool is_benchmark(const FileHead& head) noexcept {
  return tells_load(head.text);
}

void read_benchmark_file(const std::string& file, Evidence& evidence) {
  BenchmarkResult result = read_result(telemetry_text(file), file);
  if (result.loads.empty() && result.trainings.empty()) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "the result tells of no load and of no training; 'headroom gate' compares two such "
                                  "files"}}};
  }
  result.file = file;
  for (const LoadRun& load : result.loads) {
    if (std::optional<LatencySeries> series = first_token_series(load, file)) {
      evidence.signals.latencies.push_back(std::move(*series));
    }
  }
  evidence.results.push_back(std::move(result));
}

}  // namespace

const EvidenceForm evidence_forms::benchmark{
    .name = "result of a benchmark",
    .made_by =
        "vllm bench serve --save-result, SGLang's bench_serving, GuideLLM, AIPerf, MLPerf loadgen, MLPerf "
        "Endpoints, MLLOG, trtllm-bench",
    .is = is_benchmark,
    .read = read_benchmark_file,
};

}  // namespace headroom
