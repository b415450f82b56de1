// SPDX-License-Identifier: Apache-2.0
// `headroom kernel occupancy`: how many blocks a unit holds, what limits them, whether that hides the memory's latency,
// and what each cure would bring.
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/occupancy_checks.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/occupancy_cures.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace headroom::cli {
namespace {

OccupancyAsked read_numbers_of_occupancy(FormReader& in) {
  OccupancyAsked q;
  const auto whole = [&](std::string_view option) { return static_cast<std::int64_t>(in.count_or(option, 0.0)); };
  q.kernel.block.threads = in.need("--threads") ? whole("--threads") : 1;
  q.kernel.block.registers = in.need("--registers") ? whole("--registers") : 1;
  q.kernel.block.shared = in.quantity_or<Bytes>("--shared", Bytes{});
  if (in.given("--carve-out")) {
    q.kernel.block.carve_out = in.quantity_or<Bytes>("--carve-out", Bytes{});
  }
  q.cluster = in.given("--cluster") ? whole("--cluster") : 1;
  if (in.given("--tensor-memory")) {
    q.tensor_memory = whole("--tensor-memory");
    q.kernel.block.tensor_memory_columns = *q.tensor_memory;
  }
  q.kernel.per_thread = in.quantity_or<Bytes>("--bytes-per-thread", q.kernel.per_thread);
  q.kernel.per_block = in.quantity_or<Bytes>("--bulk", Bytes{});
  q.latency = in.quantity_if<Seconds>("--latency");
  if (in.given("--blocks")) {
    q.blocks = in.size_or("--blocks", 1.0);
  }
  q.spilled = in.quantity_if<Bytes>("--spilled");
  return q;
}

/// What the answer is told of: the question on one unit of one SKU.
struct Told {
  const OccupancyAsked& asked;
  const Device& device;
  const UnitLimits& unit;
  WaitingKernel kernel;
  UnitOccupancy found;
  std::string_view place;  ///< "SM" or "CU"
};

Value rate_value(const Told& told, const WaitingKernel& kernel, const UnitOccupancy& found) {
  const std::optional<BytesPerSecond> rate = found.blocks > 0 ? reached(kernel, found) : std::nullopt;
  return told.kernel.wait && rate ? Value{*rate} : Value{};
}

/// "registers, shared memory".
std::string limiters(const UnitOccupancy& found) {
  std::string names;
  for (std::size_t i = 0; i < occupancy_limits; ++i) {
    if (found.binds(static_cast<OccupancyLimit>(i))) {
      names += (names.empty() ? "" : ", ") + std::string{occupancy_limit_names[i]};
    }
  }
  return names;
}

/// Threads of one unit that keep the memory busy by loads alone.
std::int64_t threads_needed(const WaitingKernel& kernel) {
  return static_cast<std::int64_t>(std::ceil(bytes_needed(*kernel.wait) / kernel.per_thread - 1e-9));
}

double occupancy_needed(const Told& told) {
  return static_cast<double>(threads_needed(told.kernel)) / static_cast<double>(told.unit.threads.per_unit.value);
}

bool saturated(const Told& told) {
  return told.kernel.wait && reached(told.kernel, told.found) == told.kernel.wait->bandwidth;
}

std::string verdict_of(const Told& told) {
  const UnitOccupancy& found = told.found;
  std::string text = "Each " + std::string{told.place} + " holds " + counted(found.blocks, "block") + ", " +
                     std::to_string(found.warps) + " of " + std::to_string(told.unit.threads.warps_per_unit.value) +
                     " warps (" + percent(found.share) + "), limited by " + limiters(found);
  if (!told.kernel.wait) {
    return text + ".";
  }
  const Bytes held = in_flight(told.kernel, found);
  const Bytes needed = bytes_needed(*told.kernel.wait);
  if (saturated(told)) {
    return text + "; the " + format(held) + " under way exceed the " + format(needed) +
           " that keep the memory busy, so more occupancy would not help.";
  }
  return text + "; the " + format(held) + " under way, of " + format(needed) +
         " that would keep the memory busy, reach " + percent(held / needed) + " of its bandwidth at most.";
}

void add_figures(const Told& told, LabAnswer& a) {
  const UnitOccupancy& found = told.found;
  const auto& unit = told.unit;
  a.figures = {{"occupancy", "occupancy", share(found.share)},
               {"limited by", "limited_by", limiters(found)},
               {"blocks resident", "blocks_per_unit", found.blocks},
               {"warps resident", "warps_per_unit", found.warps,
                std::to_string(found.warps) + " of " + std::to_string(unit.threads.warps_per_unit.value)},
               {"threads resident", "threads_per_unit", found.threads},
               {"registers of a warp, as allotted", "allotted_registers_per_warp", found.registers},
               {"shared memory of a block, as allotted", "allotted_bytes_per_block", found.shared}};
  if (found.carve) {
    a.figures.push_back({"shared memory set aside", "carve_out_bytes", *found.carve});
  }
  if (told.kernel.wait) {
    const MemoryWait& wait = *told.kernel.wait;
    const BytesPerSecond rate = *reached(told.kernel, found);
    a.figures.push_back({"latency of the memory", "latency_s", wait.latency});
    a.figures.push_back({"under way", "in_flight_bytes_per_unit", in_flight(told.kernel, found)});
    a.figures.push_back({"under way to keep it busy", "needed_bytes_per_unit", bytes_needed(wait)});
    a.figures.push_back({"threads that suffice", "needed_threads_per_unit", threads_needed(told.kernel)});
    a.figures.push_back({"occupancy that suffices", "needed_occupancy", share(occupancy_needed(told)),
                         occupancy_needed(told) > 1.0 ? "more than there is" : ""});
    a.figures.push_back({"bandwidth at most", "reached_bytes_per_s", rate});
    a.figures.push_back({"of the memory's", "of_bandwidth", share(rate / wait.bandwidth)});
  }
  const auto& units = told.device.compute.units;
  if (!units) {
    return;
  }
  const double resident = static_cast<double>(units->value * found.blocks);
  if (told.asked.cluster > 1) {
    const double clusters = std::floor(resident / static_cast<double>(told.asked.cluster));
    a.figures.push_back({"clusters resident at most", "clusters_resident", clusters});
  }
  if (told.asked.blocks) {
    const GridTail tail = grid_tail(*told.asked.blocks, resident);
    a.figures.push_back({"waves of the grid", "waves", tail.waves});
    a.figures.push_back({"last wave filled", "last_wave", share(tail.last_wave)});
    a.figures.push_back({"slots that work", "tail_efficiency", share(tail.efficiency)});
  }
}

SpillPlaces places_of(const Told& told) {
  const Device& device = told.device;
  SpillPlaces places;
  const auto& shared = told.unit.shared;
  // On architectures where L1 is cut from the same array, it has what shared memory leaves and the same ports.
  if (shared.with_l1 && shared.bytes_per_clock && device.compute.clock) {
    const Bytes used = told.found.carve.value_or(shared.per_unit.value);
    places.l1 = shared.with_l1->value - used;
    places.l1_rate =
        BytesPerSecond{static_cast<double>(shared.bytes_per_clock->value) *
                       static_cast<double>(device.compute.units->value) * device.compute.clock->value.raw()};
  }
  places.l2 = device.memory.l2 ? device.memory.l2->value : Bytes{};
  places.memory_rate = device.bandwidth();
  places.l2_rate = l2_over_memory * places.memory_rate;
  return places;
}

void add_spills(const Told& told, LabAnswer& a) {
  if (!told.asked.spilled) {
    return;
  }
  if (!told.device.compute.units) {
    a.notes.push_back("What is spilled is not priced: the catalog states no number of units of " + told.device.id +
                      ".");
    return;
  }
  const auto units = static_cast<double>(told.device.compute.units->value);
  const auto resident = static_cast<double>(told.found.threads);
  const double threads =
      told.asked.blocks ? *told.asked.blocks * static_cast<double>(told.kernel.block.threads) : units * resident;
  const SpillCost cost = spill_cost(*told.asked.spilled, resident, threads, units, places_of(told));
  a.figures.push_back({"spilled registers live in", "spill_level", std::string{name_of(cost.level)}});
  a.figures.push_back({"spilled, resident", "spilled_bytes_per_unit", cost.held});
  a.figures.push_back({"traffic of spills", "spill_traffic_bytes", cost.moved});
  a.figures.push_back({"time of that traffic", "spill_s", cost.time});
  const std::int64_t whole =
      told.kernel.block.registers + static_cast<std::int64_t>(std::ceil(told.asked.spilled->raw() / 4.0));
  WaitingKernel without = told.kernel;
  without.block.registers = whole;
  const UnitOccupancy found = unit_occupancy(told.unit, without.block);
  const std::string registers = std::to_string(whole) + " registers, which spill nothing";
  if (found.blocks == 0) {
    a.notes.push_back("No register is left for what is spilled: " + registers + ", cannot be launched.");
  } else {
    const std::string why = "occupancy " + percent(found.share) + " instead of " + percent(told.found.share) + "; " +
                            format(cost.moved) + " less to move through " + std::string{name_of(cost.level)};
    const double ratio = told.kernel.wait ? *reached(told.kernel, told.found) / *reached(without, found) : 0.0;
    if (ratio > 1.0) {
      a.notes.push_back("It is better to spill while loads wait for memory: " + registers + ", leave occupancy " +
                        percent(found.share) + ", and the loads take " + format_number(ratio) + " times as long.");
    } else {
      a.cures.push_back({registers, ratio, why});
    }
  }
  a.notes.push_back(
      std::string{"Spills: each spilled byte is written once and read once by "} +
      (told.asked.blocks ? "every thread of the grid" : "every thread of one full wave") +
      ", at the rate of the nearest level with room for those of all resident threads; the time is that of "
      "the traffic alone.");
}

std::string change_of(const CuredOccupancy& cure, const WaitingKernel& now) {
  const BlockDemand& block = cure.kernel.block;
  switch (cure.cure) {
    case OccupancyCure::fewer_registers:
      return std::to_string(block.registers) + " registers instead of " + std::to_string(now.block.registers);
    case OccupancyCure::other_block_size:
      return "blocks of " + std::to_string(block.threads) + " threads instead of " + std::to_string(now.block.threads);
    case OccupancyCure::less_shared:
      return format(block.shared) + " of shared memory instead of " + format(now.block.shared);
    case OccupancyCure::carve_out: return "a carve-out of " + format(*block.carve_out);
    case OccupancyCure::wider_loads:
      return format(cure.kernel.per_thread) + " under way of a thread instead of " + format(now.per_thread);
    case OccupancyCure::bulk_copies: return format(cure.kernel.per_block) + " under way of a block by TMA";
  }
  return {};
}

std::string because_of(const CuredOccupancy& cure, const Told& told) {
  const std::string occupancy = "occupancy " + percent(cure.found.share);
  std::string text;
  switch (cure.cure) {
    case OccupancyCure::fewer_registers:
      text = occupancy + "; __launch_bounds__ or -maxrregcount asks for it, and may spill";
      break;
    case OccupancyCure::other_block_size:
      text = occupancy + (told.kernel.block.shared > Bytes{} ? "; shared memory in proportion" : "");
      break;
    case OccupancyCure::less_shared: text = occupancy + "; smaller tiles, or fewer stages"; break;
    case OccupancyCure::carve_out: text = occupancy + "; L1 loses as much"; break;
    case OccupancyCure::wider_loads: text = "16-byte loads, several independent ones before the first is used"; break;
    case OccupancyCure::bulk_copies: text = "copies that no register waits for, into shared memory that is free"; break;
  }
  return text;
}

void add_tables(const Told& told, LabAnswer& a) {
  LabTable limits{"limits", {{"<limit", "limit"}, {"blocks", "blocks"}}, {}};
  for (std::size_t i = 0; i < occupancy_limits; ++i) {
    const std::int64_t blocks = told.found.blocks_by[i];
    limits.rows.push_back(
        {std::string{occupancy_limit_names[i]}, blocks == unlimited_blocks ? Value{} : Value{blocks}});
  }
  const auto sweep = [&](std::string_view key, LabColumn column, std::set<std::int64_t> values, auto set) {
    LabTable table{key,
                   {column,
                    {"blocks", "blocks"},
                    {"warps", "warps"},
                    {"occupancy", "occupancy"},
                    {"bandwidth at most", "reached_bytes_per_s"},
                    {"<limited by", "limited_by"}},
                   {}};
    for (const std::int64_t value : values) {
      WaitingKernel tried = told.kernel;
      set(tried.block, value);
      const UnitOccupancy found = unit_occupancy(told.unit, tried.block);
      table.rows.push_back(
          {value, found.blocks, found.warps, share(found.share), rate_value(told, tried, found), limiters(found)});
    }
    return table;
  };
  std::set<std::int64_t> sizes{32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};
  std::erase_if(sizes, [&](std::int64_t n) {
    return n % told.unit.threads.warp.value != 0 || n > told.unit.threads.per_block.value;
  });
  sizes.insert(told.kernel.block.threads);
  std::set<std::int64_t> counts{24, 32, 40, 48, 64, 80, 96, 128, 168, 255};
  counts.insert({told.kernel.block.registers, told.unit.registers.per_thread.value});
  a.tables = {std::move(limits),
              sweep("block_sizes", {"threads", "threads"}, sizes,
                    [](BlockDemand& block, std::int64_t threads) { block.threads = threads; }),
              sweep("register_counts", {"registers", "registers"}, counts,
                    [](BlockDemand& block, std::int64_t registers) { block.registers = registers; })};
  if (!told.kernel.wait) {
    return;
  }
  LabTable curve{"bandwidths",
                 {{"occupancy", "occupancy"},
                  {"threads", "threads"},
                  {"under way", "in_flight_bytes"},
                  {"bandwidth at most", "reached_bytes_per_s"},
                  {"of the memory's", "of_bandwidth"}},
                 {}};
  const auto most = static_cast<double>(told.unit.threads.per_unit.value);
  for (int eighths = 1; eighths <= 8; ++eighths) {
    const double part = 0.125 * eighths;
    const Bytes bytes = InFlight{part * most, 0.0, told.kernel.per_thread, {}}.bytes();
    const BytesPerSecond rate = bandwidth_reached(*told.kernel.wait, bytes);
    curve.rows.push_back(
        {share(part), std::llround(part * most), bytes, rate, share(rate / told.kernel.wait->bandwidth)});
  }
  a.tables.push_back(std::move(curve));
}

LabChart drawing_of_occupancy(const Told& told) {
  LabChart chart{
      "Occupancy over registers", {"registers of a thread", Hint::number, false}, {"occupancy", Hint::percent, false}};
  LabLine line{"blocks of " + std::to_string(told.kernel.block.threads) + " threads", LineStyle::steps, {}};
  const std::int64_t most = told.unit.registers.per_thread.value;
  constexpr std::int64_t first = 16;
  for (std::int64_t registers = first; registers <= most; ++registers) {
    BlockDemand block = told.kernel.block;
    block.registers = registers;
    const double part = unit_occupancy(told.unit, block).share;
    if (line.points.empty() || part != line.points.back().y || registers == most) {
      line.points.push_back({static_cast<double>(registers), part, {}});
    }
  }
  chart.lines.push_back(std::move(line));
  if (told.kernel.wait && occupancy_needed(told) <= 1.0) {
    const double needed = occupancy_needed(told);
    chart.lines.push_back({"enough for the memory",
                           LineStyle::dashed,
                           {{static_cast<double>(first), needed, {}}, {static_cast<double>(most), needed, {}}}});
  }
  chart.lines.push_back(
      {"the kernel", LineStyle::points, {{static_cast<double>(told.kernel.block.registers), told.found.share, "now"}}});
  return chart;
}

void add_notes(const Told& told, LabAnswer& a) {
  const UnitLimits& unit = told.unit;
  const std::optional<Bytes>& preferred = told.kernel.block.carve_out;
  if (preferred && told.found.carve && *told.found.carve > *preferred) {
    a.notes.push_back("A carve-out of " + format(*preferred) + " holds no such block: the driver sets " +
                      format(*told.found.carve) + " aside.");
  }
  if (told.kernel.wait) {
    a.notes.emplace_back(
        "Bandwidth at most is min(B, units x under way / latency); the latency is that of a lone load, which rises as "
        "the memory fills: half as much again is a fair margin. Cures are priced for a kernel that waits for memory "
        "alone.");
  } else if (!told.asked.latency && !unit.latency.memory) {
    a.notes.push_back("The catalog states no latency of the memory for " + unit.id +
                      ": --latency says it, and bandwidths are priced.");
  } else {
    a.notes.push_back("Bandwidths are not priced: the catalog states no bandwidth or number of units of " +
                      told.device.id + ".");
  }
  if (told.kernel.block.shared > unit.shared.per_block_default.value) {
    a.notes.push_back("More than " + format(unit.shared.per_block_default.value) +
                      " of shared memory must be opted in to (cudaFuncAttributeMaxDynamicSharedMemorySize).");
  }
  if (unit.cluster.portable && told.asked.cluster > unit.cluster.portable->value) {
    a.notes.push_back("A cluster of more than " + std::to_string(unit.cluster.portable->value) +
                      " blocks must be opted in to (cudaFuncAttributeNonPortableClusterSizeAllowed).");
  }
  if (told.asked.cluster > 1) {
    a.notes.emplace_back(
        "All blocks of a cluster run on one GPC, whose units are not in the catalog: fewer clusters may be resident.");
  }
}

LabAnswer answer(const OccupancyAsked& q, const LabBench& bench) {
  const Device& device = *bench.device;
  const UnitLimits& unit = bench.catalog.unit_limits(device);
  check_occupancy(q, unit);
  Told told{q, device, unit, q.kernel, {}, unit.vendor == "amd" ? "CU" : "SM"};
  const std::optional<Seconds> latency = q.latency             ? q.latency
                                         : unit.latency.memory ? std::optional{unit.latency.memory->value}
                                                               : std::nullopt;
  if (latency && device.memory.bandwidth && device.compute.units) {
    told.kernel.wait =
        MemoryWait{device.memory.bandwidth->value, *latency, static_cast<double>(device.compute.units->value)};
  }
  told.found = unit_occupancy(unit, told.kernel.block);
  const BlockDemand& block = told.kernel.block;

  LabAnswer a;
  a.title = "blocks of " + counted(block.threads, "thread") + " of " + counted(block.registers, "register") +
            (block.shared > Bytes{} ? " with " + format(block.shared) + " of shared memory" : "") + ", on " + device.id;
  a.question = {{"threads", block.threads}, {"registers", block.registers}, {"shared_bytes", block.shared}};
  if (q.cluster > 1) {
    a.question.push_back({"cluster", q.cluster});
  }
  if (q.tensor_memory) {
    a.question.push_back({"tensor_memory_columns", *q.tensor_memory});
  }
  a.question.push_back({"bytes_per_thread", told.kernel.per_thread});
  if (told.kernel.per_block > Bytes{}) {
    a.question.push_back({"bulk_bytes_per_block", told.kernel.per_block});
  }
  a.verdict = verdict_of(told);
  add_figures(told, a);
  add_tables(told, a);
  constexpr double least_gain = 0.9995;
  for (const CuredOccupancy& cure : occupancy_cures(unit, told.kernel)) {
    // Of a kernel whose memory is busy already more occupancy is no cure; the tables tell it.
    if (!told.kernel.wait || cure.ratio < least_gain) {
      a.cures.push_back({change_of(cure, told.kernel), cure.ratio, because_of(cure, told)});
    }
  }
  add_notes(told, a);
  add_spills(told, a);
  a.sources = {
      "limits of " + unit.id + ": " + unit.threads.warps_per_unit.source + "; 'headroom catalog show " + unit.id + "'",
      "Little 1961 (bytes under way = bandwidth x latency); Volkov 2016, Understanding latency hiding on GPUs"};
  if (told.kernel.wait) {
    a.sources.push_back("latency: " + (q.latency ? std::string{"--latency"} : unit.latency.memory->source) +
                        "; bandwidth: " + device.memory.bandwidth->source);
  }
  a.chart = drawing_of_occupancy(told);
  return a;
}

LabQuestion read_occupancy(FormReader& in) {
  return [q = read_numbers_of_occupancy(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm occupancy_form{"occupancy", "threads of a block, registers of a thread", GpuUse::needed,
                                read_occupancy};

}  // namespace headroom::cli
