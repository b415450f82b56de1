// SPDX-License-Identifier: Apache-2.0
// `headroom kernel reuse`: which level of the memories serves a working set that is read again and again.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/memory_bench.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/laboratory/banks.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::cli {
namespace {

struct ReuseAsked {
  Bytes set{1.0};
  double passes = 10.0;
};

/// The levels of a SKU from the nearest to the farthest, with their names.
struct ReuseLevels {
  std::vector<MemoryLevel> sizes;
  std::vector<std::string> names;
  std::vector<std::string> marks;  ///< short names, for drawings
  std::vector<std::string> notes;

  [[nodiscard]] std::size_t holding(Bytes set) const {
    const MemoryLevel& level = level_of(set, sizes);
    return static_cast<std::size_t>(&level - sizes.data());
  }
  /// Without the host's memory, which a set that fits never needs.
  [[nodiscard]] std::span<const MemoryLevel> used_by(Bytes set) const {
    const std::size_t device = device_levels;
    return std::span{sizes}.first(set <= sizes[device - 1].capacity ? device : sizes.size());
  }
  std::size_t device_levels = 0;  ///< those on the device
};

ReuseLevels reuse_levels(const LabBench& bench) {
  const Device& device = *bench.device;
  const ServedBy served = served_by(bench);
  const UnitClock clock = unit_clock(device);
  const MemoryRates memory = memory_rates(bench);
  const L2Rate l2 = l2_rate(bench, *find_gemm_format(name_of(sixteen_bit_rate(device))));
  ReuseLevels levels;
  const auto add = [&](std::string name, std::string_view mark, Bytes capacity, BytesPerSecond rate) {
    // A level that is no larger or no faster than the next would serve nothing.
    if (levels.sizes.empty() || (capacity > levels.sizes.back().capacity && rate < levels.sizes.back().rate)) {
      levels.sizes.push_back({capacity, rate});
      levels.names.push_back(std::move(name));
      levels.marks.emplace_back(mark);
    }
  };
  if (device.memory.shared_per_unit) {
    add(std::string{served.local_level}, served.local_mark, clock.units * device.memory.shared_per_unit->value,
        shared_bandwidth(clock.units, clock.clock, served.unit));
    levels.notes.push_back("The first level counts with all " + format_count(clock.units) +
                           " SMs, each of which reads its own part of the set again; what every SM reads fits there "
                           "up to " +
                           format(device.memory.shared_per_unit->value) + ".");
  }
  if (device.memory.l2) {
    add(std::string{served.last_cache}, served.last_cache, device.memory.l2->value, l2.rate);
    levels.notes.push_back("L2 carries " + format(l2.rate) + ": " + l2.why + ".");
  }
  add("memory", "memory", device.capacity().value, memory.memory);
  levels.notes.push_back(memory.why);
  levels.device_levels = levels.sizes.size();
  if (device.pcie.rate) {
    add("the host over PCIe", "host", Bytes{1e18}, device.pcie.rate->value);
  }
  return levels;
}

std::vector<double> reuse_sets(const ReuseLevels& levels, Bytes asked) {
  std::vector<double> sets{asked.raw()};
  for (std::size_t i = 0; i < levels.device_levels; ++i) {
    for (const double part : {0.5, 1.0, 1.05, 1.5}) {
      sets.push_back(part * levels.sizes[i].capacity.raw());
    }
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  const bool has_host = levels.sizes.size() > levels.device_levels;
  const double most = has_host ? 1e18 : levels.sizes.back().capacity.raw();
  std::erase_if(sets, [&](double set) { return set > most; });
  return sets;
}

LabChart reuse_chart(const ReuseLevels& levels, const ReuseAsked& q) {
  LabChart chart{"Time of a further pass over a working set",
                 {"working set", Hint::bytes, true},
                 {"time of a pass", Hint::seconds, true}};
  LabLine none{"least recently used leaves", LineStyle::solid, {}};
  LabLine part{"a part stays", LineStyle::dashed, {}};
  const double low = std::log(std::min(q.set.raw(), levels.sizes.front().capacity.raw()) / 8.0);
  const double high = std::log(
      std::max(q.set.raw(), levels.sizes[levels.device_levels > 1 ? levels.device_levels - 2 : 0].capacity.raw()) *
      8.0);
  constexpr int points = 160;
  for (int i = 0; i <= points; ++i) {
    const Bytes set{std::exp(low + (high - low) * i / points)};
    const std::span<const MemoryLevel> used = levels.used_by(set);
    none.points.push_back({set.raw(), pass_time(set, used, Kept::none).raw(), {}});
    part.points.push_back({set.raw(), pass_time(set, used, Kept::part).raw(), {}});
  }
  chart.lines = {std::move(none),
                 std::move(part),
                 {"this set",
                  LineStyle::points,
                  {{q.set.raw(), pass_time(q.set, levels.used_by(q.set), Kept::none).raw(), format(q.set)}}}};
  for (std::size_t i = 0; i < levels.device_levels; ++i) {
    chart.marks.push_back({levels.sizes[i].capacity.raw(), levels.marks[i]});
  }
  return chart;
}

LabAnswer answer_reuse(const ReuseAsked& q, const LabBench& bench) {
  const Device& device = *bench.device;
  const ReuseLevels levels = reuse_levels(bench);
  const std::span<const MemoryLevel> used = levels.used_by(q.set);
  if (q.set > levels.sizes.back().capacity) {
    throw ConfigError{"--working-set " + format(q.set) + " is larger than the memory of " + device.id + ", " +
                      format(levels.sizes.back().capacity) +
                      ", and the catalog has no rate of its link to the host, pcie.rate; give a smaller set"};
  }
  const std::size_t level = levels.holding(q.set);
  const FlopsPerSecond no_work{1.0};
  const auto all = [&](Kept kept) { return hierarchical_time(Flops{}, q.set, q.passes, no_work, used, kept); };
  const Seconds time = all(Kept::none);
  const Seconds again = pass_time(q.set, used, Kept::none);
  LabAnswer a;
  a.title = format(q.set) + " read " + counted(static_cast<std::int64_t>(q.passes), "time") + ", on " + device.id;
  a.question = {{"working_set_bytes", q.set}, {"passes", static_cast<std::int64_t>(q.passes)}};
  a.verdict = "The set is reused from " + levels.names[level] + ", at " + format(levels.sizes[level].rate) + ": " +
              counted(static_cast<std::int64_t>(q.passes), "pass", "passes") + " take " +
              (q.passes == 1.0 ? "one read of memory, " : "") + format(time) + ".";
  if (q.passes == 1.0) {
    a.verdict = "The set is read once, from " + levels.names[used.size() - 1] + ", which takes " + format(time) +
                "; a further pass would be served by " + levels.names[level] + ".";
  }
  a.figures = {{"reused from", "level", levels.names[level]},
               {"its rate", "level_bytes_per_s", levels.sizes[level].rate},
               {"its size", "capacity_bytes", levels.sizes[level].capacity},
               {"first pass", "first_pass_s", q.set / used.back().rate},
               {"each further pass", "pass_s", again},
               {"time", "time_s", time},
               {"the same, a part stays", "part_kept_s", all(Kept::part)},
               {"all from memory", "memory_s", q.passes * (q.set / used.back().rate)}};
  if (level + 1 == levels.sizes.size() && levels.sizes.size() > levels.device_levels) {
    a.figures[2].value = Value{};
    a.figures[2].text = "without bound";
  }
  LabTable ladder{"levels",
                  {{"level", "level"},
                   {"size", "capacity_bytes"},
                   {"rate", "bytes_per_s"},
                   {"against the next", "rate_ratio"},
                   {"ridge", "ridge_flop_per_byte"}},
                  {}};
  std::optional<FlopsPerSecond> peak;
  for (const Rate rate : {Rate::bf16, Rate::fp16, Rate::fp32_vector}) {
    if (!peak && device.peak[static_cast<std::size_t>(rate)]) {
      peak = device.peak[static_cast<std::size_t>(rate)]->value;
    }
  }
  for (std::size_t i = 0; i < levels.sizes.size(); ++i) {
    const bool host = i >= levels.device_levels;
    const bool last = i + 1 == levels.sizes.size();
    ladder.rows.push_back({levels.names[i], host ? Value{nullptr} : Value{levels.sizes[i].capacity},
                           levels.sizes[i].rate,
                           last ? Value{nullptr} : Value{levels.sizes[i].rate / levels.sizes[i + 1].rate},
                           peak ? Value{*peak / levels.sizes[i].rate} : Value{nullptr}});
  }
  a.tables.push_back(std::move(ladder));
  LabTable sets{"working_sets",
                {{"working set", "working_set_bytes"},
                 {"<reused from", "level"},
                 {"a pass", "pass_s"},
                 {"a part stays", "part_kept_pass_s"},
                 {"time", "time_s"}},
                {}};
  for (const double raw : reuse_sets(levels, q.set)) {
    const Bytes set{raw};
    const std::span<const MemoryLevel> served = levels.used_by(set);
    sets.rows.push_back({set, levels.names[levels.holding(set)], pass_time(set, served, Kept::none),
                         pass_time(set, served, Kept::part),
                         hierarchical_time(Flops{}, set, q.passes, no_work, served, Kept::none)});
  }
  a.tables.push_back(std::move(sets));
  // A block of the set is read as often as needed before the next one is.
  if (level > 0 && q.passes > 1.0) {
    const Seconds first = q.set / used.back().rate;
    for (std::size_t nearer = level; nearer-- > 0;) {
      const Seconds blocked = first + (q.passes - 1.0) * (q.set / levels.sizes[nearer].rate);
      a.cures.push_back({"blocks of at most " + format(levels.sizes[nearer].capacity) + ", each read " +
                             counted(static_cast<std::int64_t>(q.passes), "time") + " before the next",
                         blocked / time, "its further passes come from " + levels.names[nearer]});
    }
    const double kept = all(Kept::part) / time;
    if (kept < 0.999) {
      a.cures.push_back(
          {"keep a part: pin it in L2 (access policy window), or turn round the order of every other pass", kept,
           format(levels.sizes[level - 1].capacity) + " of it need not be fetched again"});
    }
  }
  if (q.passes > 1.0) {
    a.cures.push_back({"all passes in one kernel that reads each element once",
                       1.0 / q.passes * (q.passes * (q.set / used.back().rate) / time),
                       "one read from " + levels.names[used.size() - 1] +
                           ", where the passes do not need each other's results of all elements"});
  }
  const Bytes half = 0.5 * q.set;
  const Seconds halved = hierarchical_time(Flops{}, half, q.passes, no_work, levels.used_by(half), Kept::none);
  a.cures.push_back({"elements of half the bits", halved / time,
                     format(half) + ", reused from " + levels.names[levels.holding(half)]});
  std::stable_sort(a.cures.begin(), a.cures.end(),
                   [](const LabCure& x, const LabCure& y) { return x.time_ratio < y.time_ratio; });
  a.notes = levels.notes;
  a.notes.emplace_back(
      "A set that a level does not hold whole is taken to leave it before its turn comes again, as least recently used "
      "lines do in a pass of one order; 'a part stays' is the other end.");
  a.sources = {
      "Ilic et al. 2014, cache-aware roofline model: the roof of the level that serves; Denning 1968, thrashing; "
      "sizes of the catalog, 'headroom catalog show " +
      device.id + "'"};
  a.chart = reuse_chart(levels, q);
  return a;
}

LabQuestion read_reuse(FormReader& in) {
  ReuseAsked q;
  q.set = in.quantity<Bytes>("--working-set");
  q.passes = in.size_or("--passes", 10.0);
  if (q.set > Bytes{1e18}) {
    in.problem("--working-set " + quoted(in.text("--working-set")) + " must be at most 1 EB");
  }
  return [q](const LabBench& bench) { return answer_reuse(q, bench); };
}

}  // namespace

const KernelForm reuse_form{"reuse", "bytes that are read again", GpuUse::needed, read_reuse};

}  // namespace headroom::cli
