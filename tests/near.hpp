// SPDX-License-Identifier: Apache-2.0
// Equality of small numbers. doctest's own Approx allows epsilon x (1 + |value|): of microseconds in seconds, anything.
#pragma once

#include <doctest/doctest.h>

namespace headroom::test {

/// Within `relative` of `expected`, whatever its size.
[[nodiscard]] inline doctest::Approx near(double expected, double relative = 1e-9) {
  return doctest::Approx{expected}.epsilon(relative).scale(0.0);
}

}  // namespace headroom::test
