// SPDX-License-Identifier: Apache-2.0
// Reports of Nsight Systems, which may hold many processes.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/traces/nsys_reader.hpp>

namespace headroom {
namespace {

bool is_nsys(const FileHead& head) noexcept {
  return begins_as_sqlite(head.text);
}

void read_nsys_file(const std::string& file, Evidence& evidence) {
  for (const Timeline& timeline : read_nsys(file)) {
    evidence.ranks.push_back(traced_rank(timeline));
  }
}

}  // namespace

const EvidenceForm evidence_forms::nsys{
    .name = "report of Nsight Systems, as SQLite",
    .made_by = "nsys export --type sqlite report.nsys-rep",
    .is = is_nsys,
    .read = read_nsys_file,
};

}  // namespace headroom
