// SPDX-License-Identifier: Apache-2.0
// Fitted numbers back into the files they came from.
#pragma once

#include <headroom/calibrate/stacks/fit_step.hpp>

#include <string>
#include <vector>

namespace headroom {

/// As the files write it, to three digits: "634 us", 0.38.
[[nodiscard]] std::string step_value_text(const StepKnob& knob, double value);

/// Replaces the free numbers, and the sources of their tables, in FOLDER/stacks/{train,step}/*.toml, laid out as the
/// project's model folder; all else stays byte by byte. Every file is read back before any is written, and each is
/// written whole or not at all. Returns the files. ConfigError when one is missing or does not hold a number where it
/// belongs.
[[nodiscard]] std::vector<std::string> write_step_files(const StepFit& fit, const std::string& folder);

}  // namespace headroom
