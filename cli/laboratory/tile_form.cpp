// SPDX-License-Identifier: Apache-2.0
// `headroom kernel tile`: what a tile of a product asks of each level of memory, and what pace its pipeline keeps.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/tile.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::cli {
namespace {

struct TileAsked {
  TileShape tile;
  GemmFormat format;
  std::vector<double> matrix;  ///< m, n, k; empty: none
  std::optional<Seconds> latency;
};

constexpr double most_stages = 64.0;

TileAsked read_asked_tile(FormReader& in) {
  TileAsked q;
  q.format = in.format();
  if (in.need("--tile")) {
    const std::vector<double> sizes = in.extents("--tile", 3, 1.0, 1.0);
    q.tile.m = sizes[0];
    q.tile.n = sizes[1];
    q.tile.k = sizes[2];
  }
  q.tile.stages = in.number_or("--stages", 1.0, most_stages, 2.0);
  if (q.tile.stages != std::floor(q.tile.stages)) {
    in.problem("--stages " + format_number(q.tile.stages) + " must be a whole number");
  }
  q.tile.threads = in.size_or("--threads", q.tile.threads);
  q.tile.registers = in.given("--registers") ? in.size("--registers") : 0.0;
  q.tile.left_bytes = q.format.activation_bytes;
  q.tile.right_bytes = q.format.weight_bytes;
  if (in.given("--matrix")) {
    q.matrix = in.extents("--matrix", 3, 1.0, 1.0);
  }
  q.latency = in.quantity_if<Seconds>("--latency");
  return q;
}

/// Threads that share an operand fetched from shared memory: mma of a warp, wgmma of a warpgroup (Hopper), tcgen05 of
/// the whole block (Blackwell's tensor memory).
double group_threads(const UnitLimits& unit, double threads) {
  const auto warp = static_cast<double>(unit.threads.warp.value);
  constexpr double warps_of_group = 4.0;
  return unit.tensor_memory ? threads : unit.generation == "hopper" ? std::min(threads, warps_of_group * warp) : warp;
}

TileMachine machine_of(const TileAsked& q, const LabBench& bench, const UnitLimits& unit, const L2Rate& l2) {
  TileMachine machine;
  machine.device = limits_of(*bench.device, q.format);
  machine.l2 = l2.rate;
  machine.unit = &unit;
  machine.group_threads = group_threads(unit, q.tile.threads);
  const auto& clock = bench.device->compute.clock;
  if (unit.shared.bytes_per_clock && clock) {
    machine.shared =
        Bytes{static_cast<double>(unit.shared.bytes_per_clock->value) * machine.device.units} * Hertz{clock->value};
  }
  if (!q.latency && !unit.latency.memory) {
    throw ConfigError{"the catalog states no latency of loads from memory for " + unit.name +
                      ", which the stages of a tile must hide; --latency says it"};
  }
  machine.latency = q.latency ? *q.latency : unit.latency.memory->value;
  return machine;
}

/// Everything that keeps such blocks from being launched, each with its limit and source.
void check(const TileAsked& q, const TileAnswer& t, const UnitLimits& unit) {
  Diagnostics problems;
  if (q.tile.threads > static_cast<double>(unit.threads.per_block.value)) {
    problems.add("", {},
                 "--threads " + format_count(q.tile.threads) + " is more than a block of " + unit.name + " can have, " +
                     std::to_string(unit.threads.per_block.value) + " (" + unit.threads.per_block.source + ")");
  }
  if (t.shared > unit.shared.per_block.value) {
    problems.add("", {},
                 "the tile needs " + format(t.shared) + " of shared memory, more than a block of " + unit.name +
                     " can have, " + format(unit.shared.per_block.value) + " (" + unit.shared.per_block.source +
                     "); fewer stages or a shallower slice take less");
  }
  if (t.registers > static_cast<double>(unit.registers.per_thread.value)) {
    problems.add("", {},
                 "a thread needs " + format_count(t.registers) + " registers, " + format_count(t.accumulators) +
                     " of them accumulators, more than it can have, " +
                     std::to_string(unit.registers.per_thread.value) + " (" + unit.registers.per_thread.source +
                     "); more threads share the tile out");
  }
  if (unit.tensor_memory && t.tensor_columns > static_cast<double>(unit.tensor_memory->columns.value)) {
    problems.add(
        "", {},
        "the accumulators need " + format_count(t.tensor_columns) + " columns of tensor memory, more than there are, " +
            std::to_string(unit.tensor_memory->columns.value) + " (" + unit.tensor_memory->columns.source + ")");
  }
  // Blocks that break no single limit may still ask for more registers than a launch may.
  if (problems.empty() && t.occupancy.by(OccupancyLimit::registers) == 0) {
    problems.add("", {},
                 format_count(q.tile.threads) + " threads of " + format_count(t.registers) +
                     " registers cannot be launched: a block of " + unit.name + " has at most " +
                     std::to_string(unit.registers.per_block.value) + " registers (" + unit.registers.per_block.source +
                     "), so that its threads have at most " +
                     std::to_string(registers_for(unit, static_cast<std::int64_t>(q.tile.threads), 1)) + " each");
  }
  problems.throw_if_any();
}

/// What multiplies in a format, in the vendor's words.
std::string_view multipliers(const UnitLimits& unit, const GemmFormat& format) {
  return format.rate == Rate::fp32_vector || format.rate == Rate::fp64_vector ? "vector units"
         : unit.vendor == "amd"                                               ? "matrix cores"
                                                                              : "tensor cores";
}

/// Whether a block with the stages that hide the latency can be launched.
bool stages_fit(TileShape tile, const TileAnswer& t, const TileMachine& machine) noexcept {
  tile.stages = t.stages_needed;
  return can_run(tile_answer(tile, machine), *machine.unit);
}

struct TileChange {
  std::string words;
  std::string because;
  TileShape tile;
};

std::vector<TileChange> changes_of(const TileShape& tile, double needed) {
  std::vector<TileChange> changes;
  const auto add = [&](std::string words, std::string because, const TileShape& changed) {
    changes.push_back({std::move(words), std::move(because), changed});
  };
  TileShape t = tile;
  if (needed > tile.stages && needed <= most_stages) {
    t.stages = needed;
    add(format_count(needed) + " stages", "so many slices on their way hide the latency of a load", t);
    t = tile;
    t.k = std::floor(0.5 * tile.k);
    t.stages = 2.0 * tile.stages;
    if (t.k >= 1.0 && t.stages <= most_stages) {
      add(format_count(t.stages) + " stages of slices half as deep",
          "as much shared memory, of which more is on its way", t);
    }
  }
  t = tile;
  (t.m < t.n ? t.m : t.n) *= 2.0;
  add("a tile of " + format_count(t.m) + "x" + format_count(t.n) + "x" + format_count(t.k),
      "more FLOP for each byte from L2", t);
  t.threads *= 2.0;
  add("such a tile of " + format_count(t.threads) + " threads", "its accumulators are shared out", t);
  t = tile;
  t.threads = std::ceil(0.5 * tile.threads);
  add(format_count(t.threads) + " threads", "each holds more of the tile: more FLOP for each byte from shared memory",
      t);
  t = tile;
  t.k *= 2.0;
  add("slices twice as deep", "half as many waits", t);
  return changes;
}

LabTable levels_of(const TileAnswer& t) {
  LabTable table{"levels",
                 {{"operands from", "level"},
                  {"intensity", "intensity_flop_per_byte"},
                  {"needed for the peak", "needed_flop_per_byte"},
                  {"rate", "bytes_per_s"},
                  {"<feeds the peak", "feeds"}},
                 {}};
  for (std::size_t i = 0; i < t.feeds.size(); ++i) {
    const TileFeed& feed = t.feeds[i];
    const bool known = feed.rate > BytesPerSecond{};
    table.rows.push_back({std::string{tile_level_names[i]}, feed.intensity, when(known, feed.needed),
                          when(known, feed.rate), when(known, feed.feeds())});
  }
  return table;
}

LabChart drawing_of(const TileAsked& q, const TileMachine& machine, double stages_needed) {
  LabLine line{"of the peak in full waves", LineStyle::steps, {}};
  const double last = std::max({8.0, 2.0 * stages_needed, q.tile.stages});
  for (double stages = 1.0; stages <= last; stages += 1.0) {
    TileShape tile = q.tile;
    tile.stages = stages;
    const TileAnswer t = tile_answer(tile, machine);
    if (can_run(t, *machine.unit)) {
      line.points.push_back({stages, t.of_peak, {}});
    }
  }
  return {"Share of the peak over the stages of the pipeline",
          {"stages", Hint::count},
          {"share of the dense peak", Hint::percent},
          {std::move(line)},
          {{q.tile.stages, "this tile"}, {stages_needed, "hides the latency"}}};
}

void tell_product(
    LabAnswer& a, const TileAsked& q, const TileAnswer& t, const TileMachine& machine, const LabBench& bench) {
  const TiledProduct p = tiled_product(q.tile, t, machine, q.matrix[0], q.matrix[1], q.matrix[2]);
  const Flops work = gemm_flops(q.matrix[0], q.matrix[1], q.matrix[2]);
  a.figures.push_back({"tiles of the product", "tiles", p.tiles, format_count(p.tiles)});
  a.figures.push_back({"FLOP of whole tiles", "padded_ratio", p.padded, format_number(p.padded) + "x"});
  a.figures.push_back({"waves", "waves", p.tail.waves});
  a.figures.push_back({"slots that work", "wave_efficiency", share(p.tail.efficiency)});
  a.figures.push_back({"time of the product, at least", "time_s", p.time});
  a.figures.push_back({"rate", "achieved_flop_per_s", work / p.time});
  // Work splits along k into slices, of which each unit takes one at least.
  const double filled = std::max(p.tail.efficiency, 1.0 / std::ceil(q.matrix[2] / q.tile.k));
  if (filled < 1.0) {
    const auto tiles = static_cast<std::int64_t>(p.tiles);
    a.cures.push_back({"tiles that fill whole waves, or work split along k", filled,
                       counted(tiles, "tile") + (tiles == 1 ? " leaves" : " leave") + " the last wave " +
                           percent(p.tail.last_wave) + " full"});
  }
  if (!bench.device->curves.empty()) {
    const CurveSet& set = find_curve_set(bench.data, *bench.device);
    try {
      const auto chosen = choose_gemm(set, *bench.device, q.format);
      const GemmTime library =
          GemmModel{chosen.curve->values, machine.device, q.format}.explain({q.matrix[0], q.matrix[1], q.matrix[2]});
      a.notes.push_back("A library's measured products would take " + format(library.total) + " by tiles of " +
                        std::to_string(library.tile_m) + " x " + std::to_string(library.tile_n) +
                        (library.split > 1 ? " with k split " + std::to_string(library.split) + " ways" : "") +
                        ": 'headroom op gemm' tells more.");
    } catch (const ConfigError&) {
      a.notes.emplace_back("No product was measured in this format on this SKU.");
    }
  }
}

LabAnswer answer(const TileAsked& q, const LabBench& bench) {
  const UnitLimits& unit = bench.catalog.unit_limits(*bench.device);
  const L2Rate l2 = l2_rate(bench, q.format);
  const TileMachine machine = machine_of(q, bench, unit, l2);
  const TileAnswer t = tile_answer(q.tile, machine);
  check(q, t, unit);
  LabAnswer a;
  a.title = "tile " + format_count(q.tile.m) + " x " + format_count(q.tile.n) + " x " + format_count(q.tile.k) + ", " +
            counted(static_cast<std::int64_t>(q.tile.stages), "stage") + ", " + std::string{q.format.name} + ", on " +
            bench.device->id;
  a.question = {{"dtype", std::string{q.format.name}},
                {"tile_m", static_cast<std::int64_t>(q.tile.m)},
                {"tile_n", static_cast<std::int64_t>(q.tile.n)},
                {"tile_k", static_cast<std::int64_t>(q.tile.k)},
                {"stages", static_cast<std::int64_t>(q.tile.stages)},
                {"threads", static_cast<std::int64_t>(q.tile.threads)}};
  const std::string binds{tile_bound_names[static_cast<std::size_t>(t.bound)]};
  a.verdict = t.bound == TileBound::compute
                  ? "The tile keeps its " + std::string{multipliers(unit, q.format)} +
                        " busy: " + format_number(t.feeds[1].intensity.raw()) +
                        " FLOP for each byte from L2, and slices enough on their way."
                  : "The tile reaches " + percent(t.of_peak) + " of the peak at most, bound by " + binds + ": " +
                        (t.bound == TileBound::latency
                             ? format_count(t.stages_needed) + " stages would hide the latency of a load" +
                                   (stages_fit(q.tile, t, machine) ? "." : ", for which there is no room.")
                         : t.bound == TileBound::shared
                             ? format_number(t.feeds[0].intensity.raw()) + " FLOP for each byte from it where " +
                                   format_number(t.feeds[0].needed.raw()) + " are needed."
                             : format_number(t.feeds[1].intensity.raw()) + " FLOP for each byte from L2 where " +
                                   format_number(t.feeds[1].needed.raw()) + " are needed.");
  a.figures = {{"shared memory of a block", "shared_bytes", t.shared},
               {"intensity at L2", "intensity_flop_per_byte", t.feeds[1].intensity},
               {"accumulators of a thread", "accumulators", t.accumulators,
                format_number(t.accumulators) + (t.in_tensor_memory ? ", in tensor memory" : " registers")},
               {"registers of a thread", "registers", t.registers},
               {unit.vendor == "amd" ? "blocks a CU" : "blocks an SM", "blocks_per_unit", t.occupancy.blocks},
               {"occupancy", "occupancy", share(t.occupancy.share)},
               {"FLOP of a slice", "compute_s", t.compute},
               {"its bytes from L2", "load_s", t.load},
               {"latency of a load", "latency_s", machine.latency},
               {"pace between slices", "pace_s", t.pace},
               {"bound by", "bound", binds},
               {"of the peak in full waves, at most", "of_peak", share(t.of_peak)},
               {"stages that hide the latency", "stages_needed", static_cast<std::int64_t>(t.stages_needed)}};
  a.tables.push_back(levels_of(t));
  if (!q.matrix.empty()) {
    tell_product(a, q, t, machine, bench);
  }
  std::vector<TileShape> tried;
  for (const TileChange& change : changes_of(q.tile, t.stages_needed)) {
    const TileAnswer changed = tile_answer(change.tile, machine);
    const double ratio = t.of_peak / changed.of_peak;
    constexpr double least_gain = 0.999;
    // More threads are of use where the larger tile alone cannot run.
    const bool again = std::any_of(tried.begin(), tried.end(), [&](const TileShape& other) {
      return other.m == change.tile.m && other.n == change.tile.n && other.stages == change.tile.stages &&
             other.k == change.tile.k;
    });
    if (ratio < least_gain && !again && can_run(changed, unit)) {
      a.cures.push_back({change.words, ratio, change.because});
      tried.push_back(change.tile);
    }
  }
  std::stable_sort(a.cures.begin(), a.cures.end(),
                   [](const LabCure& x, const LabCure& y) { return x.time_ratio < y.time_ratio; });
  if (q.tile.registers == 0.0) {
    a.notes.push_back("Registers of a thread are its accumulators and " + format_count(other_registers) +
                      " more; --registers says what the compiler took.");
  }
  a.notes.emplace_back("Every load is taken to wait as long as one from memory, though most find their tile in L2.");
  a.sources = {
      "tiles and levels: Hong and Kung 1981; slices on their way: Little 1961",
      "limits of a block" + std::string{q.latency ? "" : " and latency"} + ": 'headroom catalog show " + unit.id + "'",
      "L2: " + l2.why};
  a.chart = drawing_of(q, machine, t.stages_needed);
  return a;
}

LabQuestion read_tile(FormReader& in) {
  return [q = read_asked_tile(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm tile_form{"tile", "MxNxK of a block", GpuUse::needed, read_tile};

}  // namespace headroom::cli
