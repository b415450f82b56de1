// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/unit_comparison.hpp>
#include <headroom/calibrate/measure/unit_laws.hpp>
#include <headroom/model/laboratory/banks.hpp>

#include <algorithm>
#include <limits>

namespace headroom {
namespace {

/// Width for comparisons: all CTAs that an SM holds are more than any stated number of them.
std::int64_t order_of(const UnitProbe& p) {
  return p.op == UnitOp::occupancy && p.width == 0 ? std::numeric_limits<std::int64_t>::max() : p.width;
}

/// The timings of one op with the least and the greatest width.
struct Ends {
  const UnitTiming *least = nullptr, *most = nullptr;
};

Ends ends_of(std::span<const UnitTiming> timings, UnitOp op) {
  Ends ends;
  for (const UnitTiming& timing : timings) {
    if (timing.probe.op != op) {
      continue;
    }
    if (ends.least == nullptr || order_of(timing.probe) < order_of(ends.least->probe)) {
      ends.least = &timing;
    }
    if (ends.most == nullptr || order_of(timing.probe) > order_of(ends.most->probe)) {
      ends.most = &timing;
    }
  }
  return ends;
}

double over(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

class Comparer {
 public:
  explicit Comparer(std::span<const UnitTiming> timings) : timings_{timings} {}

  [[nodiscard]] UnitComparison compared(const UnitTiming& timing) const {
    UnitComparison result{timing, std::nullopt, {}};
    const UnitProbe& p = timing.probe;
    switch (p.op) {
      case UnitOp::stride:
      case UnitOp::offset:
      case UnitOp::random: sectors(result); break;
      case UnitOp::banks:
        from_one(result, static_cast<double>(conflict_degree(p.width, AccessUnit{}.banks)),
                 counted(conflict_degree(p.width, AccessUnit{}.banks), "word") + " in a bank");
        break;
      case UnitOp::diverge:
        from_one(result, static_cast<double>(p.width), counted(p.width, "path") + " one after another");
        break;
      case UnitOp::occupancy: shared_out(result, "loads of " + counted(p.width, "CTA") + " in flight"); break;
      case UnitOp::atomics: shared_out(result, "updates shared by " + counted(p.width, "counter")); break;
      case UnitOp::grid_sync: line(result); break;
    }
    return result;
  }

 private:
  [[nodiscard]] bool is_end(const UnitComparison& c, const UnitTiming* end) const {
    return end == nullptr || end->probe.width == c.measured.probe.width;
  }

  void sectors(UnitComparison& c) const {
    const UnitTiming* plain = ends_of(timings_, UnitOp::stride).least;
    const UnitProbe& p = c.measured.probe;
    if (plain == nullptr || plain->probe.width != 1 || (p.op == UnitOp::stride && p.width == 1)) {
      return;
    }
    const std::int64_t warp = p.op == UnitOp::random   ? warp_lanes
                              : p.op == UnitOp::stride ? sectors_of_warp(p.width)
                                                       : sectors_of_warp(1);
    const double more = over(warp * p.count, sectors_of_warp(1) * plain->probe.count);
    c.formula = more * plain->time;
    c.law = p.op == UnitOp::offset ? counted(sectors_of_warp(1, p.width), "sector") + " a warp, one its neighbour's"
                                   : counted(warp, "sector") + " a warp";
  }

  void from_one(UnitComparison& c, double times, std::string law) const {
    const UnitTiming* one = ends_of(timings_, c.measured.probe.op).least;
    if (one != nullptr && one->probe.width == 1 && c.measured.probe.width != 1) {
      c.formula = times * over(c.measured.probe.count, one->probe.count) * one->time;
      c.law = std::move(law);
    }
  }

  void shared_out(UnitComparison& c, std::string law) const {
    const Ends ends = ends_of(timings_, c.measured.probe.op);
    if (is_end(c, ends.least) || is_end(c, ends.most) || ends.least->probe.width != 1) {
      return;
    }
    const Seconds shared = ends.least->time / static_cast<double>(c.measured.probe.width);
    c.formula = std::max(shared, ends.most->time);
    c.law = shared > ends.most->time ? std::move(law) : "no faster than the most";
  }

  void line(UnitComparison& c) const {
    const Ends ends = ends_of(timings_, UnitOp::grid_sync);
    if (is_end(c, ends.least) || is_end(c, ends.most)) {
      return;
    }
    const std::int64_t from = ends.least->probe.width;
    const Seconds each = (ends.most->time - ends.least->time) / static_cast<double>(ends.most->probe.width - from);
    c.formula = grid_sync_time(ends.least->time, each, static_cast<double>(c.measured.probe.width - from + 1));
    c.law = "every CTA counts itself";
  }

  std::span<const UnitTiming> timings_;
};

}  // namespace

std::vector<UnitComparison> compared_with_laws(std::span<const UnitTiming> timings) {
  const Comparer comparer{timings};
  std::vector<UnitComparison> comparisons;
  comparisons.reserve(timings.size());
  for (const UnitTiming& timing : timings) {
    comparisons.push_back(comparer.compared(timing));
  }
  return comparisons;
}

}  // namespace headroom
