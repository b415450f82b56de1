// SPDX-License-Identifier: Apache-2.0
// What the threads of a host were doing, to be asked by time.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

struct TraceStretch {
  TraceTime begin = 0, end = 0;
};
using TraceStretches = std::vector<TraceStretch>;  ///< by begin, none touching another

/// Calls and ops in which a host waits for its GPU: synchronisations, a number read back, a copy to the host that does
/// not return before it is done.
[[nodiscard]] bool waits_for_device(std::string_view name, HostWork work);

/// Ranges in which the program waits for its samples.
[[nodiscard]] bool fetches_samples(std::string_view name);

class HostActivity {
 public:
  /// `launches`: also which call launched which work.
  explicit HostActivity(const Timeline& timeline, bool launches = true);

  /// The call that launched some work; nullptr: the trace does not tell.
  [[nodiscard]] const HostSpan* launch_of(const DeviceSpan& work) const;
  /// Of a stretch, how long the thread waited for its GPU, or for samples.
  [[nodiscard]] TraceTime in_sync(std::uint32_t thread, TraceStretch s) const { return within(syncs_, thread, s); }
  [[nodiscard]] TraceTime in_data(std::uint32_t thread, TraceStretch s) const { return within(data_, thread, s); }
  /// Whether the thread was waiting for its GPU at that moment, so that the GPU ran dry.
  [[nodiscard]] bool waits_at(std::uint32_t thread, TraceTime at) const {
    return within(syncs_, thread, {at, at + 1}) > 0;
  }

 private:
  static TraceTime within(const std::map<std::uint32_t, TraceStretches>& threads, std::uint32_t thread, TraceStretch s);

  std::map<std::uint32_t, TraceStretches> syncs_, data_;
  std::vector<std::pair<std::int64_t, const HostSpan*>> launches_;  // by correlation
};

/// Adds a stretch that begins no earlier than those before it.
void add_stretch(TraceStretches& stretches, TraceStretch s);

}  // namespace headroom
