// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/solver/linear_algebra.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>

using namespace headroom;
using test::near;

namespace {

SquareMatrix matrix(std::size_t size, const std::vector<double>& entries) {
  SquareMatrix m{size};
  std::copy(entries.begin(), entries.end(), m.entries().begin());
  return m;
}

}  // namespace

TEST_CASE("a symmetric system and its inverse, by hand") {
  const SquareMatrix a = matrix(2, {4.0, 2.0, 2.0, 3.0});
  const std::vector<double> x = solve_symmetric(a, std::vector<double>{10.0, 9.0});
  CHECK(x[0] == near(1.5));
  CHECK(x[1] == near(2.0));
  const SquareMatrix inverse = inverse_symmetric(a);
  CHECK(inverse(0, 0) == near(0.375));
  CHECK(inverse(0, 1) == near(-0.25));
  CHECK(inverse(1, 0) == near(-0.25));
  CHECK(inverse(1, 1) == near(0.5));
}

TEST_CASE("the pseudo-inverse of a singular matrix is zero where it sees nothing") {
  // [1 1; 1 1] = 2 u u^T with u = (1, 1) / sqrt(2): its inverse there is u u^T / 2.
  const SquareMatrix half = pseudo_inverse(matrix(2, {1.0, 1.0, 1.0, 1.0}));
  for (const double entry : half.entries()) {
    CHECK(entry == near(0.25));
  }
  const SquareMatrix diagonal = pseudo_inverse(matrix(2, {4.0, 0.0, 0.0, 0.0}));
  CHECK(diagonal(0, 0) == near(0.25));
  CHECK(diagonal(1, 1) == 0.0);
}
