// SPDX-License-Identifier: Apache-2.0
// Logs with losses and loss scales.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/training_log.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_training_log(const FileHead& head) noexcept {
  return tells_training(head.text);
}

void read_training_log_file(const std::string& file, Evidence& evidence) {
  read_training_log(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::training_log{
    .name = "log of a training run",
    .made_by = "torchrun train.py 2>&1 | tee train.log",
    .is = is_training_log,
    .read = read_training_log_file,
    .order = 9,
};

}  // namespace headroom
