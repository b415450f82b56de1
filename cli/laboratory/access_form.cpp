// SPDX-License-Identifier: Apache-2.0
// `headroom kernel access`: sectors that a warp's loads fetch, what of them is used, and what another layout saves.
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/laboratory/access.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom::cli {
namespace {

constexpr std::array<std::string_view, 6> access_layout_names{"linear", "aos", "soa", "random", "rows", "columns"};
constexpr std::int64_t widest_access = 16;
constexpr std::int64_t most_access_fields = 64;

struct AccessAsked {
  AccessPattern pattern;
  std::string layout;           ///< as it was written
  std::optional<Bytes> needed;  ///< that the kernel needs
};

std::int64_t access_bytes(FormReader& in, std::string_view option, double otherwise, bool nought) {
  const Bytes value = nought             ? in.quantity_or<Bytes>(option, Bytes{otherwise})
                      : in.given(option) ? in.quantity<Bytes>(option)
                                         : Bytes{otherwise};
  const auto whole = static_cast<std::int64_t>(std::min(value.raw(), 1e12));
  if (static_cast<double>(whole) != value.raw()) {
    in.problem(std::string{option} + " " + quoted(in.text(option)) + " must be a whole number of bytes");
  }
  return whole;
}

/// "aos:8", "columns:4096", "soa": whether it is known, with its size where it needs one.
bool read_access_layout(FormReader& in, AccessAsked& q) {
  q.layout = in.text("--layout", "linear");
  const std::size_t colon = q.layout.find(':');
  const std::string name = q.layout.substr(0, colon);
  const auto at = std::find(access_layout_names.begin(), access_layout_names.end(), name);
  if (at == access_layout_names.end()) {
    in.problem("--layout " + quoted(q.layout) + " is not known" + suggestion(name, access_layout_names) +
               "; known are " + listed(access_layout_names) +
               ", of which aos:N has N fields and rows:N and columns:N have N elements a row");
    return false;
  }
  q.pattern.layout = static_cast<AccessLayout>(at - access_layout_names.begin());
  const bool sized = name == "aos" || name == "rows" || name == "columns";
  if (colon == std::string::npos) {
    if (sized) {
      in.problem("--layout " + name + " needs a size, such as " + name + (name == "aos" ? ":8" : ":4096") +
                 (name == "aos" ? ", the fields of a structure" : ", the elements of a row"));
    }
    return !sized;
  }
  constexpr std::int64_t most = std::int64_t{1} << 20U;
  const std::optional<std::int64_t> size = integer_of(q.layout.substr(colon + 1));
  if (!sized || !size || *size < 1 || *size > most) {
    in.problem(
        "--layout " + quoted(q.layout) +
        (sized ? " must have a whole number from 1 to " + format_count(static_cast<double>(most)) + " behind its colon"
               : " takes no size; write --layout " + name));
    return false;
  }
  q.pattern.extent = *size;
  return true;
}

AccessAsked read_access_numbers(FormReader& in) {
  AccessAsked q;
  const bool known = read_access_layout(in, q);
  AccessPattern& p = q.pattern;
  p.element = access_bytes(in, "--element", 4.0, false);
  if (p.element > widest_access || p.element < 1) {
    in.problem("--element " + quoted(in.text("--element")) + " must be 1 B to " + std::to_string(widest_access) +
               " B, what one load of a thread reads at most (CUDA C++ Programming Guide, device memory accesses); a "
               "structure is --layout aos:N with --fields");
    p.element = 4;
  }
  p.stride = static_cast<std::int64_t>(in.size_or("--stride", 1.0));
  constexpr std::int64_t most_stride = std::int64_t{1} << 30U;
  if (p.stride > most_stride) {
    in.problem("--stride " + quoted(in.text("--stride")) + " must be at most " +
               format_count(static_cast<double>(most_stride)));
    p.stride = 1;
  }
  if (known && p.stride > 1 && p.layout != AccessLayout::linear) {
    in.problem("--stride goes with --layout linear; the step of " + q.layout + " follows from its size");
  }
  p.fields = static_cast<std::int64_t>(in.size_or("--fields", 1.0));
  const bool has_fields =
      p.layout == AccessLayout::structures || p.layout == AccessLayout::arrays || p.layout == AccessLayout::random;
  if (!known) {
    p.fields = 1;
  } else if (in.given("--fields") && !has_fields) {
    in.problem("--fields goes with --layout aos:N, soa and random");
  } else if (p.fields > most_access_fields || (p.layout == AccessLayout::structures && p.fields > p.extent)) {
    in.problem("--fields " + quoted(in.text("--fields")) + " must be at most " +
               (p.layout == AccessLayout::structures
                    ? "the " + std::to_string(std::min(p.extent, most_access_fields)) + " of the structure"
                    : std::to_string(most_access_fields)));
    p.fields = 1;
  }
  p.offset = access_bytes(in, "--offset", 0.0, true);
  const std::int64_t width = load_width(p.element);
  if (p.offset % width != 0) {
    in.problem(
        "--offset " + quoted(in.text("--offset")) + " must be a multiple of " + std::to_string(width) +
        " B: a load of " + std::to_string(width) +
        " B from another address is an error of the device (CUDA C++ Programming Guide, device memory accesses)");
    p.offset = 0;
  }
  q.needed = needed_bytes(in, static_cast<double>(p.element * p.fields));
  return q;
}

/// Whole counts as such, means with their fraction.
Value access_count(double count) {
  return count == std::floor(count) ? Value{static_cast<std::int64_t>(count)} : Value{count};
}

std::string count_told(double count) {
  return count == std::floor(count) ? format_count(count) : format_number(count);
}

std::string cured_change(const CuredAccess& cure) {
  switch (cure.cure) {
    case AccessCure::arrays: return "an array for each field (SoA), neighbours beside each other";
    case AccessCure::staged: return "read along the rows, turn the tile in shared memory";
    case AccessCure::aligned: return "begin at an aligned address";
    case AccessCure::padded: return "pad each row to " + std::to_string(cure.pattern.pitch) + " elements";
    case AccessCure::sorted: return "sort or renumber, so that neighbours read neighbours";
    case AccessCure::wide: return "loads of 16 B a thread";
  }
  return {};
}

std::string cured_because(const CuredAccess& cure, const AccessUnit& unit) {
  const std::string sectors = count_told(cure.count.sectors) + " sectors a warp, " +
                              percent(sector_efficiency(cure.count, unit)) + " of them used";
  switch (cure.cure) {
    case AccessCure::staged:
      return sectors +
             "; a tile of 32x32 with one element behind each row has no bank conflict ('headroom kernel "
             "banks --tile 32x32')";
    case AccessCure::sorted: return sectors + " at best, of data that are dense; its own pass is not counted";
    case AccessCure::wide: return sectors + ", " + count_told(cure.count.lookups) + " lookups of lines";
    default: return sectors;
  }
}

/// A row of the sweep: a pattern, counted.
struct SweptAccess {
  std::int64_t step;
  AccessCount count;
};

/// Other steps between threads, the asked one among them; of random accesses other sizes of a record.
std::vector<SweptAccess> access_sweep(const AccessPattern& asked, const AccessUnit& unit) {
  const bool random = asked.layout == AccessLayout::random;
  AccessPattern p = asked;
  p.fields = 1;
  std::vector<std::int64_t> steps;
  if (random) {
    p.element = std::min<std::int64_t>(asked.element, 4);
    p.element = load_width(p.element);
    steps = {4, 8, 16, 32, 64, 128, asked.element * asked.fields};
  } else {
    p.layout = AccessLayout::linear;
    steps = {1, 2, 4, 8, 16, 32};
    for (std::int64_t& step : steps) {
      step *= p.element;
    }
    steps.push_back(asked.layout == AccessLayout::rows ? p.element : step_of(asked, unit));
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<SweptAccess> rows;
  for (const std::int64_t step : steps) {
    if (step % p.element != 0) {
      continue;
    }
    (random ? p.fields : p.stride) = step / p.element;
    rows.push_back({step, count_access(p, unit)});
  }
  return rows;
}

double swept_efficiency(const AccessPattern& asked, const SweptAccess& row, const AccessUnit& unit) {
  // A record's later fields find its sectors in the first cache.
  return asked.layout == AccessLayout::random ? cached_efficiency(row.count, unit) : sector_efficiency(row.count, unit);
}

LabChart access_chart(const AccessAsked& q,
                      const std::vector<SweptAccess>& swept,
                      const AccessCount& count,
                      const std::vector<CuredAccess>& cures,
                      const AccessUnit& unit) {
  const bool random = q.pattern.layout == AccessLayout::random;
  LabChart chart{"What of the fetched sectors is used",
                 {random ? "bytes of a record" : "bytes between neighbouring threads", Hint::bytes, true},
                 {"used over fetched", Hint::percent, false}};
  LabLine law{"by " + std::string{random ? "size of a record" : "step"}, LineStyle::solid, {}};
  std::vector<SweptAccess> drawn = swept;
  for (std::int64_t stride = 1; !random && stride <= 32; ++stride) {
    AccessPattern p;
    p.element = q.pattern.element;
    p.offset = q.pattern.offset;
    p.stride = stride;
    drawn.push_back({stride * p.element, count_access(p, unit)});
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const SweptAccess& x, const SweptAccess& y) { return x.step < y.step; });
  for (const SweptAccess& row : drawn) {
    law.points.push_back({static_cast<double>(row.step), swept_efficiency(q.pattern, row, unit), {}});
  }
  const auto at = [&](const AccessPattern& p) {
    return static_cast<double>(p.layout == AccessLayout::random ? p.element * p.fields : step_of(p, unit));
  };
  LabLine now{"this access", LineStyle::points, {{at(q.pattern), sector_efficiency(count, unit), q.layout}}};
  LabLine after{"after a cure", LineStyle::points, {}};
  for (const CuredAccess& cure : cures) {
    after.points.push_back({at(cure.pattern), sector_efficiency(cure.count, unit), cured_change(cure)});
  }
  chart.lines = {std::move(law), std::move(now)};
  if (!after.points.empty()) {
    chart.lines.push_back(std::move(after));
  }
  chart.marks = {{static_cast<double>(unit.sector), "a sector"}};
  return chart;
}

/// When the part of the sectors that a load leaves is used after all.
std::string reuse_note(const AccessAsked& q, const AccessCount& count, const AccessUnit& unit, const Device* device) {
  const AccessPattern& p = q.pattern;
  if (p.layout == AccessLayout::columns) {
    const std::int64_t served = std::max<std::int64_t>(unit.sector / p.element, 1);
    std::string note = "The rest of each sector serves the next " + counted(served - 1, "column") +
                       ", where a column's sectors stay in a cache until they are read";
    if (device != nullptr && device->memory.l2) {
      note += ": up to " + format_count(std::floor(device->memory.l2->value.raw() / static_cast<double>(unit.sector))) +
              " rows in L2";
    }
    return note + ".";
  }
  if (count.stream_sectors >= 0.999 * count.sectors) {
    return "";
  }
  if (p.fields > 1 || p.element != load_width(p.element)) {
    return "Later loads of a warp use the rest of its sectors: " + percent(cached_efficiency(count, unit)) +
           " of what is fetched, where the first cache keeps " +
           format(count.warp_sectors * Bytes{static_cast<double>(unit.sector)}) + " for each resident warp.";
  }
  return "Neighbouring warps share the sectors at their ends; where the first cache or L2 keeps them, " +
         percent(cached_efficiency(count, unit)) +
         " of what is fetched is used (NVIDIA measures nine tenths of the aligned bandwidth, CUDA C++ Best Practices "
         "Guide, effects of misaligned accesses).";
}

LabAnswer answer_access(const AccessAsked& q, const LabBench& bench) {
  const AccessPattern& p = q.pattern;
  const ServedBy served = served_by(bench);
  const AccessUnit& unit = served.unit;
  const Device* const device = bench.device;
  AccessRates rates{BytesPerSecond{1e12}, 1e12, Hertz{1e9}};  // without a SKU: bytes alone, the lookups of no weight
  std::optional<MemoryRates> memory;
  if (device != nullptr) {
    const UnitClock clock = unit_clock(*device);
    memory = memory_rates(bench);
    rates = {memory->memory, clock.units, clock.clock};
  }
  const AccessCount count = count_access(p, unit);
  const double efficiency = sector_efficiency(count, unit);
  bool cached = false;
  if (served.first_cache && count.instructions > 1.0 && device->memory.max_warps_per_unit) {
    const auto warps = static_cast<double>(device->memory.max_warps_per_unit->value);
    cached = first_cache_holds(count, warps, *served.first_cache, unit);
  }
  const std::vector<CuredAccess> cures = access_cures(p, unit, rates, cached);

  LabAnswer a;
  a.title = "elements of " + std::to_string(p.element) + " B, " + q.layout +
            (p.stride > 1 ? ", stride " + format_count(static_cast<double>(p.stride)) : "") +
            (p.offset > 0 ? ", offset " + std::to_string(p.offset) + " B" : "") +
            (p.fields > 1 ? ", " + std::to_string(p.fields) + " fields" : "") +
            (device != nullptr ? ", on " + device->id : "");
  a.question = {{"layout", q.layout},
                {"element_bytes", Bytes{static_cast<double>(p.element)}},
                {"stride", p.stride},
                {"offset_bytes", Bytes{static_cast<double>(p.offset)}},
                {"fields", p.fields}};
  const std::string loads = count.instructions > 1.0 ? count_told(count.instructions) + " loads" : "load";
  a.verdict = "A warp's " + loads + (count.instructions > 1.0 ? " fetch " : " fetches ") + count_told(count.sectors) +
              " sectors of " + std::to_string(unit.sector) + " B where " + count_told(count.least_sectors) +
              " would do: " + percent(efficiency) + " of what is fetched is used" +
              (cached ? ", and with what the first cache keeps for later loads " +
                            percent(cached_efficiency(count, unit)) + " of what memory sends"
                      : "") +
              ".";
  const Bytes sector{static_cast<double>(unit.sector)};
  a.figures = {{"sectors a warp", "sectors", access_count(count.sectors)},
               {"least possible", "least_sectors", access_count(count.least_sectors)},
               {"sectors a load", "sectors_per_load", access_count(count.sectors / count.instructions)},
               {"bytes fetched", "fetched_bytes", count.sectors * sector},
               {"bytes used", "used_bytes", count.used},
               {"used of fetched", "efficiency", share(efficiency)},
               {"the same, caches keeping the rest", "cached_efficiency", share(cached_efficiency(count, unit))},
               {"lookups of lines", "line_lookups", access_count(count.lookups)}};
  if (device != nullptr) {
    const AccessTime time = access_time(count, 1.0, unit, rates);
    const Seconds headline = time.total(cached);
    a.figures.push_back({"memory sustains", "sustained_bytes_per_s", memory->memory});
    a.figures.push_back({"of which useful", "effective_bytes_per_s", count.used / time.total(false)});
    a.figures.push_back({"useful, caches keeping the rest", "cached_bytes_per_s", count.used / time.total(true)});
    a.figures.push_back({"bound by", "bound", std::string{headline > time.lookups ? "memory" : "lookups of lines"}});
    if (q.needed) {
      const AccessTime whole = access_time(count, *q.needed / count.used, unit, rates);
      a.figures.push_back({"needed", "needed_bytes", *q.needed});
      a.figures.push_back({"time", "time_s", whole.total(false)});
      a.figures.push_back({"time, caches keeping the rest", "cached_time_s", whole.total(true)});
      a.figures.push_back({"lookups of the first caches", "lookups_s", whole.lookups});
    }
  }
  const std::vector<SweptAccess> swept = access_sweep(p, unit);
  const bool random = p.layout == AccessLayout::random;
  LabTable table{random ? "records" : "steps",
                 {{random ? "record" : "step", random ? "record_bytes" : "step_bytes"},
                  {"sectors", "sectors"},
                  {"used", "efficiency"}},
                 {}};
  if (device != nullptr) {
    table.columns.push_back({"useful", "effective_bytes_per_s"});
  }
  for (const SweptAccess& row : swept) {
    const double used = swept_efficiency(p, row, unit);
    std::vector<Value> cells{Bytes{static_cast<double>(row.step)},
                             access_count(random ? row.count.warp_sectors : row.count.sectors), share(used)};
    if (device != nullptr) {
      cells.emplace_back(row.count.used / access_time(row.count, 1.0, unit, rates).total(random));
    }
    table.rows.push_back(std::move(cells));
  }
  a.tables.push_back(std::move(table));
  for (const CuredAccess& cure : cures) {
    a.cures.push_back({cured_change(cure), cure.ratio, cured_because(cure, unit)});
  }
  if (const std::string note = reuse_note(q, count, unit, device); !note.empty()) {
    a.notes.push_back(note);
  }
  if (random) {
    a.notes.emplace_back(
        "Every thread is taken to read a sector of its own: a bound that short lists, hot records and sorted indices "
        "stay above. Lists of unequal length part the warp as well: 'headroom kernel diverge'.");
  }
  if (cached) {
    a.notes.emplace_back(
        "Cures are priced with what later loads find in the first cache, which holds the sectors of all resident "
        "warps.");
  } else if (!cures.empty()) {
    a.notes.emplace_back("Cures are priced as if no cache kept the rest of a sector.");
  }
  if (memory) {
    a.notes.push_back(memory->why);
  }
  a.sources = {served.source};
  if (device != nullptr) {
    a.sources.push_back(
        "One lookup of a line a clock and SM, as the first cache of NVIDIA's Volta serves 128 B a clock: Jia et al. "
        "2018, Dissecting the NVIDIA Volta GPU architecture via microbenchmarking, chapter 3; bandwidth, SMs and clock "
        "of the catalog, 'headroom catalog show " +
        device->id + "'");
  }
  a.chart = access_chart(q, swept, count, cures, unit);
  return a;
}

LabQuestion read_access(FormReader& in) {
  return [q = read_access_numbers(in)](const LabBench& bench) { return answer_access(q, bench); };
}

}  // namespace

const KernelForm access_form{"access", "a layout, a stride or an offset; --gpu for times", GpuUse::optional,
                             read_access};

}  // namespace headroom::cli
