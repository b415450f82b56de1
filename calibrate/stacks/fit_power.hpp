// SPDX-License-Identifier: Apache-2.0
// Fits what a GPU draws while an engine serves (model/power, serving_power()) to measured powers, and estimates its
// error on networks that were no part of the fit.
#pragma once

#include <headroom/calibrate/stacks/fit_errors.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A number of `[serving]` in stacks/step/power.toml, in the file's units.
struct PowerNumber {
  std::string_view name;
  double before = 0.0;  ///< in the file
  double fitted = 0.0;
  double low = 0.0, high = 0.0;  ///< the least and the most of the fits without one SKU each, and of the whole
};
struct ServingPowerFit {
  std::array<PowerNumber, 4> numbers;
  FitErrors before, fitted;
  FitErrors left_out;  ///< each network once; no rows where that was not asked
  double width = 0.0;  ///< of those left out 80 % lie within 1 / (1 + width) and 1 + width
  std::map<std::string, std::size_t> sources, skus, networks;  ///< rows of each
};

/// Robust least squares of the logarithms (robust_fit.hpp), from the numbers in the file; each row of `power_w_per_gpu`
/// counts alike. Rates and shares of time are the model's, never the row's own times. ConfigError where no row of these
/// files is answered.
[[nodiscard]] ServingPowerFit fit_serving_power(std::span<const RunFile> files,
                                                const Sources& sources,
                                                bool leave_out,
                                                const std::function<void(std::string_view)>& progress = {});

/// Puts the numbers into FOLDER/stacks/step/power.toml, whose other lines stay; the file's path. ConfigError when it
/// does not hold all of them.
[[nodiscard]] std::vector<std::string> write_power_file(const ServingPowerFit& fit, const std::string& folder);

}  // namespace headroom
