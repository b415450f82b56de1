// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/timings_csv.hpp>
#include <headroom/core/csv.hpp>

#include <array>
#include <cstdio>

namespace headroom {

std::string timings_csv(std::span<const ProbeTiming> timings) {
  std::string text = "probe,median_us,low_us,high_us,spans,outliers,measurements,throttled\n";
  for (const ProbeTiming& t : timings) {
    if (t.counted == 0) {
      continue;
    }
    std::array<char, 128> line{};
    const double micro = 1e6;
    std::snprintf(line.data(), line.size(), ",%.5g,%.5g,%.5g,%zu,%zu,%lld,%lld\n", micro * t.spread.median,
                  micro * t.spread.low, micro * t.spread.high, t.spread.n, t.spread.outliers,
                  static_cast<long long>(t.rounds), static_cast<long long>(t.throttled));
    text += csv_field(t.key) + line.data();
  }
  return text;
}

}  // namespace headroom
