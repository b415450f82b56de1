// SPDX-License-Identifier: Apache-2.0
// Columns that dcgmi dmon prints.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/monitor_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_dcgm_monitor(const FileHead& head) noexcept {
  const std::string_view first = trimmed(first_line_of(head.text));
  return first.starts_with("#") && first.find("Entity") != std::string_view::npos;
}

void read_dcgm_monitor_file(const std::string& file, Evidence& evidence) {
  read_dcgm_monitor(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::dcgm_monitor{
    .name = "dcgmi dmon",
    .made_by = "dcgmi dmon -e 203,1002,1003,1004,1005",
    .is = is_dcgm_monitor,
    .read = read_dcgm_monitor_file,
    .order = 0,
};

}  // namespace headroom
