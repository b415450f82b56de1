// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/calibrate/snapshots/memory_timeline.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <optional>
#include <span>

namespace headroom {

MemoryTimeline read_memory_timeline(const std::string& file) {
  const PlainData data = read_plain_json(file);
  Diagnostics problems;
  MemoryTimeline timeline;
  timeline.file = file;
  std::array<double, memory_purposes.size()> held{};
  std::optional<std::int64_t> first;
  double most = 0.0;
  for (const PlainData::Id event : data.items(data.root())) {
    const std::span<const PlainData::Id> parts = data.items(event);
    const auto whole = [&](std::size_t i) { return i < parts.size() ? data.whole(parts[i]) : std::nullopt; };
    const std::optional<std::int64_t> time = whole(0);
    const std::optional<std::int64_t> bytes = whole(2);
    const std::optional<std::int64_t> purpose = whole(3);
    if (parts.size() != 4 || !time || !bytes || !purpose || *purpose < 0 ||
        *purpose >= static_cast<std::int64_t>(memory_purposes.size())) {
      problems.add(file, {},
                   "event " + std::to_string(timeline.events) +
                       " is none of [time, action, bytes, purpose] with a purpose from 0 to " +
                       std::to_string(memory_purposes.size() - 1));
      break;
    }
    ++timeline.events;
    const auto place = static_cast<std::size_t>(*purpose);
    held[place] += static_cast<double>(*bytes);
    timeline.own_peak[place] = std::max(timeline.own_peak[place], Bytes{held[place]});
    // What was there before the record has the time -1.
    const bool timed = *time >= 0;
    first = first || !timed ? first : time;
    const std::int64_t since = timed && first ? *time - *first : 0;
    timeline.span_ns = std::max(timeline.span_ns, since);
    double sum = 0.0;
    for (const double one : held) {
      sum += one;
    }
    if (sum > most) {
      most = sum;
      timeline.peak = Bytes{sum};
      timeline.peak_ns = since;
      std::transform(held.begin(), held.end(), timeline.at_peak.begin(), [](double one) { return Bytes{one}; });
    }
  }
  if (timeline.events == 0 && problems.empty()) {
    problems.add(file, {}, "the timeline holds no event; profile with profile_memory=True and record_shapes=True");
  }
  problems.throw_if_any();
  return timeline;
}

}  // namespace headroom
