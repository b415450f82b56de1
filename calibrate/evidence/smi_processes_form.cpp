// SPDX-License-Identifier: Apache-2.0
// Tables that nvidia-smi --query-compute-apps writes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_smi_processes(const FileHead& head) noexcept {
  const std::string_view first = first_line_of(head.text);
  return first.find("pid") != std::string_view::npos && (first.find("used_memory") != std::string_view::npos ||
                                                         first.find("used_gpu_memory") != std::string_view::npos);
}

void read_smi_processes_file(const std::string& file, Evidence& evidence) {
  read_smi_processes(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::smi_processes{
    .name = "processes of nvidia-smi",
    .made_by = "nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv",
    .is = is_smi_processes,
    .read = read_smi_processes_file,
    .order = 0,
};

}  // namespace headroom
