// SPDX-License-Identifier: Apache-2.0
// Tables that nvidia-smi --query-gpu writes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/smi_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_smi_csv(const FileHead& head) noexcept {
  const std::string_view first = first_line_of(head.text);
  const auto holds = [&](std::string_view word) { return first.find(word) != std::string_view::npos; };
  const bool smi = holds("utilization.gpu") || holds("utilization.memory") || holds("clocks.") || holds("clocks_") ||
                   holds("temperature.gpu") || holds("power.draw") || holds("memory.used");
  return smi && !holds("pid");
}

void read_smi_csv_file(const std::string& file, Evidence& evidence) {
  read_smi_csv(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::smi_csv{
    .name = "samples of nvidia-smi",
    .made_by =
        "nvidia-smi --query-gpu=timestamp,index,name,utilization.gpu,clocks.sm,clocks.max.sm,memory.used --format=csv "
        "-l 1",
    .is = is_smi_csv,
    .read = read_smi_csv_file,
    .order = 0,
};

}  // namespace headroom
