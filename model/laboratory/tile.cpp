// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/tile.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr double accumulator_bytes = 4.0;

/// Intensity of an m x n rectangle whose operands come from the next level.
FlopsPerByte intensity_of(const TileShape& t, double m, double n) noexcept {
  return Flops{2.0 * m * n} / Bytes{m * t.left_bytes + n * t.right_bytes};
}

/// Rows of the split of `parts` equal pieces that leaves the squarest ones: a divisor of `parts`.
double rows_of_split(double m, double n, double parts) noexcept {
  double best = 1.0;
  double worst = 0.0;
  for (double rows = 1.0; rows <= parts; rows += 1.0) {
    if (std::fmod(parts, rows) != 0.0) {
      continue;
    }
    const double high = m / rows;
    const double wide = n * rows / parts;
    const double square = std::min(high, wide) / std::max(high, wide);
    if (square > worst) {
      worst = square;
      best = rows;
    }
  }
  return best;
}

TileFeed feed_of(FlopsPerByte intensity, BytesPerSecond rate, FlopsPerSecond peak) noexcept {
  return {intensity, rate > BytesPerSecond{} ? peak / rate : FlopsPerByte{}, rate};
}

/// Columns of tensor memory as allotted: doublings of the least, for an accumulator of 32 bits a lane and column.
double columns_of(const TileShape& t, const UnitLimits::TensorMemory& memory) noexcept {
  const auto lanes = static_cast<double>(memory.lanes.value);
  const double asked = std::ceil(t.m / lanes) * t.n * accumulator_bytes / memory.cell.value.raw();
  double columns = static_cast<double>(memory.least_columns.value);
  while (columns < asked) {
    columns *= 2.0;
  }
  return columns;
}

}  // namespace

TileAnswer tile_answer(const TileShape& t, const TileMachine& machine) noexcept {
  const UnitLimits& unit = *machine.unit;
  const double units = machine.device.units;
  TileAnswer a;
  a.shared = Bytes{t.stages * t.bytes()};
  a.accumulators = t.m * t.n / t.threads;
  a.in_tensor_memory = unit.tensor_memory.has_value();
  const double held = a.in_tensor_memory ? 0.0 : a.accumulators;
  a.registers = t.registers > 0.0 ? t.registers : std::ceil(held) + other_registers;
  BlockDemand block;
  block.threads = static_cast<std::int64_t>(t.threads);
  block.registers = std::min(static_cast<std::int64_t>(a.registers), unit.registers.per_thread.value);
  block.shared = a.shared;
  if (a.in_tensor_memory) {
    a.tensor_columns = columns_of(t, *unit.tensor_memory);
    block.tensor_memory_columns = static_cast<std::int64_t>(a.tensor_columns);
  }
  a.occupancy = unit_occupancy(unit, block);
  const auto blocks = static_cast<double>(std::max<std::int64_t>(a.occupancy.blocks, 1));

  const double groups = std::max(1.0, t.threads / machine.group_threads);
  const double rows = rows_of_split(t.m, t.n, groups);
  // A square of as many elements as the tiles of one wave.
  const double wave_edge = std::sqrt(units * blocks * t.m * t.n);
  const FlopsPerSecond peak = machine.device.peak;
  a.feeds = {feed_of(intensity_of(t, t.m / rows, t.n * rows / groups), machine.shared, peak),
             feed_of(intensity_of(t, t.m, t.n), machine.l2, peak),
             feed_of(intensity_of(t, wave_edge, wave_edge), machine.device.bandwidth, peak)};

  a.compute = Flops{t.flop()} / (peak / units);
  a.load = Bytes{t.bytes()} / (machine.l2 / units);
  const TileFeed& own = a.feeds[0];
  a.fetch = own.feeds() ? Seconds{} : own.needed / own.intensity * a.compute;
  const Seconds worked = std::max(a.compute, a.fetch);
  const Seconds fed = std::max(worked, a.load);
  const Seconds waiting = machine.latency + a.load;
  const Seconds latency = t.stages >= 2.0 ? waiting / (blocks * (t.stages - 1.0)) : (waiting + worked) / blocks;
  a.pace = std::max(fed, latency);
  a.bound = latency > fed         ? TileBound::latency
            : a.load > worked     ? TileBound::l2
            : a.fetch > Seconds{} ? TileBound::shared
                                  : TileBound::compute;
  a.stages_needed = 1.0 + std::ceil(waiting / (blocks * fed));
  a.of_peak = a.compute / a.pace;
  return a;
}

bool can_run(const TileAnswer& a, const UnitLimits& unit) noexcept {
  return a.occupancy.blocks > 0 && a.registers <= static_cast<double>(unit.registers.per_thread.value);
}

TiledProduct tiled_product(
    const TileShape& t, const TileAnswer& a, const TileMachine& machine, double m, double n, double k) noexcept {
  TiledProduct p;
  const double down = std::ceil(m / t.m);
  const double across = std::ceil(n / t.n);
  const double slices = std::ceil(k / t.k);
  p.tiles = down * across;
  p.padded = down * t.m * across * t.n * slices * t.k / (m * n * k);
  const auto blocks = static_cast<double>(std::max<std::int64_t>(a.occupancy.blocks, 1));
  p.tail = grid_tail(p.tiles, machine.device.units * blocks);
  p.time = p.tail.rounds * blocks * slices * a.pace + machine.latency;
  return p;
}

}  // namespace headroom
