// SPDX-License-Identifier: Apache-2.0
// Columns that nvidia-smi dmon prints.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_smi_monitor(const FileHead& head) noexcept {
  const std::string_view first = trimmed(first_line_of(head.text));
  const auto holds = [&](std::string_view word) { return first.find(word) != std::string_view::npos; };
  const bool names = holds("pwr") || holds("sm") || holds("fb") || holds("clk");
  return first.starts_with("#") && holds("gpu") && names && !holds("pid");
}

void read_smi_monitor_file(const std::string& file, Evidence& evidence) {
  read_smi_monitor(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::smi_monitor{
    .name = "nvidia-smi dmon",
    .made_by = "nvidia-smi dmon -s pucvmt",
    .is = is_smi_monitor,
    .read = read_smi_monitor_file,
    .order = 0,
};

}  // namespace headroom
