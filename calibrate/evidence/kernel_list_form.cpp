// SPDX-License-Identifier: Apache-2.0
// Lists of kernels that nsys stats writes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_kernel_list(const FileHead& head) noexcept {
  const std::string_view first = first_line_of(head.text);
  return first.find("Start (") != std::string_view::npos && first.find("Duration (") != std::string_view::npos &&
         first.find("GrdX") != std::string_view::npos;
}

void read_kernel_list_file(const std::string& file, Evidence& evidence) {
  read_kernel_list(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::kernel_list{
    .name = "kernels of Nsight Systems",
    .made_by = "nsys stats --report cuda_gpu_trace --format csv report.nsys-rep",
    .is = is_kernel_list,
    .read = read_kernel_list_file,
    .order = 0,
};

}  // namespace headroom
