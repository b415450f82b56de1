// SPDX-License-Identifier: Apache-2.0
// Logs of TensorRT-LLM's servers.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/iteration_log.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>

namespace headroom {
namespace {

bool is_iteration_log(const FileHead& head) noexcept {
  return tells_iterations(head.text);
}

void read_iteration_log_file(const std::string& file, Evidence& evidence) {
  read_iteration_log(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::iteration_log{
    .name = "iterations of a TensorRT-LLM server",
    .made_by = "trtllm-serve MODEL with print_iter_log: true",
    .is = is_iteration_log,
    .read = read_iteration_log_file,
    .order = 2,
};

}  // namespace headroom
