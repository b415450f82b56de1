// SPDX-License-Identifier: Apache-2.0
// Student's t distribution, for tests of means.
#pragma once

namespace headroom {

/// P(T > t) of Student's t with `freedom` > 0 degrees of freedom (Abramowitz and Stegun 1964, 26.7.1).
[[nodiscard]] double student_above(double t, double freedom);

/// The t with P(T > t) = p for 0 < p < 1/2, by bisection in [0, 1e6].
[[nodiscard]] double student_quantile(double p, double freedom);

}  // namespace headroom
