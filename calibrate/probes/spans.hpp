// SPDX-License-Identifier: Apache-2.0
// From spans of many kernels to the time of one. Free of CUDA, so that any machine can test it.
#pragma once

#include <headroom/calibrate/probe/probes_abi.hpp>

#include <vector>

namespace headroom::probes {

/// Kernels that fill `span` seconds, a multiple of `copies`, so that each copy is used equally often.
[[nodiscard]] std::int64_t launches_for(double span, double seconds_each, std::int64_t copies);

[[nodiscard]] double median(std::vector<double> values);

/// Median, extremes and counts of short spans, per kernel.
[[nodiscard]] Result summary(const std::vector<double>& spans, std::int64_t launches);

/// Summary of a sustained run: the median is that of the spans in its second half.
[[nodiscard]] Result sustained_summary(const std::vector<double>& spans, std::int64_t launches);

}  // namespace headroom::probes
