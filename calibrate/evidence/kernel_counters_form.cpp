// SPDX-License-Identifier: Apache-2.0
// Counters of kernels that Nsight Compute writes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/import/kernel_profile.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_kernel_counters(const FileHead& head) noexcept {
  const auto holds = [&](std::string_view word) { return head.text.find(word) != std::string_view::npos; };
  const std::string_view first = first_line_of(head.text);
  return (holds("Kernel Name") && (holds("Metric Name") || holds("gpu__time_duration"))) ||
         (first.find("counter") != std::string_view::npos && first.find("value") != std::string_view::npos);
}

void read_kernel_counters_file(const std::string& file, Evidence& evidence) {
  evidence.signals.profiles.push_back({file, read_kernel_profiles(telemetry_text(file), file)});
}

}  // namespace

const EvidenceForm evidence_forms::kernel_counters{
    .name = "counters of kernels",
    .made_by = "ncu --csv --page raw --set full PROGRAM",
    .is = is_kernel_counters,
    .read = read_kernel_counters_file,
    .order = 1,
};

}  // namespace headroom
