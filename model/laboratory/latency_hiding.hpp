// SPDX-License-Identifier: Apache-2.0
// What resident threads keep in flight, the bandwidth that this sustains (Little 1961), and what spilled registers
// cost.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// The memory as one of the units sees it.
struct MemoryWait {
  BytesPerSecond bandwidth{};  ///< of the whole GPU
  Seconds latency{};           ///< of a load, > 0
  double units = 1.0;          ///< SMs or compute units that share it
};

/// Little's law: bytes that a unit must have under way to keep the memory busy, bandwidth x latency / units.
[[nodiscard]] constexpr Bytes bytes_needed(const MemoryWait& wait) noexcept {
  return wait.bandwidth * wait.latency / wait.units;
}

/// What a unit has under way: loads of its threads, and what its blocks have ordered of bulk copies.
struct InFlight {
  double threads = 0.0;  ///< resident on the unit
  double blocks = 0.0;   ///< resident on the unit
  Bytes per_thread{};
  Bytes per_block{};  ///< by bulk copies (TMA), beside the threads' own
  [[nodiscard]] constexpr Bytes bytes() const noexcept { return threads * per_thread + blocks * per_block; }
};

/// Bandwidth reached: min(B, units x in flight / latency), Volkov 2016, "Understanding latency hiding on GPUs", chapter
/// 3: a throughput is bounded by concurrency over latency until it meets the peak, and stays there.
[[nodiscard]] constexpr BytesPerSecond bandwidth_reached(const MemoryWait& wait, Bytes in_flight) noexcept {
  const BytesPerSecond sustained = wait.units * in_flight / wait.latency;
  return sustained < wait.bandwidth ? sustained : wait.bandwidth;
}

/// Where spilled registers live: the nearest level with room for those of all resident threads.
enum class SpillLevel : std::uint8_t { l1, l2, memory };
[[nodiscard]] std::string_view name_of(SpillLevel level) noexcept;

struct SpillPlaces {
  Bytes l1{};                               ///< of a unit, beside its shared memory; nought: not known
  std::optional<BytesPerSecond> l1_rate{};  ///< of all units together; absent: L1 is passed over
  Bytes l2{};                               ///< of the GPU
  BytesPerSecond l2_rate{};
  BytesPerSecond memory_rate{};
};

struct SpillCost {
  SpillLevel level = SpillLevel::memory;
  Bytes held{};   ///< of the threads resident on one unit
  Bytes moved{};  ///< by all threads of the grid: each spilled byte written once and read once
  Seconds time{};
};

/// What spilling costs a grid of `threads`, `resident` of which a unit holds at once, on `units`. The time is that of
/// its traffic alone, not hidden behind other work.
[[nodiscard]] SpillCost spill_cost(
    Bytes per_thread, double resident, double threads, double units, const SpillPlaces& places) noexcept;

}  // namespace headroom
