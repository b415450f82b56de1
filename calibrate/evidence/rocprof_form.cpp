// SPDX-License-Identifier: Apache-2.0
// Traces of rocprofiler-sdk's tool, one a process.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/traces/rocprof_reader.hpp>

namespace headroom {
namespace {

bool is_rocprof(const FileHead& head) noexcept {
  return head.text.substr(0, 256).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
}

void read_rocprof_file(const std::string& file, Evidence& evidence) {
  evidence.ranks.push_back(traced_rank(read_rocprof(file)));
}

}  // namespace

const EvidenceForm evidence_forms::rocprof{
    .name = "trace of rocprofiler-sdk",
    .made_by = "rocprofv3 --kernel-trace --memory-copy-trace --output-format json",
    .is = is_rocprof,
    .read = read_rocprof_file,
};

}  // namespace headroom
