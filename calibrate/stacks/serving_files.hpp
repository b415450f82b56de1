// SPDX-License-Identifier: Apache-2.0
// Fitted serving numbers back into the files they came from, and the classes of their errors.
#pragma once

#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>

#include <string>
#include <vector>

namespace headroom {

/// As the files write it, to three digits: "634 us", 0.38.
[[nodiscard]] std::string serving_value_text(const ServingKnob& knob, double value);

/// Of each stack, quantity and kind of network with forty runs or more, and of any stack: the tenth and the ninetieth
/// percentile of measured / predicted. A stack with fewer takes those of any.
[[nodiscard]] ServingConfidence confidence_of_serving_fit(const ServingFit& fit);

/// The whole file.
[[nodiscard]] std::string serving_confidence_toml(const ServingConfidence& confidence);

/// Replaces the numbers and sources in FOLDER/stacks/{serve,step}/*.toml and writes serve-confidence.toml beside them.
/// Files of numbers that were all held, and the errors of their stacks, stay as they are. Returns the files.
/// ConfigError when one is missing or does not hold a number where it belongs; then none is written.
[[nodiscard]] std::vector<std::string> write_serving_files(const ServingFit& fit, const std::string& folder);

}  // namespace headroom
