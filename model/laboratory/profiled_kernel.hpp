// SPDX-License-Identifier: Apache-2.0
// What a profiler counted of one kernel, the roof that it leans on, and what its stalls and its time become when a
// counter is put right.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Counters in raw SI; those of use and occupancy are shares of 1.
enum class Counter : std::uint8_t {
  duration,
  memory_bytes,
  memory_read,
  memory_written,
  memory_rate,
  memory_use,  ///< of the peak of the memory, as the others of use of theirs
  all_memory_use,
  l2_use,
  l1_use,
  sm_use,
  tensor_use,
  occupancy,
  most_occupancy,  ///< that registers, shared memory and blocks allow
  registers,
  block,
  grid,
  load_sectors,
  load_requests,
  store_sectors,
  store_requests,
  sectors_per_load,
  sector_use,  ///< used over fetched bytes of loads
  load_conflicts,
  store_conflicts,
  conflicts,
  shared_wavefronts,
  instructions,
  thread_instructions,
  active_threads,  ///< of a warp, a mean over its instructions
  fp32_fma,
  fp32_add,
  fp32_mul,
  fp16_fma,
  fp64_fma,
  tensor_ops,
  count
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(Counter::count);

/// Cycles that a warp waits for one reason before each instruction that it issues: "long_scoreboard", 17.2. In units of
/// the profiler, which their shares do not depend on.
struct StallPart {
  std::string reason;
  double cycles = 0.0;
};

struct ProfiledKernel {
  std::string name;
  std::array<std::optional<double>, counter_count> counters{};
  std::vector<StallPart> stalls;

  [[nodiscard]] std::optional<double> get(Counter counter) const noexcept {
    return counters[static_cast<std::size_t>(counter)];
  }
  std::optional<double>& at(Counter counter) noexcept { return counters[static_cast<std::size_t>(counter)]; }
};

/// What holds a kernel up. `latency`: no unit is near its peak (below three fifths, Nsight Compute's own line).
enum class HeldBy : std::uint8_t { memory, l2, l1, compute, latency };
inline constexpr std::array<std::string_view, 5> held_by_names{"memory", "L2", "L1 and shared memory", "compute",
                                                               "latency"};
inline constexpr double busy_unit = 0.6;

/// The kernel as its counters have it.
struct ProfileState {
  Seconds time{};
  std::array<double, 4> use{};  ///< of memory, L2, L1 and compute; 0 where nothing tells
  HeldBy held_by = HeldBy::latency;
  std::optional<Bytes> moved;            ///< with memory
  std::optional<double> sector_use;      ///< used over fetched, at most 1
  std::optional<double> conflict_share;  ///< of shared memory's cycles that conflicts cost
  std::optional<double> active_share;    ///< of a warp's threads
  std::optional<double> occupancy;
  Flops vector_work{};   ///< on vector units, in fp32, fp16 and fp64
  double stalled = 0.0;  ///< cycles before each instruction, all reasons
  [[nodiscard]] double most_use() const noexcept;
};

/// `element`: bytes that a thread loads, from which the least sectors of a request follow. `bandwidth`: of the memory,
/// from which its use follows where no counter says it; 0: not known.
[[nodiscard]] ProfileState state_of(const ProfiledKernel& kernel, double element, BytesPerSecond bandwidth);

enum class ProfileCure : std::uint8_t {
  coalesce,     ///< neighbours read neighbours: every fetched byte is used
  banks,        ///< shared memory without conflicts
  converge,     ///< warps whose threads take one path
  in_flight,    ///< two loads in flight where there was one: unrolled, prefetched, cp.async
  occupancy,    ///< twice the warps, or as many as there can be
  barriers,     ///< warps that wait at no barrier
  fewer_bytes,  ///< half the bytes: fused with a neighbour, or a narrower format
  tensor,       ///< products on the tensor path
};

struct CuredProfile {
  ProfileCure cure{};
  double ratio = 1.0;             ///< time after over before
  std::vector<StallPart> stalls;  ///< after it; as many as before
};

/// The cures that apply, the one that brings most first, each alone. Work of each unit falls by a factor f of the law
/// that the cure has (access.hpp, banks.hpp, divergence.hpp); of a kernel that a unit holds up
/// @code
/// time'/time = max over units (f use) / max over units (use)
/// @endcode
/// that is, it comes as near to its next roof as to this one. Stalls follow from Little's law (1961): as many warps
/// wait before as many instructions, so that their sum falls as the time does. What a cure does not touch keeps its
/// cycles, and is a floor: time'/time >= untouched / all. Of a kernel that waits, the touched stalls fall by f.
/// `tensor_gain`: peak of the tensor path over that of the vector units; at most 1: none.
[[nodiscard]] std::vector<CuredProfile> profile_cures(const ProfiledKernel& kernel,
                                                      const ProfileState& state,
                                                      double tensor_gain);

/// The reason with most cycles, `selected` and `not_selected` apart, which are no waiting; empty: there is none.
[[nodiscard]] std::string dominant_stall(const std::vector<StallPart>& stalls);

}  // namespace headroom
