// SPDX-License-Identifier: Apache-2.0
// A tile of a matrix product on one unit: what it asks of each level of memory, and the pace that its pipeline keeps.
#pragma once

#include <headroom/hardware/catalog/unit_limits.hpp>
#include <headroom/model/kernels/curve.hpp>
#include <headroom/model/laboratory/occupancy.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

struct TileShape {
  double m = 128.0, n = 128.0, k = 32.0;  ///< of a block; k: depth of a slice
  double stages = 2.0;                    ///< slices in shared memory, the one that is multiplied among them
  double threads = 256.0;                 ///< of a block
  double registers = 0.0;                 ///< of a thread; 0: accumulators_per_thread() + other_registers
  double left_bytes = 2.0;                ///< of an element of the m x k operand
  double right_bytes = 2.0;               ///< of an element of the k x n operand

  /// FLOP of a slice, and bytes of its operands.
  [[nodiscard]] double flop() const noexcept { return 2.0 * m * n * k; }
  [[nodiscard]] double bytes() const noexcept { return (m * left_bytes + n * right_bytes) * k; }
};

/// Addresses, counters and fragments of a thread beside its accumulators.
inline constexpr double other_registers = 40.0;

/// The machine below the tile.
struct TileMachine {
  KernelDevice device;      ///< peak of the format, memory, number of units
  BytesPerSecond l2{};      ///< all units together
  BytesPerSecond shared{};  ///< all units together; 0: not known
  Seconds latency{};        ///< of a load from memory
  const UnitLimits* unit = nullptr;
  double group_threads = 32.0;  ///< that share an operand fetched from shared memory: a warp, a warpgroup, the block
};

enum class TileLevel : std::uint8_t { shared, l2, memory, count };
inline constexpr std::array<std::string_view, 3> tile_level_names{"shared memory", "L2", "memory"};

/// One level that operands come from.
struct TileFeed {
  FlopsPerByte intensity{};  ///< FLOP per byte from there
  FlopsPerByte needed{};     ///< peak over its rate; 0: its rate is not known
  BytesPerSecond rate{};
  /// Whether it feeds the peak, or its rate is not known; peaks and clocks are told to three digits.
  [[nodiscard]] bool feeds() const noexcept { return intensity >= 0.99 * needed; }
};

enum class TileBound : std::uint8_t { compute, shared, l2, latency };
inline constexpr std::array<std::string_view, 4> tile_bound_names{"compute", "shared memory", "L2", "latency"};

struct TileAnswer {
  Bytes shared{};             ///< stages (m a + n b) k
  double accumulators = 0.0;  ///< 32-bit registers of a thread; in tensor memory where the architecture has it
  bool in_tensor_memory = false;
  double tensor_columns = 0.0;  ///< of a block, as allotted
  double registers = 0.0;       ///< of a thread
  UnitOccupancy occupancy;      ///< blocks 0: it cannot be launched
  std::array<TileFeed, 3> feeds{};
  Seconds compute{}, load{};  ///< of a slice alone on its unit, by its FLOP and by its bytes from L2
  Seconds fetch{};            ///< by its bytes from shared memory; 0: that feeds the peak, or its rate is not known
  Seconds pace{};             ///< between slices of a unit
  double stages_needed = 2.0;
  TileBound bound = TileBound::compute;
  double of_peak = 0.0;  ///< in full waves
};

/// With c, f and l a slice's times by its FLOP, by its bytes from shared memory and by those from L2, B blocks on the
/// unit, s stages, and L the latency of a load:
///
///     pace = max(c, f, l, (L + l) / (B (s - 1)))           s >= 2
///     pace = max(c, f, l, (L + l + max(c, f)) / B)         s = 1
///
/// since B (s - 1) slices are on their way at once (Little 1961). s_needed = 1 + ceil((L + l) / (B max(c, f, l))).
/// Intensities (Hong and Kung 1981, one level each): from L2 2 m n / (m a + n b); from shared memory the same of the
/// part of the tile that one group of threads holds, the squarest split; from memory that of the tiles of one wave,
/// side by side in a square.
[[nodiscard]] TileAnswer tile_answer(const TileShape& tile, const TileMachine& machine) noexcept;

/// Whether a block of it can be launched, its accumulators held.
[[nodiscard]] bool can_run(const TileAnswer& answer, const UnitLimits& unit) noexcept;

/// The product of m x n x k cut into such tiles.
struct TiledProduct {
  double tiles = 0.0;
  double padded = 1.0;  ///< FLOP of whole tiles over those asked
  GridTail tail;
  Seconds time{};
};
[[nodiscard]] TiledProduct tiled_product(
    const TileShape& tile, const TileAnswer& answer, const TileMachine& machine, double m, double n, double k) noexcept;

}  // namespace headroom
