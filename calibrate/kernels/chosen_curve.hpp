// SPDX-License-Identifier: Apache-2.0
// The committed curve of measured kernels, and the host's time around them.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/score_rows.hpp>
#include <headroom/model/kernels/curve_library.hpp>

namespace headroom {

class ModelData;

/// The curve of a set for a group's engine and format; for a profile, where the set has none of its engine, that of any
/// engine. ConfigError when the set has no curve for the group.
[[nodiscard]] ScoredCurve curve_of(const KernelGroup& group, const CurveSet& set, const Device& device);

/// Calls of one op between events: a committed curve gives the kernel's time, and one number is fitted, the time of the
/// host's call, which a longer kernel hides: T = norm8(kernel, host), as in custom_all_reduce.hpp.
[[nodiscard]] CurveProblem call_problem(const ModelData& data, const KernelGroup& group, const Device& device);

}  // namespace headroom
