// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler, one a process.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/traces/kineto_reader.hpp>

namespace headroom {
namespace {

bool is_kineto(const FileHead& head) noexcept {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return false;
  }
  const auto holds = [&](std::string_view word) { return head.text.find(word) != std::string_view::npos; };
  const bool json = head.text[first] == '{' || head.text[first] == '[';
  return json && (holds("\"traceEvents\"") || holds("\"schemaVersion\"") || holds("\"deviceProperties\"") ||
                  (holds("\"ph\"") && holds("\"ts\"")));
}

void read_kineto_file(const std::string& file, Evidence& evidence) {
  evidence.ranks.push_back(traced_rank(read_kineto(file)));
}

}  // namespace

const EvidenceForm evidence_forms::kineto{
    .name = "trace of PyTorch's profiler",
    .made_by = "prof.export_chrome_trace('rank0.json.gz')",
    .is = is_kineto,
    .read = read_kineto_file,
    .order = 1,
};

}  // namespace headroom
