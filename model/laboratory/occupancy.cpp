// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/occupancy.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t step) noexcept {
  return (value + step - 1) / step * step;
}

std::int64_t whole_bytes(Bytes bytes) noexcept {
  return std::llround(bytes.raw());
}

std::int64_t warps_of(const UnitLimits& unit, std::int64_t threads) noexcept {
  return (threads + unit.threads.warp.value - 1) / unit.threads.warp.value;
}

std::int64_t block_slots(const UnitLimits& unit, std::int64_t warps) noexcept {
  const std::int64_t slots = unit.threads.blocks_per_unit.value;
  return warps > 1 && unit.threads.barriers_per_unit ? std::min(slots, unit.threads.barriers_per_unit->value) : slots;
}

std::int64_t blocks_by_registers(const UnitLimits& unit, std::int64_t warps, std::int64_t of_warp) noexcept {
  if (of_warp == 0) {
    return unlimited_blocks;
  }
  const std::int64_t parts = unit.threads.schedulers.value;
  // A launch is checked as if every part took as many warps as the fullest one.
  if (of_warp * rounded_up(warps, parts) > unit.registers.per_block.value) {
    return 0;
  }
  return unit.registers.per_unit.value / parts / of_warp * parts / warps;
}

/// Shared memory that a unit sets aside: the smallest size on offer that holds what is preferred and one block.
std::int64_t carved(const UnitLimits& unit, std::int64_t preferred) noexcept {
  if (unit.shared.carve_outs) {
    for (const Bytes size : unit.shared.carve_outs->value) {
      if (whole_bytes(size) >= preferred) {
        return whole_bytes(size);
      }
    }
  }
  return whole_bytes(unit.shared.per_unit.value);
}

std::int64_t reserve_of(const UnitLimits& unit) noexcept {
  return unit.shared.reserved_per_block ? whole_bytes(unit.shared.reserved_per_block->value) : 0;
}

}  // namespace

UnitOccupancy unit_occupancy(const UnitLimits& unit, const BlockDemand& block) noexcept {
  UnitOccupancy found;
  const auto room = [&](OccupancyLimit limit) -> std::int64_t& {
    return found.blocks_by[static_cast<std::size_t>(limit)];
  };
  const std::int64_t warps = warps_of(unit, block.threads);
  const bool too_large = block.threads > unit.threads.per_block.value;
  room(OccupancyLimit::warps) = too_large ? 0 : unit.threads.warps_per_unit.value / warps;
  room(OccupancyLimit::blocks) = block_slots(unit, warps);

  found.registers = rounded_up(block.registers * unit.threads.warp.value, unit.registers.granularity.value);
  room(OccupancyLimit::registers) =
      block.registers > unit.registers.per_thread.value ? 0 : blocks_by_registers(unit, warps, found.registers);

  const std::int64_t allotted =
      rounded_up(whole_bytes(block.shared) + reserve_of(unit), whole_bytes(unit.shared.granularity.value));
  const std::int64_t preferred = block.carve_out ? whole_bytes(*block.carve_out) : 0;
  const std::int64_t whole = whole_bytes(unit.shared.per_unit.value);
  const std::int64_t set_aside = block.carve_out ? carved(unit, std::max(preferred, allotted)) : whole;
  found.shared = Bytes{static_cast<double>(allotted)};
  if (unit.shared.carve_outs) {
    found.carve = Bytes{static_cast<double>(set_aside)};
  }
  const bool too_much = allotted > whole_bytes(unit.shared.per_block.value) + reserve_of(unit);
  room(OccupancyLimit::shared_memory) = too_much ? 0 : allotted == 0 ? unlimited_blocks : set_aside / allotted;

  room(OccupancyLimit::tensor_memory) = block.tensor_memory_columns <= 0 ? unlimited_blocks
                                        : unit.tensor_memory
                                            ? unit.tensor_memory->columns.value / block.tensor_memory_columns
                                            : 0;

  found.blocks = *std::min_element(found.blocks_by.begin(), found.blocks_by.end());
  found.warps = found.blocks * warps;
  found.threads = found.blocks * block.threads;
  found.share = static_cast<double>(found.warps) / static_cast<double>(unit.threads.warps_per_unit.value);
  return found;
}

std::int64_t registers_for(const UnitLimits& unit, std::int64_t threads, std::int64_t blocks) noexcept {
  for (std::int64_t registers = unit.registers.per_thread.value; registers > 0; --registers) {
    if (unit_occupancy(unit, {threads, registers, {}, {}, 0}).by(OccupancyLimit::registers) >= blocks) {
      return registers;
    }
  }
  return 0;
}

Bytes shared_for(const UnitLimits& unit, std::int64_t blocks) noexcept {
  const std::int64_t step = whole_bytes(unit.shared.granularity.value);
  const std::int64_t reserve = reserve_of(unit);
  const std::int64_t share = whole_bytes(unit.shared.per_unit.value) / std::max<std::int64_t>(blocks, 1) / step * step;
  const std::int64_t most = whole_bytes(unit.shared.per_block.value);
  return Bytes{static_cast<double>(std::clamp<std::int64_t>(share - reserve, 0, most))};
}

GridTail grid_tail(double blocks, double resident) noexcept {
  GridTail tail;
  tail.waves = blocks / resident;
  tail.rounds = std::max(1.0, std::ceil(tail.waves));
  tail.last_wave = tail.waves - (tail.rounds - 1.0);
  tail.efficiency = tail.waves / tail.rounds;
  return tail;
}

}  // namespace headroom
