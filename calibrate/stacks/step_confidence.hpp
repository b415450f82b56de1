// SPDX-License-Identifier: Apache-2.0
// What a fit's errors on sources that it never saw say of the next question: the classes of confidence.toml.
#pragma once

#include <headroom/calibrate/stacks/fit_step.hpp>
#include <headroom/model/train/errors/confidence.hpp>

#include <string>

namespace headroom {

/// Widths of the classes are quantiles of |left-out error|, every run alike; level and shape the standard deviations
/// of families' means and of runs around them, each family alike (families of one run have no shape). A class without
/// left-out runs keeps what `before` has. The measured ground is that of the fitted runs.
[[nodiscard]] Confidence confidence_of_fit(const StepFit& fit, const Sources& sources, const Confidence& before);

/// The whole file.
[[nodiscard]] std::string confidence_toml(const Confidence& confidence);

}  // namespace headroom
