// SPDX-License-Identifier: Apache-2.0
// Error classes of confidence.toml, from a fit's errors on left-out sources.
#pragma once

#include <headroom/calibrate/stacks/fit_step.hpp>
#include <headroom/model/train/errors/confidence.hpp>

#include <string>

namespace headroom {

/// Widths are quantiles of |left-out error| over runs with equal weight. Level and shape are standard deviations of
/// families' means and of runs around them, over families with equal weight (families of one run have no shape). A
/// class without left-out runs keeps its values in `before`. The measured ground is that of the fitted runs.
[[nodiscard]] Confidence confidence_of_fit(const StepFit& fit, const Sources& sources, const Confidence& before);

/// Whole text of confidence.toml.
[[nodiscard]] std::string confidence_toml(const Confidence& confidence);

}  // namespace headroom
