// SPDX-License-Identifier: Apache-2.0
// Copies of a probe as a fitting problem: the simplest pass over memory.
#pragma once

#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <span>

namespace headroom {

/// Fits launch, bandwidth and unit rate of MemoryModel (model/kernels/memory_ops.hpp) to the rows of one op. A probe's
/// copies find nothing in L2 and have no CTA per row, so the other parameters keep their priors; `reductions` (passes
/// of the op reduce, one CTA per row) also fit the time of such a CTA. Throws ConfigError when the catalog lacks the
/// SKU's bandwidth, units or L2.
[[nodiscard]] CurveProblem copy_problem(std::span<const CopyRow> rows,
                                        const Device& device,
                                        std::span<const PassRow> reductions = {});

}  // namespace headroom
