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

/// One line of a trace. Ids are numbered in the order they first appear.
struct TraceEvent {
  bool allocates = true;
  std::size_t id = 0;
  std::uint64_t bytes = 0;  ///< of an allocation
  int line = 0;
};

struct AllocationTrace {
  std::string file;
  std::vector<std::string> ids;
  std::vector<TraceEvent> events;
};

/// Reads CSV with the columns event (alloc, free), id and bytes ("4 GiB", or a whole number of bytes; empty for free).
/// An id may be used again once it is freed. Problems go to `diagnostics`, every line with its own: unknown events,
/// frees of what is not allocated, allocations of what is, sizes that are no positive number of bytes.
[[nodiscard]] AllocationTrace read_allocation_trace(std::istream& stream,
                                                    const std::string& file,
                                                    Diagnostics& diagnostics);

/// How a replay ended: at its end, or at the first request that was refused.
struct Replay {
  bool expandable = false;
  AllocatorStats stats;
  std::optional<TraceEvent> refused;
  Bytes free{};           ///< of the device, not handed out: cached or never reserved
  Bytes largest_grant{};  ///< the largest request that would be granted then
};

[[nodiscard]] Replay replay(const AllocationTrace& trace, Bytes capacity, bool expandable);

}  // namespace headroom
