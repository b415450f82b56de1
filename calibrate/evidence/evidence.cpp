// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/hang_reading.hpp>
#include <headroom/calibrate/diagnosis/memory_reading.hpp>
#include <headroom/calibrate/diagnosis/message_reading.hpp>
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/loads/load_reading.hpp>

#include <algorithm>

namespace headroom {

RunReading reading_of(const Evidence& evidence) {
  RunReading reading;
  if (!evidence.ranks.empty()) {
    reading = reading_of(evidence.ranks);
  }
  add_signals(evidence.signals, reading);
  add_results(evidence.results, reading);
  if (!evidence.records.empty()) {
    add_hang_reading(evidence.records, reading);
  }
  if (!evidence.snapshots.empty() || !evidence.timelines.empty()) {
    add_memory_reading(evidence.snapshots, evidence.timelines, reading);
  }
  if (!evidence.messages.empty()) {
    add_message_reading(evidence.messages, reading);
  }
  reading.files = evidence.files;
  // A rank that is waited for is what another fault leaves behind.
  const auto follows = [](const Cause& cause) { return cause.kind == CauseKind::dead_rank; };
  std::stable_sort(reading.causes.begin(), reading.causes.end(), [&](const Cause& a, const Cause& b) {
    return a.lost != b.lost ? a.lost > b.lost : !follows(a) && follows(b);
  });
  return reading;
}

}  // namespace headroom
