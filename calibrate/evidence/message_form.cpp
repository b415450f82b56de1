// SPDX-License-Identifier: Apache-2.0
// Logs with lines of NCCL, PyTorch's watchdog, CUDA or the driver.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>

namespace headroom {
namespace {

/// A program that dies says so in its last lines, far behind the head.
bool holds_messages(const std::string& file) noexcept {
  try {
    TraceText text{file};
    constexpr std::size_t longest_word = 64;
    std::string end;
    for (std::string_view piece = text.next(); !piece.empty(); piece = text.next()) {
      end += piece.substr(0, longest_word);
      if (has_run_messages(piece) || has_run_messages(end)) {
        return true;
      }
      end = piece.substr(piece.size() - std::min(longest_word, piece.size()));
    }
  } catch (const std::exception&) {
    return false;  // whoever reads it says why
  }
  return false;
}

bool is_message_log(const FileHead& head) noexcept {
  const std::size_t first = head.text.find_first_not_of(" \t\r\n");
  const bool text =
      first != std::string_view::npos && head.text[first] != '{' && head.text.find('\0') == std::string_view::npos;
  return text && (has_run_messages(head.text) || holds_messages(head.file));
}

void read_message_log(const std::string& file, Evidence& evidence) {
  evidence.messages.push_back(read_run_messages(file));
}

}  // namespace

const EvidenceForm evidence_forms::messages{
    .name = "log with lines of NCCL, the watchdog, CUDA or the driver",
    .made_by = "NCCL_DEBUG=INFO, dmesg",
    .is = is_message_log,
    .read = read_message_log,
    .order = 20,
};

}  // namespace headroom
