// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel one SM or compute unit holds, and what keeps it from holding more: the rules by which a
// unit hands out warps, registers, shared memory and tensor memory (CUDA C++ Programming Guide, multiprocessor level).
#pragma once

#include <headroom/hardware/catalog/unit_limits.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace headroom {

/// What one block asks of its unit.
struct BlockDemand {
  std::int64_t threads = 1;              ///< >= 1
  std::int64_t registers = 0;            ///< of a thread
  Bytes shared{};                        ///< static and dynamic, without the architecture's reserve
  std::optional<Bytes> carve_out;        ///< shared memory that is preferred; absent: the most
  std::int64_t tensor_memory_columns{};  ///< 0, or a size that the architecture allots
};

enum class OccupancyLimit : std::uint8_t { warps, blocks, registers, shared_memory, tensor_memory, count };
inline constexpr std::size_t occupancy_limits = static_cast<std::size_t>(OccupancyLimit::count);
inline constexpr std::array<std::string_view, occupancy_limits> occupancy_limit_names{"warps", "blocks", "registers",
                                                                                      "shared memory", "tensor memory"};

/// Blocks that nothing limits.
inline constexpr std::int64_t unlimited_blocks = std::numeric_limits<std::int64_t>::max();

/// What a unit holds of a kernel.
struct UnitOccupancy {
  std::array<std::int64_t, occupancy_limits> blocks_by{};  ///< blocks that each resource has room for
  std::int64_t blocks = 0;                                 ///< the least of them; 0: the block cannot be launched
  std::int64_t warps = 0;                                  ///< of those blocks
  std::int64_t threads = 0;
  double share = 0.0;          ///< occupancy: warps over the most that the unit holds
  std::int64_t registers = 0;  ///< of a warp, as allotted
  Bytes shared{};              ///< of a block, as allotted
  std::optional<Bytes> carve;  ///< shared memory of the unit, where the architecture cuts it
  [[nodiscard]] std::int64_t by(OccupancyLimit limit) const noexcept {
    return blocks_by[static_cast<std::size_t>(limit)];
  }
  [[nodiscard]] bool binds(OccupancyLimit limit) const noexcept { return by(limit) == blocks; }
};

/// Blocks a unit holds: the least of what each resource has room for.
///   warps:     W / ceil(threads / warp)
///   blocks:    the unit's slots; of AMD, its barriers too where a block has more than one warp
///   registers: each scheduler allots whole warps of ceil(registers x warp / g) g out of its own share, so that
///              s (R / s / that) warps fit; none where the block's, with warps rounded up to s, exceed a block's most
///   shared:    S / ceil((shared + reserve) / g) g of the smallest carve-out that holds the preference and one block;
///              none where a block's exceeds its most
///   tensor memory: its columns over the block's
/// all divisions rounded down.
[[nodiscard]] UnitOccupancy unit_occupancy(const UnitLimits& unit, const BlockDemand& block) noexcept;

/// The most registers of a thread with which a unit still holds `blocks` of blocks of `threads` as far as registers go;
/// 0 where none do.
[[nodiscard]] std::int64_t registers_for(const UnitLimits& unit, std::int64_t threads, std::int64_t blocks) noexcept;

/// The most shared memory of a block with which a unit still holds `blocks` at its largest carve-out; nought where the
/// reserve alone takes more.
[[nodiscard]] Bytes shared_for(const UnitLimits& unit, std::int64_t blocks) noexcept;

/// How a grid falls on the units: waves of blocks, and the part of the last one.
struct GridTail {
  double waves = 0.0;       ///< blocks over those that are resident at once
  double rounds = 0.0;      ///< whole waves that it takes
  double last_wave = 0.0;   ///< share of the last wave that is filled, over 0 to 1
  double efficiency = 1.0;  ///< waves over rounds: share of the slots that work, were all blocks equally long
};
/// `resident`: blocks that all units hold, > 0.
[[nodiscard]] GridTail grid_tail(double blocks, double resident) noexcept;

}  // namespace headroom
