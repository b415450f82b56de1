// SPDX-License-Identifier: Apache-2.0
// Columns that nvidia-smi pmon prints.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_process_monitor(const FileHead& head) noexcept {
  const std::string_view first = trimmed(first_line_of(head.text));
  return first.starts_with("#") && first.find("gpu") != std::string_view::npos &&
         first.find("pid") != std::string_view::npos;
}

void read_process_monitor_file(const std::string& file, Evidence& evidence) {
  read_process_monitor(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::process_monitor{
    .name = "nvidia-smi pmon",
    .made_by = "nvidia-smi pmon -s um",
    .is = is_process_monitor,
    .read = read_process_monitor_file,
    .order = 0,
};

}  // namespace headroom
