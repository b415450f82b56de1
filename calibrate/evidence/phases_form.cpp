// SPDX-License-Identifier: Apache-2.0
// Tables of the phases of steps.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_phases(const FileHead& head) noexcept {
  const TableForm table = table_form_of(first_line_of(head.text));
  return table == TableForm::phases || table == TableForm::wide_phases;
}

void read_phases_file(const std::string& file, Evidence& evidence) {
  read_phases(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::phases{
    .name = "phases of a training step",
    .made_by = "phase,seconds with a row a phase, or step,data_load_ms,forward_ms,backward_ms with a row a step",
    .is = is_phases,
    .read = read_phases_file,
    .order = 3,
};

}  // namespace headroom
