// SPDX-License-Identifier: Apache-2.0
// Metrics of DCGM's exporter and of engines.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/prometheus_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_prometheus_text(const FileHead& head) noexcept {
  const auto holds = [&](std::string_view word) { return head.text.find(word) != std::string_view::npos; };
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (head.text[first] == '{' || head.text[first] == '[');
  return !json && (holds("# TYPE ") || holds("\nDCGM_FI_") || head.text.starts_with("DCGM_FI_") || holds("\nvllm:") ||
                   head.text.starts_with("vllm:") || head.text.starts_with("sglang:"));
}

void read_prometheus_text_file(const std::string& file, Evidence& evidence) {
  read_prometheus_text(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::prometheus_text{
    .name = "metrics in Prometheus' text format",
    .made_by = "curl http://HOST:9400/metrics (DCGM exporter), http://HOST:8000/metrics (vLLM, SGLang)",
    .is = is_prometheus_text,
    .read = read_prometheus_text_file,
    .order = 1,
};

}  // namespace headroom
