// SPDX-License-Identifier: Apache-2.0
// A trace of allocations and frees, and its replay on the caching allocator.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/allocator/allocator.hpp>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One line of a trace. `id` counts the ids in the order of their first appearance.
struct TraceEvent {
  bool allocates = true;
  std::size_t id = 0;
  std::uint64_t bytes = 0;  ///< size of an allocation; 0 for a free
  int line = 0;
};

struct AllocationTrace {
  std::string file;
  std::vector<std::string> ids;
  std::vector<TraceEvent> events;
};

/// Reads CSV with the columns event (alloc, free), id and bytes ("4 GiB" or a whole number of bytes; empty for free).
/// An id may be reused after it is freed. Problems are added to `diagnostics`: unknown events, frees of ids that are
/// not allocated, allocations of ids that are, sizes that are no positive number of bytes.
[[nodiscard]] AllocationTrace read_allocation_trace(std::istream& stream,
                                                    const std::string& file,
                                                    Diagnostics& diagnostics);

/// The state of the allocator at the end of the trace or at the first refused request.
struct Replay {
  bool expandable = false;
  AllocatorStats stats;
  std::optional<TraceEvent> refused;
  Bytes free{};           ///< bytes of the device that are not handed out: cached or never reserved
  Bytes largest_grant{};  ///< largest request that would still be granted
};
/// Replays a trace on a device of `capacity` bytes, with or without expandable segments.

[[nodiscard]] Replay replay(const AllocationTrace& trace, Bytes capacity, bool expandable);

}  // namespace headroom
