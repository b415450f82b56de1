// SPDX-License-Identifier: Apache-2.0
// Reports that nvidia-smi -q prints.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_smi_details(const FileHead& head) noexcept {
  const auto holds = [&](std::string_view word) { return head.text.find(word) != std::string_view::npos; };
  return holds("NVSMI LOG") || holds("Clocks Throttle Reasons") || holds("Clocks Event Reasons");
}

void read_smi_details_file(const std::string& file, Evidence& evidence) {
  read_smi_details(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::smi_details{
    .name = "report of nvidia-smi",
    .made_by = "nvidia-smi -q -d CLOCK,PERFORMANCE",
    .is = is_smi_details,
    .read = read_smi_details_file,
    .order = 1,
};

}  // namespace headroom
