// SPDX-License-Identifier: Apache-2.0
// How work grows with its size, by processor time: a ratio holds on a slow machine as on a busy one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>

namespace headroom::test {

/// The processor time of work(4 n) over that of work(n): about 4 where work is linear, 16 where it is quadratic. Of
/// three tries the least, for noise adds to either.
template <class Work>
double growth(std::size_t n, Work work) {
  const auto time = [&](std::size_t size) {
    const std::clock_t begin = std::clock();
    work(size);
    return static_cast<double>(std::max<std::clock_t>(std::clock() - begin, 1));
  };
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double once = time(n);
    least = std::min(least, time(4 * n) / once);
  }
  return least;
}

/// Between linear with all that disturbs it, and quadratic.
inline constexpr double linear_growth = 9.0;

}  // namespace headroom::test
