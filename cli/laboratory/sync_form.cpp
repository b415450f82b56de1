// SPDX-License-Identifier: Apache-2.0
// `headroom kernel sync`: steps that wait for one another, as launches, as a graph, as one kernel with barriers across
// its grid; and a sum over a block by shuffles or through shared memory.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/launch_options.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/laboratory/block_reduction.hpp>
#include <headroom/model/laboratory/occupancy.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>

namespace headroom::cli {
namespace {

struct SyncAsked {
  double iterations = 1.0;
  double blocks = 0.0;  ///< 0: one for each SM
  double threads = 256.0;
  std::optional<Seconds> step;
  std::optional<Bytes> bytes;
  LaunchAsked launch;
};

SyncAsked read_asked_sync(FormReader& in) {
  SyncAsked q;
  q.iterations = in.size("--iterations");
  q.blocks = in.given("--blocks") ? in.size("--blocks") : 0.0;
  q.threads = in.size_or("--threads", 256.0);
  q.step = in.given("--time") ? std::optional{in.quantity_or<Seconds>("--time", Seconds{})} : std::nullopt;
  q.bytes = in.quantity_if<Bytes>("--bytes");
  if (q.step && q.bytes) {
    in.problem("--time and --bytes both say how long a step takes on the GPU; give one of them");
  }
  constexpr double most_threads = 1024.0;
  if (q.threads > most_threads) {
    in.problem("--threads " + format_count(q.threads) + " is more than a block can have, 1 024");
  }
  q.launch = read_launch(in);
  return q;
}

/// Time of a step's bytes on the GPU: from L2 where they fit, whose rate the generation's numbers state, else memory.
Seconds step_time(const SyncAsked& q, const LabBench& bench, const Launcher& l, LabAnswer& a) {
  if (q.step || !q.bytes) {
    return q.step.value_or(Seconds{});
  }
  const auto& l2 = bench.device->memory.l2;
  const bool held = l2 && *q.bytes <= l2->value;
  const BytesPerSecond memory = bench.device->bandwidth();
  const BytesPerSecond rate = !held                               ? memory
                              : l.device.cache > BytesPerSecond{} ? l.device.cache
                                                                  : l2_rate(bench, *find_gemm_format("bf16")).rate;
  a.notes.push_back("A step's " + format(*q.bytes) + (held ? " stay in L2, at " : " come from memory, at ") +
                    format(rate) + ".");
  return l.device.start + *q.bytes / rate;
}

/// Limits of a unit, where the catalog states them.
const UnitLimits* limits_of_unit(const LabBench& bench) {
  try {
    return &bench.catalog.unit_limits(*bench.device);
  } catch (const ConfigError&) {
    return nullptr;
  }
}

/// Blocks that the GPU holds at once, by their threads alone; nullopt: the catalog does not tell.
std::optional<double> resident_blocks(const SyncAsked& q, const LabBench& bench, const UnitLimits* unit) {
  const auto& units = bench.device->compute.units;
  if (unit == nullptr || !units) {
    return std::nullopt;
  }
  BlockDemand block;
  block.threads = static_cast<std::int64_t>(q.threads);
  block.registers = 1;
  return static_cast<double>(units->value * unit_occupancy(*unit, block).blocks);
}

LabTable reductions(double threads, double warp) {
  LabTable table{"block_sum",
                 {{"a sum over the block", "way"},
                  {"steps in a row", "steps"},
                  {"barriers", "barriers"},
                  {"shared accesses", "shared_accesses"},
                  {"shuffles", "shuffles"}},
                 {}};
  const auto add = [&](std::string_view way, const BlockReduction& r) {
    table.rows.push_back({way, r.steps, r.barriers, r.shared_accesses, r.shuffles});
  };
  add("through shared memory", shared_reduction(threads, warp));
  add("by warp shuffles", shuffle_reduction(threads, warp));
  return table;
}

LabChart drawing_of(const KernelChain& chain, double blocks, double most, const Launcher& l) {
  LabLine launches{"launches", LineStyle::solid, {}};
  LabLine graph{"a graph", LineStyle::solid, {}};
  LabLine grid{"barriers across the grid", LineStyle::solid, {}};
  for (double n = 1.0; n <= 16.0 * std::max(blocks, 64.0); n *= 2.0) {
    launches.points.push_back({n, launched_time(chain, l.host, l.layer, l.device).raw(), {}});
    graph.points.push_back({n, graph_time(chain, l.host, l.device).raw(), {}});
    if (n <= most) {
      grid.points.push_back({n, persistent_time(chain, n, l.host, l.device).raw(), {}});
    }
  }
  return {"Time of all steps over the blocks of the grid",
          {"blocks", Hint::count, true},
          {"time", Hint::seconds, true},
          {std::move(launches), std::move(graph), std::move(grid)},
          {{blocks, "this grid"}}};
}

LabAnswer answer(const SyncAsked& q, const LabBench& bench) {
  LabAnswer a;
  const Launcher l = launcher_of(q.launch, bench);
  const auto& units = bench.device->compute.units;
  const double blocks = q.blocks > 0.0 ? q.blocks : units ? static_cast<double>(units->value) : 1.0;
  if (q.blocks == 0.0) {
    a.notes.push_back("The grid was taken for one block an SM, " + format_count(blocks) + "; --blocks says it.");
  }
  const KernelChain chain{q.iterations, step_time(q, bench, l, a), q.launch.arguments, 0.0};
  KernelChain waited = chain;
  waited.sync_every = 1.0;
  struct Way {
    std::string_view name, key;
    Seconds time;
    std::string_view because;
  };
  const std::array<Way, 4> ways{
      Way{"a launch a step", "launched_s", launched_time(chain, l.host, l.layer, l.device),
          "kernels of one stream wait for one another by themselves"},
      Way{"a launch a step, the host waits for each", "awaited_s", launched_time(waited, l.host, l.layer, l.device),
          "what reading a result after every step costs"},
      Way{"one graph", "graph_s", graph_time(chain, l.host, l.device), "one launch for all, a node a step"},
      Way{"one kernel with a barrier across the grid a step", "grid_sync_s",
          persistent_time(chain, blocks, l.host, l.device),
          "all blocks must fit on the GPU at once; pays where few blocks keep state on chip"}};
  const UnitLimits* const unit = limits_of_unit(bench);
  const std::optional<double> resident = resident_blocks(q, bench, unit);
  // Blocks that do not all run at once would wait for ones that never start.
  const std::size_t possible = resident && blocks > *resident ? ways.size() - 1 : ways.size();
  const std::span<const Way> open = std::span{ways}.first(possible);
  const auto best =
      std::min_element(open.begin(), open.end(), [](const Way& x, const Way& y) { return x.time < y.time; });
  const Seconds barrier = grid_barrier_time(l.device, blocks);
  a.title = counted(static_cast<std::int64_t>(q.iterations), "step") + " that wait for one another, " +
            counted(static_cast<std::int64_t>(blocks), "block") + " of " + format_count(q.threads) + " threads, on " +
            bench.device->id;
  a.question = {{"iterations", static_cast<std::int64_t>(q.iterations)},
                {"blocks", static_cast<std::int64_t>(blocks)},
                {"threads", static_cast<std::int64_t>(q.threads)}};
  a.verdict = std::string{"It is fastest as "} + std::string{best->name} + ", " + format(best->time) +
              "; launches take " + format(ways[0].time) +
              (possible == ways.size() ? ", barriers across the grid " + format(ways[3].time) + "."
                                       : "; barriers across the grid are not possible, since the GPU holds " +
                                             format_count(*resident) + " such blocks at once.");
  for (const Way& way : open) {
    a.figures.push_back({std::string{way.name}, way.key, way.time});
  }
  if (resident) {
    a.figures.push_back(
        {"blocks that fit at once, by their threads", "resident_blocks", *resident, format_count(*resident)});
  }
  a.figures.push_back({"a step on the GPU", "step_s", chain.kernel});
  if (possible == ways.size()) {
    a.figures.push_back({"a barrier across the grid", "barrier_s", barrier});
  }
  for (const Way& way : open) {
    if (way.time < ways[0].time) {
      a.cures.push_back({std::string{way.name}, way.time / ways[0].time, std::string{way.because}});
    }
  }
  std::stable_sort(a.cures.begin(), a.cures.end(),
                   [](const LabCure& x, const LabCure& y) { return x.time_ratio < y.time_ratio; });
  const double warp = unit != nullptr ? static_cast<double>(unit->threads.warp.value) : 32.0;
  a.tables.push_back(reductions(std::exp2(std::ceil(std::log2(std::max(q.threads, warp)))), warp));
  tell_launcher(a, q.launch, l, bench);
  a.sources.emplace_back("a sum over a block: Harris 2007, Luitjens 2014");
  a.chart = drawing_of(chain, blocks, resident.value_or(std::numeric_limits<double>::infinity()), l);
  return a;
}

LabQuestion read_sync(FormReader& in) {
  return [q = read_asked_sync(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm sync_form{"sync", "steps that wait for one another", GpuUse::needed, read_sync};

}  // namespace headroom::cli
