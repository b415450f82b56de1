// SPDX-License-Identifier: Apache-2.0
// Logs of serving engines.
#include <headroom/calibrate/evidence/evidence_form.hpp>
#include <headroom/calibrate/evidence/evidence_list.hpp>
#include <headroom/calibrate/telemetry/engine_journal.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>

#include <string>
#include <string_view>

namespace headroom {
namespace {

bool is_engine_journal(const FileHead& head) noexcept {
  const auto holds = [&](std::string_view word) { return head.text.find(word) != std::string_view::npos; };
  return tells_engine_load(head.text) || holds("preempted by PreemptionMode") || holds("Retract requests") ||
         holds("vLLM API server version") || holds("GPU KV cache size: ") || holds("KV Cache is allocated");
}

void read_engine_journal_file(const std::string& file, Evidence& evidence) {
  read_engine_journal(telemetry_text(file), file, evidence.signals);
}

}  // namespace

const EvidenceForm evidence_forms::engine_journal{
    .name = "log of vLLM or SGLang at work",
    .made_by = "vllm serve MODEL 2>&1 | tee vllm.log",
    .is = is_engine_journal,
    .read = read_engine_journal_file,
    .order = 2,
};

}  // namespace headroom
