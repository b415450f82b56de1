// SPDX-License-Identifier: Apache-2.0
// What raises the occupancy of a kernel, or what it keeps in flight, each priced by the bandwidth that it then reaches.
#pragma once

#include <headroom/model/laboratory/latency_hiding.hpp>
#include <headroom/model/laboratory/occupancy.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

enum class OccupancyCure : std::uint8_t {
  fewer_registers,
  other_block_size,  ///< shared memory in proportion to its threads
  less_shared,
  carve_out,    ///< a larger share of the array that L1 has too
  wider_loads,  ///< more bytes of each thread under way: 16 B a load, independent loads
  bulk_copies,  ///< copies that run beside the threads, into shared memory that the blocks have left
};

/// A kernel whose threads wait for memory.
struct WaitingKernel {
  BlockDemand block;
  Bytes per_thread{16.0};          ///< under way of a thread
  Bytes per_block{};               ///< under way of a block by bulk copies
  std::optional<MemoryWait> wait;  ///< absent: the bandwidth is not priced
};

struct CuredOccupancy {
  OccupancyCure cure{};
  WaitingKernel kernel;
  UnitOccupancy found;
  /// Time after over before of a kernel that moves the same bytes and waits for nothing else; nought: not priced.
  double ratio = 0.0;
};

/// Bytes under way of a unit.
[[nodiscard]] Bytes in_flight(const WaitingKernel& kernel, const UnitOccupancy& found) noexcept;

/// The bandwidth that a kernel sustains with what its unit holds; absent where it is not priced.
[[nodiscard]] std::optional<BytesPerSecond> reached(const WaitingKernel& kernel, const UnitOccupancy& found) noexcept;

/// The cures that change something, in the order to try, each alone. Those of occupancy aim at the fewest blocks that
/// keep the memory busy, or at one more block where that is not priced or out of reach of the other limits.
[[nodiscard]] std::vector<CuredOccupancy> occupancy_cures(const UnitLimits& unit, const WaitingKernel& kernel);

}  // namespace headroom
