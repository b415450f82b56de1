// SPDX-License-Identifier: Apache-2.0
// Timelines of memory by purpose, of PyTorch's profiler.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// "[[-1, 1, 37888, 7], ...": four numbers in the first list.
bool is_memory_timeline(const FileHead& head) noexcept {
  const std::size_t end = head.text.find(']');
  const std::string_view first = head.text.substr(0, end);
  const std::size_t at = first.find_first_not_of(" \t\r\n");
  if (end == std::string_view::npos || at == std::string_view::npos || first[at] != '[') {
    return false;
  }
  const std::size_t inner = first.find('[', at + 1);
  return inner != std::string_view::npos && first.find_first_not_of(" \t\r\n", at + 1) == inner &&
         first.find_first_not_of("0123456789-, \t\r\n", inner + 1) == std::string_view::npos &&
         std::count(first.begin(), first.end(), ',') == 3;
}

void read_memory_timeline_file(const std::string& file, Evidence& evidence) {
  evidence.timelines.push_back(read_memory_timeline(file));
}

}  // namespace

const EvidenceForm evidence_forms::memory_timeline{
    .name = "memory timeline of PyTorch's profiler, raw",
    .made_by = "prof.export_memory_timeline('memory.raw.json.gz')",
    .is = is_memory_timeline,
    .read = read_memory_timeline_file,
};

}  // namespace headroom
