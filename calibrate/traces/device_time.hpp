// SPDX-License-Identifier: Apache-2.0
// Where the time of a GPU went, by what it did and, where it did nothing, by what it waited for.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

/// Why a GPU had nothing to do.
enum class IdleCause : std::uint8_t {
  sync,    ///< its host had waited until it had nothing left, before it sent more
  data,    ///< its host made or fetched the next samples
  host,    ///< its host was busy with the program, ops or their launch
  launch,  ///< the work was sent, and began as soon as it reached the GPU
  wait,    ///< the work was sent long before, and waited for an event, another rank or another stream
  ends,    ///< nothing came after
  count
};
inline constexpr std::size_t idle_cause_count = static_cast<std::size_t>(IdleCause::count);
inline constexpr std::array<std::string_view, idle_cause_count> idle_cause_names{"sync",   "data", "host",
                                                                                 "launch", "wait", "ends"};

/// A stretch in which a GPU did nothing.
struct IdleGap {
  TraceTime begin = 0, end = 0;
  IdleCause cause = IdleCause::ends;  ///< that took most of it
  std::size_t next = 0;               ///< of Timeline::work, what ended it; its size: nothing did
};

/// Time of one GPU in a window. What overlaps is counted once: computing before communication before copies.
struct DeviceTime {
  std::int32_t device = 0;
  TraceTime begin = 0, end = 0;
  Seconds computing{};              ///< any kernel that is no communication
  Seconds communication{};          ///< any communication, whatever goes on beside it
  Seconds exposed_communication{};  ///< with no computing beside it
  Seconds copies{};                 ///< copies and fills, whatever goes on beside them
  Seconds exposed_copies{};         ///< with neither computing nor communication beside them
  std::array<Seconds, idle_cause_count> idle{};
  std::vector<IdleGap> gaps;  ///< in the order of time
  std::int64_t kernels = 0;   ///< that began in the window

  [[nodiscard]] Seconds window() const noexcept;
  [[nodiscard]] Seconds busy() const noexcept { return computing + exposed_communication + exposed_copies; }
  [[nodiscard]] Seconds all_idle() const noexcept;
  [[nodiscard]] Seconds idle_of(IdleCause cause) const noexcept { return idle[static_cast<std::size_t>(cause)]; }
};

/// GPUs with work or ranges, in order.
[[nodiscard]] std::vector<std::int32_t> devices_with_work(const Timeline& timeline);

/// From the first to the last moment of a GPU's work and ranges, or of the stated window [begin, end).
[[nodiscard]] DeviceTime device_time(const Timeline& timeline, std::int32_t device);
[[nodiscard]] DeviceTime device_time(const Timeline& timeline, std::int32_t device, TraceTime begin, TraceTime end);

struct TraceWindow {
  TraceTime begin = 0, end = 0;
};
/// The same of several windows, each beginning no earlier than the one before; with or without their gaps.
[[nodiscard]] std::vector<DeviceTime> device_times(const Timeline& timeline,
                                                   std::int32_t device,
                                                   std::span<const TraceWindow> windows,
                                                   bool gaps = true);

/// Time in [begin, end) that the thread which launches the most does anything but wait for its GPU.
[[nodiscard]] Seconds host_work(const Timeline& timeline, TraceTime begin, TraceTime end);

/// Time of one name.
struct NamedTime {
  std::uint32_t name = 0;
  DeviceWork work = DeviceWork::compute;
  Seconds time{};
  std::int64_t count = 0;
};
/// Work of a GPU by name, the longest first; of equal ones the first in the trace.
[[nodiscard]] std::vector<NamedTime> time_by_name(const Timeline& timeline, std::int32_t device);

}  // namespace headroom
