// SPDX-License-Identifier: Apache-2.0
// A reading of a run as one HTML file that needs nothing but itself.
#pragma once

#include <headroom/calibrate/against/plan_gap.hpp>
#include <headroom/calibrate/diagnosis/cause.hpp>

#include <string>
#include <string_view>

namespace headroom::cli {

/// What to ask next about a cause: a command whose SCENARIO.toml, SKU and MODEL are the reader's.
[[nodiscard]] std::string_view command_of(CauseKind kind) noexcept;

/// Verdict, the first three causes with a command to ask on, the parts of a step as one bar (with a gap beside those
/// of its plan), one step of each rank as a drawing, tables, notes, and the document.
[[nodiscard]] std::string diagnosis_page(const RunReading& reading, const PlanGap* gap = nullptr);

}  // namespace headroom::cli
