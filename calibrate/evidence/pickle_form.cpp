// SPDX-License-Identifier: Apache-2.0
// Pickles of PyTorch, told apart by their members: dumps of the flight recorder and snapshots of memory.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/core/diagnostic.hpp>

namespace headroom {
namespace {

bool holds_word(const FileHead& head, std::string_view word) noexcept {
  return head.text.find(word) != std::string_view::npos;
}

bool is_pickle(const FileHead& head) noexcept {
  return begins_as_pickle(head.text);
}

/// The same members as JSON, which PyTorch's debug server writes.
bool is_record_json(const FileHead& head) noexcept {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && head.text[first] == '{' && !holds_word(head, "\"traceEvents\"") &&
         !holds_word(head, "\"schemaVersion\"") &&
         (holds_word(head, "\"profiling_name\"") || holds_word(head, "\"segment_type\"") ||
          (holds_word(head, "\"pg_config\"") && holds_word(head, "\"pg_status\"")));
}

void add_record(const PlainData& data, const std::string& file, Evidence& evidence) {
  if (is_memory_snapshot(data)) {
    evidence.snapshots.push_back(read_memory_snapshot(data, file));
  } else if (is_recorder_dump(data)) {
    evidence.records.push_back(read_recorder_dump(data, file));
  } else {
    Diagnostics diagnostics;
    diagnostics.add(file, {},
                    "the file holds neither entries of the flight recorder nor segments of a memory snapshot; dump one "
                    "with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 or torch.cuda.memory._dump_snapshot('memory.pickle')");
    diagnostics.throw_if_any();
  }
}

void read_pickle_record(const std::string& file, Evidence& evidence) {
  add_record(read_pickle_file(file), file, evidence);
}

void read_json_record(const std::string& file, Evidence& evidence) {
  add_record(read_plain_json(file), file, evidence);
}

}  // namespace

const EvidenceForm evidence_forms::pickle{
    .name = "flight recorder or memory snapshot of PyTorch",
    .made_by = "TORCH_NCCL_TRACE_BUFFER_SIZE=2000, torch.cuda.memory._dump_snapshot('memory.pickle')",
    .is = is_pickle,
    .read = read_pickle_record,
};

const EvidenceForm evidence_forms::record_json{
    .name = "flight recorder of PyTorch in JSON",
    .made_by = "torch._C._distributed_c10d._dump_nccl_trace_json()",
    .is = is_record_json,
    .read = read_json_record,
};

}  // namespace headroom
