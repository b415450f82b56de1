// SPDX-License-Identifier: Apache-2.0
// Copies of a probe as a problem to fit: the plainest pass over memory.
#pragma once

#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <span>

namespace headroom {

/// Launch, bandwidth and unit rate of MemoryModel (model/kernels/memory_ops.hpp) on the rows of one op. A probe's
/// copies find nothing in L2 and have no CTA a row, so that the other parameters stay at their priors; with
/// `reductions` (passes of the op reduce, a CTA a row) the time of such a CTA is fitted too. ConfigError when the
/// catalog lacks the SKU's bandwidth, units or L2.
[[nodiscard]] CurveProblem copy_problem(std::span<const CopyRow> rows,
                                        const Device& device,
                                        std::span<const PassRow> reductions = {});

}  // namespace headroom
