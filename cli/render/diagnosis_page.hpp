// SPDX-License-Identifier: Apache-2.0
// A reading of a run as one HTML file that needs nothing but itself.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>

#include <string>

namespace headroom::cli {

/// Verdict, the first three causes with a command to ask on, the parts of a step as one bar (beside those of a plan
/// where the reading has them), one step of each rank as a drawing, tables, notes, and the document.
[[nodiscard]] std::string diagnosis_page(const RunReading& reading);

}  // namespace headroom::cli
