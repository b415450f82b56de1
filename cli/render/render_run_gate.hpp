// SPDX-License-Identifier: Apache-2.0
// A candidate's benchmark against a baseline's, for people and as a document.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/calibrate/gate/run_gate.hpp>

#include <string>

namespace headroom::cli {

/// Verdict, a line a metric, what more runs would show, what was passed over.
[[nodiscard]] std::string run_gate_text(const RunGate& gate, const RunGateRule& rule);
/// Schema "headroom.run_gate/1".
[[nodiscard]] Value run_gate_document(const RunGate& gate, const RunGateRule& rule);

}  // namespace headroom::cli
