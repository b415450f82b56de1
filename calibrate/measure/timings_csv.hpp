// SPDX-License-Identifier: Apache-2.0
// All timings of a calibration as CSV, for people.
#pragma once

#include <headroom/calibrate/measure/calibration.hpp>

#include <span>
#include <string>

namespace headroom {

/// Columns probe,median_us,low_us,high_us,spans,outliers,measurements,throttled; low to high is the median's 95 %
/// interval. Probes without a measurement are left out.
[[nodiscard]] std::string timings_csv(std::span<const ProbeTiming> timings);

}  // namespace headroom
