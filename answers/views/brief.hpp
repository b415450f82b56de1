// SPDX-License-Identifier: Apache-2.0
// An answer in a few lines: the verdict, and the numbers that a planner needs first.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {

/// Of a plan or the plan that a search takes: whether it fits, its time, its cost, what a GPU does, how sure that is.
/// Of a fleet or a simulation: its GPUs, its times, its cost. Of several plans or counts of GPUs: a line each. What the
/// document does not hold is left out.
[[nodiscard]] std::string brief_text(const Value& document, bool time_over = false);

/// "PARTIAL: interrupted", or that the time ran out: how the text of an answer begins that was stopped before its end.
[[nodiscard]] std::string partial_text(bool time_over);

}  // namespace headroom
