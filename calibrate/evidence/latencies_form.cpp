// SPDX-License-Identifier: Apache-2.0
// Tables of latencies over time.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_latencies(const FileHead& head) noexcept {
  return table_form_of(first_line_of(head.text)) == TableForm::latencies;
}

void read_latencies_file(const std::string& file, Evidence& evidence) {
  read_latencies(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::latencies{
    .name = "latencies of requests",
    .made_by = "time_s,latency_s,prompt_tokens with a row a request",
    .is = is_latencies,
    .read = read_latencies_file,
    .order = 3,
};

}  // namespace headroom
