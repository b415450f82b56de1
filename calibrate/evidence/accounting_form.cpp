// SPDX-License-Identifier: Apache-2.0
// Accounts that sacct writes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_accounting(const FileHead& head) noexcept {
  const std::string_view first = first_line_of(head.text);
  return first.find("JobID") != std::string_view::npos && first.find('|') != std::string_view::npos &&
         first.find("State") != std::string_view::npos;
}

void read_accounting_file(const std::string& file, Evidence& evidence) {
  read_accounting(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::accounting{
    .name = "accounts of Slurm",
    .made_by = "sacct -P -o JobID,JobName,State,ExitCode,Elapsed,NodeList",
    .is = is_accounting,
    .read = read_accounting_file,
    .order = 0,
};

}  // namespace headroom
