// SPDX-License-Identifier: Apache-2.0
// What records of memory add to the reading of a run.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/calibrate/snapshots/memory_snapshot.hpp>
#include <headroom/calibrate/snapshots/memory_timeline.hpp>

#include <span>

namespace headroom {

/// Adds causes for requests that were refused (fragmentation, out of memory), the tables "memory_devices",
/// "memory_holders", "memory_over_time" and "memory_purposes", and notes.
void add_memory_reading(std::span<const MemorySnapshot> snapshots,
                        std::span<const MemoryTimeline> timelines,
                        RunReading& reading);

}  // namespace headroom
