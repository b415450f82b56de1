// SPDX-License-Identifier: Apache-2.0
// What a calibration knows of every probe, as CSV for people.
#pragma once

#include <headroom/calibrate/measure/calibration.hpp>

#include <span>
#include <string>

namespace headroom {

/// probe,median_us,low_us,high_us,spans,outliers,measurements,throttled: the interval holds the median with 95 %.
/// Probes that were not measured are left out.
[[nodiscard]] std::string timings_csv(std::span<const ProbeTiming> timings);

}  // namespace headroom
