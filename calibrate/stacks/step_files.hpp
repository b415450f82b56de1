// SPDX-License-Identifier: Apache-2.0
// Writes fitted numbers of the training step back into their files.
#pragma once

#include <headroom/calibrate/stacks/fit_step.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Value as in the files, with three digits: "634 us", 0.38.
[[nodiscard]] std::string step_value_text(const StepKnob& knob, double value);

/// Replaces the free numbers and their tables' sources in FOLDER/stacks/{train,step}/*.toml (layout of the model
/// folder); everything else stays byte for byte. All files are read back before any is written, and each is written
/// completely or not at all. Returns the written files. Throws ConfigError when a file or a number in it is missing.
[[nodiscard]] std::vector<std::string> write_step_files(const StepFit& fit, const std::string& folder);

}  // namespace headroom
