// SPDX-License-Identifier: Apache-2.0
// Writes fitted serving numbers back into their files, and the error classes of serving.
#pragma once

#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Value as in the files, with three digits: "634 us", 0.38.
[[nodiscard]] std::string serving_value_text(const ServingKnob& knob, double value);

/// Whole text of serve-confidence.toml.
[[nodiscard]] std::string serving_confidence_toml(const ServingConfidence& confidence);

/// Replaces numbers and sources in FOLDER/stacks/{serve,step}/*.toml and writes serve-confidence.toml there. Files
/// whose numbers were all held, and their stacks' errors, stay unchanged. Returns the written files. Throws
/// ConfigError, and writes nothing, when a file or a number in it is missing.
[[nodiscard]] std::vector<std::string> write_serving_files(const ServingFit& fit, const std::string& folder);

}  // namespace headroom
