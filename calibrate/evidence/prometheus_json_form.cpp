// SPDX-License-Identifier: Apache-2.0
// Answers of the HTTP API of Prometheus.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/prometheus_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_prometheus_json(const FileHead& head) noexcept {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head.text[first] == '{' &&
         head.text.find("\"resultType\"") != std::string_view::npos;
}

void read_prometheus_json_file(const std::string& file, Evidence& evidence) {
  read_prometheus_json(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::prometheus_json{
    .name = "answer of Prometheus to a query",
    .made_by = "curl 'http://HOST:9090/api/v1/query_range?query=DCGM_FI_PROF_SM_ACTIVE&start=...'",
    .is = is_prometheus_json,
    .read = read_prometheus_json_file,
    .order = 0,
};

}  // namespace headroom
