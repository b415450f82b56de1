// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/access.hpp>

#include <algorithm>
#include <numeric>

namespace headroom {
namespace {

constexpr std::int64_t widest_load = 16;

/// Distinct values of a list, which is used up.
double distinct(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<double>(std::unique(values.begin(), values.end()) - values.begin());
}

/// Where field `field` of a thread's record stands, less the thread's own step. Arrays stand far apart.
std::int64_t field_base(const AccessPattern& p, std::int64_t field) {
  constexpr std::int64_t apart = std::int64_t{1} << 40U;
  return p.layout == AccessLayout::arrays ? field * apart : field * p.element;
}

/// The addresses of one load of a warp, lane by lane.
class Load {
 public:
  Load(const AccessPattern& pattern, const AccessUnit& unit, std::int64_t warp, std::int64_t field, std::int64_t piece)
      : step_{step_of(pattern, unit)},
        first_{pattern.offset + warp * unit.lanes * step_ + field_base(pattern, field) +
               piece * load_width(pattern.element)} {}

  [[nodiscard]] std::int64_t operator()(std::int64_t lane) const { return first_ + lane * step_; }

 private:
  std::int64_t step_, first_;
};

/// Calls `each` with every load of a warp.
template <class Each>
void for_loads(const AccessPattern& p, const AccessUnit& unit, std::int64_t warp, Each each) {
  const std::int64_t pieces = p.element / load_width(p.element);
  for (std::int64_t field = 0; field < p.fields; ++field) {
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      each(Load{p, unit, warp, field, piece});
    }
  }
}

std::int64_t lanes_at_once(std::int64_t width, const AccessUnit& unit) {
  return std::clamp<std::int64_t>(unit.line / width, 1, unit.lanes);
}

/// Distinct sectors of so many warps, one after another.
double sectors_of_warps(const AccessPattern& p, const AccessUnit& unit, std::int64_t warps) {
  std::vector<std::int64_t> touched;
  for (std::int64_t warp = 0; warp < warps; ++warp) {
    for_loads(p, unit, warp, [&](const Load& load) {
      for (std::int64_t lane = 0; lane < unit.lanes; ++lane) {
        touched.push_back(load(lane) / unit.sector);
      }
    });
  }
  return distinct(touched);
}

double pieces_in(std::int64_t first, std::int64_t bytes, std::int64_t size) {
  return static_cast<double>((first + bytes - 1) / size - first / size + 1);
}

/// Rows of a matrix, each begun by a warp of its own. Lanes behind a row's end rest. The mean over warps, of rows of
/// every alignment.
AccessCount count_rows(const AccessPattern& p, const AccessUnit& unit) {
  const std::int64_t pitch = std::max(p.pitch, p.extent) * p.element;
  const std::int64_t different = unit.line / std::gcd(pitch, unit.line);
  const std::int64_t warps = (p.extent + unit.lanes - 1) / unit.lanes;
  const std::int64_t width = load_width(p.element);
  const std::int64_t at_once = lanes_at_once(width, unit);
  AccessCount sum;
  for (std::int64_t r = 0; r < different; ++r) {
    const std::int64_t begin = p.offset + r * pitch;
    const std::int64_t end = begin + p.extent * p.element;
    for (std::int64_t lane = 0; lane < p.extent; lane += unit.lanes) {
      const std::int64_t active = std::min(unit.lanes, p.extent - lane);
      const std::int64_t first = begin + lane * p.element;
      // Neighbouring lanes stand nearer than a sector is long: a load touches all sectors between its ends.
      for (std::int64_t piece = 0; piece < p.element; piece += width) {
        sum.sectors += pieces_in(first + piece, (active - 1) * p.element + width, unit.sector);
        for (std::int64_t group = 0; group < active; group += at_once) {
          const std::int64_t lanes = std::min(at_once, active - group);
          sum.lookups += pieces_in(first + piece + group * p.element, (lanes - 1) * p.element + width, unit.line);
        }
      }
      sum.warp_sectors += pieces_in(first, active * p.element, unit.sector);
      sum.least_sectors += pieces_in(0, active * p.element, unit.sector);
    }
    // The row before has fetched the sector that it shares with this one.
    const std::int64_t before = (begin - pitch + p.extent * p.element - 1 + unit.line) / unit.sector;
    const std::int64_t from = std::max((begin + unit.line) / unit.sector, before + 1);
    sum.stream_sectors += static_cast<double>((end - 1 + unit.line) / unit.sector - from + 1);
  }
  const auto count = static_cast<double>(different * warps);
  return {static_cast<double>(p.element / width),
          sum.sectors / count,
          sum.warp_sectors / count,
          sum.stream_sectors / count,
          sum.lookups / count,
          sum.least_sectors / count,
          Bytes{static_cast<double>(different * p.extent * p.element) / count}};
}

}  // namespace

std::int64_t load_width(std::int64_t element) noexcept {
  return std::min(element & -element, widest_load);
}

std::int64_t step_of(const AccessPattern& p, const AccessUnit& unit) noexcept {
  switch (p.layout) {
    case AccessLayout::linear: return p.stride * p.element;
    case AccessLayout::structures:
    case AccessLayout::columns: return p.extent * p.element;
    case AccessLayout::random: {
      // Whole lines apart, and as many that no record reaches its neighbour's.
      const std::int64_t lines = (p.fields * p.element + p.offset) / unit.line + 1;
      return (lines + 1) * unit.line;
    }
    case AccessLayout::arrays:
    case AccessLayout::rows: break;
  }
  return p.element;
}

AccessCount count_access(const AccessPattern& p, const AccessUnit& unit) {
  if (p.layout == AccessLayout::rows) {
    return count_rows(p, unit);
  }
  AccessCount count;
  const std::int64_t at_once = lanes_at_once(load_width(p.element), unit);
  std::vector<std::int64_t> sectors;
  std::vector<std::int64_t> lines;
  // Warps may begin at different places of a sector or line: all that differ are counted.
  const std::int64_t between = unit.lanes * step_of(p, unit);
  const std::int64_t different = unit.line / std::gcd(between, unit.line);
  for (std::int64_t warp = 0; warp < different; ++warp) {
    for_loads(p, unit, warp, [&](const Load& load) {
      count.instructions += 1.0;
      sectors.clear();
      for (std::int64_t group = 0; group < unit.lanes; group += at_once) {
        lines.clear();
        for (std::int64_t lane = group; lane < std::min(group + at_once, unit.lanes); ++lane) {
          sectors.push_back(load(lane) / unit.sector);
          lines.push_back(load(lane) / unit.line);
        }
        count.lookups += distinct(lines);
      }
      count.sectors += distinct(sectors);
    });
    count.warp_sectors +=
        sectors_of_warps({p.layout, p.element, p.stride, p.offset + warp * between, p.extent, p.fields}, unit, 1);
  }
  const auto warps = static_cast<double>(different);
  count.instructions /= warps;
  count.lookups /= warps;
  count.sectors /= warps;
  count.warp_sectors /= warps;
  // Behind the first warps, every period of warps touches as many new sectors as the one before.
  count.stream_sectors = (sectors_of_warps(p, unit, 2 * different) - sectors_of_warps(p, unit, different)) / warps;
  const std::int64_t used = unit.lanes * p.element * p.fields;
  count.used = Bytes{static_cast<double>(used)};
  count.least_sectors = static_cast<double>((used + unit.sector - 1) / unit.sector);
  return count;
}

double sector_efficiency(const AccessCount& count, const AccessUnit& unit) noexcept {
  return count.used.raw() / (count.sectors * static_cast<double>(unit.sector));
}

double cached_efficiency(const AccessCount& count, const AccessUnit& unit) noexcept {
  return count.used.raw() / (count.stream_sectors * static_cast<double>(unit.sector));
}

Seconds AccessTime::total(bool cached) const noexcept {
  return std::max(cached ? cached_memory : memory, lookups);
}

AccessTime access_time(const AccessCount& count,
                       double warps,
                       const AccessUnit& unit,
                       const AccessRates& rates) noexcept {
  const Bytes sector{static_cast<double>(unit.sector)};
  return {warps * count.sectors * sector / rates.memory, warps * count.stream_sectors * sector / rates.memory,
          Seconds{warps * count.lookups / (rates.units * rates.clock.raw())}};
}

std::vector<CuredAccess> access_cures(const AccessPattern& p,
                                      const AccessUnit& unit,
                                      const AccessRates& rates,
                                      bool cached) {
  const AccessCount now = count_access(p, unit);
  const Seconds before = access_time(now, 1.0, unit, rates).total(cached);
  std::vector<CuredAccess> cures;
  const auto consider = [&](AccessCure cure, const AccessPattern& after) {
    constexpr double least_gain = 0.999;
    const AccessCount count = count_access(after, unit);
    const double ratio = access_time(count, now.used / count.used, unit, rates).total(cached) / before;
    if (ratio < least_gain) {
      cures.push_back({cure, after, count, ratio});
    }
  };
  AccessPattern packed;
  packed.layout = AccessLayout::arrays;
  packed.element = p.element;
  packed.fields = p.fields;
  switch (p.layout) {
    case AccessLayout::linear:
    case AccessLayout::structures:
      if (step_of(p, unit) > p.element) {
        consider(AccessCure::arrays, packed);
      }
      break;
    case AccessLayout::columns: consider(AccessCure::staged, packed); break;
    case AccessLayout::random: consider(AccessCure::sorted, packed); break;
    case AccessLayout::arrays:
    case AccessLayout::rows: break;
  }
  const std::int64_t record = p.fields * p.element;
  const bool record_is_one = p.layout == AccessLayout::structures || p.layout == AccessLayout::random;
  if (record_is_one && p.element < widest_load && record % widest_load == 0 && p.offset % widest_load == 0 &&
      step_of(p, unit) % widest_load == 0) {
    AccessPattern wide = p;
    wide.element = widest_load;
    wide.fields = record / widest_load;
    wide.extent = p.extent * p.element / widest_load;
    consider(AccessCure::wide, wide);
  }
  if (p.layout == AccessLayout::rows) {
    const std::int64_t whole = unit.sector / std::gcd(p.element, unit.sector);
    AccessPattern padded = p;
    padded.offset = 0;
    padded.pitch = (p.extent + whole - 1) / whole * whole;
    consider(AccessCure::padded, padded);
  } else if (p.offset % unit.sector != 0) {
    AccessPattern aligned = p;
    aligned.offset = 0;
    consider(AccessCure::aligned, aligned);
  }
  return cures;
}

bool first_cache_holds(const AccessCount& count, double resident_warps, Bytes cache, const AccessUnit& unit) noexcept {
  return resident_warps * count.warp_sectors * static_cast<double>(unit.sector) <= cache.raw();
}

}  // namespace headroom
