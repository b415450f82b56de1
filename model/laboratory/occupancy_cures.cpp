// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/occupancy_cures.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

constexpr Bytes widest_load{16.0};  // of one instruction of one thread

/// Fewer registers than these leave no kernel its addresses and counters.
constexpr std::int64_t least_registers = 16;

/// Room for blocks by all limits but one.
std::int64_t room_without(const UnitOccupancy& found, OccupancyLimit except) noexcept {
  std::int64_t least = unlimited_blocks;
  for (std::size_t i = 0; i < occupancy_limits; ++i) {
    least = static_cast<OccupancyLimit>(i) == except ? least : std::min(least, found.blocks_by[i]);
  }
  return least;
}

/// Blocks to aim at: as few as keep the memory busy, at least one more than now, at most what other limits leave.
std::int64_t aimed(const WaitingKernel& kernel, const UnitOccupancy& found, std::int64_t room) noexcept {
  std::int64_t blocks = found.blocks + 1;
  const Bytes of_block = static_cast<double>(kernel.block.threads) * kernel.per_thread + kernel.per_block;
  if (kernel.wait && of_block > Bytes{}) {
    const double enough = std::ceil(bytes_needed(*kernel.wait) / of_block - 1e-9);
    blocks = std::max(blocks, enough < 1e6 ? static_cast<std::int64_t>(enough) : blocks);
  }
  return std::min(blocks, room);
}

/// The block size of most occupancy, the nearest to the one asked where several are equal.
BlockDemand best_size(const UnitLimits& unit, const BlockDemand& asked) noexcept {
  BlockDemand best = asked;
  double share = unit_occupancy(unit, asked).share;
  std::int64_t far = 0;
  for (std::int64_t threads = unit.threads.warp.value; threads <= unit.threads.per_block.value;
       threads += unit.threads.warp.value) {
    BlockDemand tried = asked;
    tried.threads = threads;
    tried.shared = static_cast<double>(threads) / static_cast<double>(asked.threads) * asked.shared;
    const double reached_share = unit_occupancy(unit, tried).share;
    const std::int64_t off = std::abs(threads - asked.threads);
    if (reached_share > share || (reached_share == share && best.threads != asked.threads && off < far)) {
      best = tried;
      share = reached_share;
      far = off;
    }
  }
  return best;
}

/// The smallest carve-out that holds more blocks than now, as many as other limits leave.
std::optional<Bytes> larger_carve(const UnitLimits& unit, const WaitingKernel& kernel, const UnitOccupancy& found) {
  if (!unit.shared.carve_outs || !kernel.block.carve_out) {
    return std::nullopt;
  }
  const std::int64_t wanted = aimed(kernel, found, room_without(found, OccupancyLimit::shared_memory));
  for (const Bytes size : unit.shared.carve_outs->value) {
    BlockDemand tried = kernel.block;
    tried.carve_out = size;
    if (unit_occupancy(unit, tried).by(OccupancyLimit::shared_memory) >= wanted) {
      return size;
    }
  }
  return unit.shared.per_unit.value;
}

}  // namespace

Bytes in_flight(const WaitingKernel& kernel, const UnitOccupancy& found) noexcept {
  return InFlight{static_cast<double>(found.threads), static_cast<double>(found.blocks), kernel.per_thread,
                  kernel.per_block}
      .bytes();
}

std::optional<BytesPerSecond> reached(const WaitingKernel& kernel, const UnitOccupancy& found) noexcept {
  return kernel.wait ? std::optional{bandwidth_reached(*kernel.wait, in_flight(kernel, found))} : std::nullopt;
}

std::vector<CuredOccupancy> occupancy_cures(const UnitLimits& unit, const WaitingKernel& kernel) {
  const UnitOccupancy now = unit_occupancy(unit, kernel.block);
  const std::optional<BytesPerSecond> before = reached(kernel, now);
  std::vector<CuredOccupancy> cures;
  const auto priced = [&](OccupancyCure cure, WaitingKernel after) {
    const UnitOccupancy found = unit_occupancy(unit, after.block);
    const std::optional<BytesPerSecond> rate = reached(after, found);
    cures.push_back({cure, std::move(after), found, before && rate ? *before / *rate : 0.0});
  };
  const auto raises = [&](const BlockDemand& block) { return unit_occupancy(unit, block).share > now.share; };

  if (now.binds(OccupancyLimit::registers)) {
    WaitingKernel after = kernel;
    const std::int64_t room = room_without(now, OccupancyLimit::registers);
    for (std::int64_t blocks = aimed(kernel, now, room); blocks > now.blocks; --blocks) {
      after.block.registers = registers_for(unit, kernel.block.threads, blocks);
      if (after.block.registers >= least_registers) {
        break;
      }
    }
    if (after.block.registers >= least_registers && raises(after.block)) {
      priced(OccupancyCure::fewer_registers, after);
    }
  }
  if (WaitingKernel after = kernel; true) {
    after.block = best_size(unit, kernel.block);
    // What a block has in flight by bulk copies goes with its shared memory.
    after.per_block =
        static_cast<double>(after.block.threads) / static_cast<double>(kernel.block.threads) * kernel.per_block;
    if (raises(after.block)) {
      priced(OccupancyCure::other_block_size, after);
    }
  }
  if (now.binds(OccupancyLimit::shared_memory) && kernel.block.shared > Bytes{}) {
    WaitingKernel after = kernel;
    after.block.carve_out.reset();
    after.block.shared = shared_for(unit, aimed(kernel, now, room_without(now, OccupancyLimit::shared_memory)));
    if (after.block.shared < kernel.block.shared && after.block.shared >= kernel.per_block && raises(after.block)) {
      priced(OccupancyCure::less_shared, after);
    }
  }
  if (now.binds(OccupancyLimit::shared_memory)) {
    if (const std::optional<Bytes> size = larger_carve(unit, kernel, now)) {
      WaitingKernel after = kernel;
      after.block.carve_out = *size;
      if (raises(after.block)) {
        priced(OccupancyCure::carve_out, after);
      }
    }
  }
  const bool starved = before && *before < kernel.wait->bandwidth && now.blocks > 0;
  if (starved) {
    const Bytes missing = bytes_needed(*kernel.wait) - in_flight(kernel, now);
    const Bytes more = missing / static_cast<double>(now.threads);
    WaitingKernel after = kernel;
    after.per_thread = kernel.per_thread < widest_load && kernel.per_thread + more <= widest_load
                           ? widest_load
                           : std::ceil((kernel.per_thread + more) / widest_load - 1e-9) * widest_load;
    priced(OccupancyCure::wider_loads, after);

    if (unit.tma && unit.tma->value) {
      after = kernel;
      after.per_block = kernel.per_block + missing / static_cast<double>(now.blocks);
      after.block.shared = kernel.block.shared + (after.per_block - kernel.per_block);
      if (unit_occupancy(unit, after.block).blocks == now.blocks) {
        priced(OccupancyCure::bulk_copies, after);
      }
    }
  }
  return cures;
}

}  // namespace headroom
