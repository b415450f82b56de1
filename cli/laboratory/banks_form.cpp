// SPDX-License-Identifier: Apache-2.0
// `headroom kernel banks`: conflicts of a warp in the banks of shared memory, and the layouts that have none.
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/laboratory/banks.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace headroom::cli {
namespace {

struct BanksAsked {
  std::int64_t element = 4;
  std::int64_t stride = 1;
  std::optional<SharedTile> tile;
  std::optional<Bytes> needed;
};

BanksAsked read_banks_numbers(FormReader& in) {
  BanksAsked q;
  const Bytes element = in.given("--element") ? in.quantity<Bytes>("--element") : Bytes{4.0};
  constexpr std::array<std::int64_t, 5> widths{1, 2, 4, 8, 16};
  const auto* const width = std::find_if(widths.begin(), widths.end(),
                                         [&](std::int64_t w) { return static_cast<double>(w) == element.raw(); });
  if (width == widths.end()) {
    in.problem("--element " + quoted(in.text("--element")) +
               " must be 1, 2, 4, 8 or 16 B: what one access of a thread to shared memory is (CUDA C++ Programming "
               "Guide, shared memory)");
  } else {
    q.element = *width;
  }
  constexpr std::int64_t most = std::int64_t{1} << 20U;
  q.stride = static_cast<std::int64_t>(in.count_or("--stride", 1.0));
  if (q.stride > most) {
    in.problem("--stride " + quoted(in.text("--stride")) + " must be at most " +
               format_count(static_cast<double>(most)));
    q.stride = 1;
  }
  const bool padded = in.given("--pad");
  if (in.given("--tile")) {
    const std::vector<double> sizes = in.extents("--tile", 0, 1.0, 32.0);
    if (sizes.size() != 2) {
      in.problem("--tile " + quoted(in.text("--tile")) + " must be ROWSxCOLUMNS here, such as 32x32");
    }
    q.tile = sizes.size() != 2 ? SharedTile{}
                               : SharedTile{static_cast<std::int64_t>(sizes[0]), static_cast<std::int64_t>(sizes[1])};
    if (std::max(q.tile->rows, q.tile->columns) > most) {
      in.problem("--tile " + quoted(in.text("--tile")) + " must have at most " +
                 format_count(static_cast<double>(most)) + " rows and columns");
      q.tile = SharedTile{};
    }
    q.tile->padding = padded ? static_cast<std::int64_t>(in.count_or("--pad", 0.0)) : 0;
    if (q.tile->padding > most) {
      in.problem("--pad " + quoted(in.text("--pad")) + " must be at most " + format_count(static_cast<double>(most)));
      q.tile->padding = 0;
    }
  }
  q.needed = needed_bytes(in, static_cast<double>(q.element));
  return q;
}

std::string bank_ways(std::int64_t degree) {
  return degree == 1 ? "without a conflict" : std::to_string(degree) + "-way";
}

Bytes shared_tile_bytes(const SharedTile& tile, std::int64_t element) {
  return Bytes{static_cast<double>(tile.rows * (tile.columns + tile.padding) * element)};
}

/// Cures, each of which has no conflict, and what each needs.
void add_bank_cures(LabAnswer& a, const BanksAsked& q, const BankCount& now, const AccessUnit& unit) {
  const auto ratio = [&](const BankCount& after) {
    return static_cast<double>(after.cycles) / static_cast<double>(now.cycles);
  };
  if (now.degree == 1) {
    return;
  }
  // A bare stride is a column of a tile of so many columns.
  const SharedTile tile = q.tile.value_or(SharedTile{unit.lanes, std::max<std::int64_t>(q.stride, 1), 0, false});
  SharedTile bare = tile;
  bare.padding = 0;
  if (const auto padding = least_padding(bare, q.element, unit)) {
    SharedTile padded = bare;
    padded.padding = *padding;
    const Bytes more = shared_tile_bytes(padded, q.element) - shared_tile_bytes(tile, q.element);
    a.cures.push_back({*padding > 0 ? "pad each row by " + counted(*padding, "element") : "no padding",
                       ratio(count_banks(padded, q.element, unit)),
                       "rows of " + std::to_string(bare.columns + *padding) + " elements, " +
                           (more < Bytes{} ? format(-1.0 * more) + " less" : format(more) + " more") +
                           " of shared memory"});
  }
  if (std::has_single_bit(static_cast<std::uint64_t>(bare.columns)) && bare.columns > 1) {
    SharedTile swizzled = bare;
    swizzled.swizzled = true;
    const BankCount after = count_banks(swizzled, q.element, unit);
    if (after.cycles < now.cycles) {
      a.cures.push_back({"swizzle: element (r, c) in column c XOR r", ratio(after),
                         bank_ways(after.degree) +
                             ", no further memory; rows stay aligned for vectors and TMA where whole "
                             "vectors are swizzled"});
    }
  }
}

LabAnswer answer_banks(const BanksAsked& q, const LabBench& bench) {
  const ServedBy served = served_by(bench);
  const AccessUnit& unit = served.unit;
  const BankCount count = q.tile ? count_banks(*q.tile, q.element, unit) : count_banks(q.stride, q.element, unit);
  const std::int64_t pitch = q.tile ? q.tile->columns + q.tile->padding : q.stride;
  LabAnswer a;
  const std::string of = " of " + std::to_string(q.element) + " B";
  a.title =
      (q.tile
           ? "a tile of " + std::to_string(q.tile->rows) + "x" + std::to_string(q.tile->columns) + " elements" + of +
                 (q.tile->padding > 0 ? ", rows padded by " + std::to_string(q.tile->padding) : "") + ", read by column"
           : "elements" + of + ", stride " + std::to_string(q.stride)) +
      (bench.device != nullptr ? ", on " + bench.device->id : "");
  a.question = {{"element_bytes", Bytes{static_cast<double>(q.element)}}, {"stride", pitch}};
  if (q.tile) {
    a.question.push_back({"tile_rows", q.tile->rows});
    a.question.push_back({"tile_columns", q.tile->columns});
    a.question.push_back({"padding", q.tile->padding});
  }
  a.verdict = count.degree == 1
                  ? "The access has no bank conflict: a warp takes " + counted(count.cycles, "cycle") + "."
                  : "The access conflicts " + bank_ways(count.degree) + ": a warp takes " +
                        counted(count.cycles, "cycle") + " instead of " + std::to_string(count.least) + ".";
  a.figures = {
      {"conflict", "conflict_degree", count.degree, count.degree == 1 ? "none" : std::to_string(count.degree) + "-way"},
      {"cycles a warp", "cycles", count.cycles},
      {"without conflicts", "least_cycles", count.least},
      {"of the banks' bandwidth", "efficiency", share(1.0 / count.ratio())}};
  if (q.element == unit.bank_width && unit.lanes == unit.banks && pitch > 0 &&
      (!q.tile || q.tile->rows >= unit.lanes)) {
    const std::int64_t law = conflict_degree(pitch, unit.banks);
    a.figures.push_back(
        {"by the law", "", law,
         "gcd(" + std::to_string(pitch) + ", " + std::to_string(unit.banks) + ") = " + std::to_string(law)});
  }
  if (bench.device != nullptr) {
    const UnitClock clock = unit_clock(*bench.device);
    const BytesPerSecond all = shared_bandwidth(clock.units, clock.clock, unit);
    a.figures.push_back({"shared memory carries", "shared_bytes_per_s", all});
    a.figures.push_back({"of which useful", "effective_bytes_per_s", all / count.ratio()});
    if (q.needed) {
      a.figures.push_back({"accessed", "needed_bytes", *q.needed});
      a.figures.push_back({"time", "time_s", *q.needed / (all / count.ratio())});
      a.figures.push_back({"without conflicts", "least_s", *q.needed / all});
    }
  }
  LabTable table{
      "strides",
      {{"stride", "stride"}, {"conflict", "conflict_degree"}, {"cycles", "cycles"}, {"of the bandwidth", "efficiency"}},
      {}};
  std::vector<std::int64_t> strides{1, 2, 3, 4, 8, 16, 31, 32, 33, 64, pitch};
  std::sort(strides.begin(), strides.end());
  strides.erase(std::unique(strides.begin(), strides.end()), strides.end());
  for (const std::int64_t stride : strides) {
    const BankCount other = count_banks(stride, q.element, unit);
    table.rows.push_back({stride, other.degree, other.cycles, share(1.0 / other.ratio())});
  }
  a.tables.push_back(std::move(table));
  add_bank_cures(a, q, count, unit);
  a.notes.emplace_back(
      "Times are of a kernel that nothing but shared memory holds up; threads that read one word are served together.");
  if (unit.banks * unit.bank_width < unit.lanes * q.element) {
    const std::int64_t groups = count.least;
    a.notes.push_back("A warp's " + std::to_string(unit.lanes * q.element) + " B are served in " +
                      std::to_string(groups) + " groups of " + std::to_string(unit.lanes / groups) +
                      " threads, each of which meets the banks by itself.");
  }
  if (q.tile) {
    a.notes.emplace_back("The worst of the tile's columns is told.");
  }
  a.sources = {served.source,
               "gcd(stride, banks) threads share a bank: CUDA C++ Best Practices Guide, shared memory and "
               "memory banks"};
  constexpr std::int64_t shown = 66;
  LabChart chart{
      "Conflicts by stride", {"stride in elements", Hint::number, false}, {"conflict degree", Hint::number, false}};
  LabLine law{"by stride", LineStyle::steps, {}};
  for (std::int64_t stride = 1; stride <= shown; ++stride) {
    law.points.push_back(
        {static_cast<double>(stride), static_cast<double>(count_banks(stride, q.element, unit).degree), {}});
  }
  chart.lines.push_back(std::move(law));
  if (pitch <= shown) {
    chart.lines.push_back(
        {"this access", LineStyle::points, {{static_cast<double>(pitch), static_cast<double>(count.degree), "now"}}});
  }
  a.chart = std::move(chart);
  return a;
}

LabQuestion read_banks(FormReader& in) {
  return [q = read_banks_numbers(in)](const LabBench& bench) { return answer_banks(q, bench); };
}

}  // namespace

const KernelForm banks_form{"banks", "--stride, or --tile ROWSxCOLUMNS", GpuUse::optional, read_banks};

}  // namespace headroom::cli
