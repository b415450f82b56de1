// SPDX-License-Identifier: Apache-2.0
// A snapshot's memory over time: its peak and who held it, and what a refused request found.
#pragma once

#include <headroom/calibrate/snapshots/memory_snapshot.hpp>
#include <headroom/core/quantity.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Memory that one line of the program holds.
struct MemoryHolder {
  std::string site;  ///< empty: from before the record, or not stated
  Bytes held{};
  std::int64_t blocks = 0;
};

struct MemoryMoment {
  std::size_t event = 0;  ///< of the device's events, before which it was so
  std::int64_t time_us = 0;
  Bytes allocated{}, reserved{};
};

/// A request that the allocator refused.
struct RefusedRequest {
  Bytes asked{};
  Bytes device_free{};  ///< that the device had left
  Bytes held_free{};    ///< free within the allocator's segments
  Bytes largest{};      ///< piece of them
  Bytes allocated{}, reserved{};
  std::string site;
  std::optional<bool> expandable_grants;  ///< the record replayed with expandable segments; unset: it has them
  /// Enough is free, but in no piece that is large enough.
  [[nodiscard]] bool fragmented() const noexcept {
    return asked <= held_free + device_free && asked > largest && asked > device_free;
  }
};

struct MemoryHistory {
  std::int64_t device = 0;
  Bytes allocated{}, reserved{};          ///< when the snapshot was taken
  Bytes held_free{}, largest{};           ///< free within segments, and its largest piece
  MemoryMoment peak;                      ///< of allocated bytes
  std::vector<MemoryHolder> holders;      ///< at the peak, the largest first
  std::vector<MemoryMoment> moments;      ///< evenly over the events, at most 24, the peak and the end
  std::optional<RefusedRequest> refused;  ///< the last one
};

/// Bytes are those that were asked for; segments count whole. Before the first event the state is what follows from the
/// snapshot by undoing all events. One for each device with a segment or an event.
[[nodiscard]] std::vector<MemoryHistory> memory_histories(const MemorySnapshot& snapshot);

}  // namespace headroom
