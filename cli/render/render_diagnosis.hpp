// SPDX-License-Identifier: Apache-2.0
// A reading of a run for people and as a document.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/calibrate/diagnosis/cause.hpp>

#include <string>

namespace headroom::cli {

/// One sentence: the first cause with its gain, or that nothing stands out.
[[nodiscard]] std::string verdict_of(const RunReading& reading);
/// A cell of a table for people; "-" where nothing is known.
[[nodiscard]] std::string text_of_cell(const FindingCell& cell);
[[nodiscard]] std::string diagnosis_text(const RunReading& reading);
/// Schema "headroom.diagnose/1": raw SI, the unit in the key.
[[nodiscard]] Value diagnosis_document(const RunReading& reading);

}  // namespace headroom::cli
