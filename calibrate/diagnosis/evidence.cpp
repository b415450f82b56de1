// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/evidence.hpp>
#include <headroom/calibrate/diagnosis/signal_causes.hpp>

#include <algorithm>

namespace headroom {

RunReading reading_of(const Evidence& evidence) {
  RunReading reading;
  if (!evidence.ranks.empty()) {
    reading = reading_of(evidence.ranks);
  }
  add_signals(evidence.signals, reading);
  reading.files = evidence.files;
  std::stable_sort(reading.causes.begin(), reading.causes.end(),
                   [](const Cause& a, const Cause& b) { return a.lost > b.lost; });
  return reading;
}

}  // namespace headroom
