// SPDX-License-Identifier: Apache-2.0
// `headroom kernel chain`: kernels in order, apart, fused, as a graph, and with a wait every so many.
#include <headroom/cli/laboratory/bench_limits.hpp>
#include <headroom/cli/laboratory/chain_file.hpp>
#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/cli/laboratory/launch_options.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/kernels/memory_ops.hpp>
#include <headroom/model/laboratory/chain.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace headroom::cli {
namespace {

struct ChainAsked {
  std::vector<ChainStep> steps;  ///< of a file
  double ops = 0.0;              ///< equal passes, where no file was given
  double elements = 0.0;
  GemmFormat format;
  double kernels = 0.0;  ///< launches alone
  Seconds kernel{};      ///< of one of them on the GPU
  double sync_every = 0.0;
  LaunchAsked launch;
};

ChainAsked read_asked(FormReader& in) {
  ChainAsked q;
  const std::string file = in.file();
  const bool launches = in.given("--kernels");
  const bool ops = in.given("--ops");
  const bool elements = in.given("--elements");
  const bool passes = ops || elements;
  if ((file.empty() ? 0 : 1) + (launches ? 1 : 0) + (passes ? 1 : 0) != 1) {
    in.problem(
        "kernel chain takes one of three: a file of ops (FILE.toml), equal passes (--ops and --elements), or launches "
        "(--kernels)");
  }
  if (launches) {
    q.kernels = in.size("--kernels");
    q.kernel = in.quantity_or<Seconds>("--time", Seconds{});
  } else if (passes) {
    q.ops = in.size("--ops");
    constexpr double most = 1e15;
    q.elements = in.number("--elements", 1.0, most);
    q.format = in.format();
  } else if (!file.empty()) {
    try {
      q.steps = read_chain(file);
    } catch (const ConfigError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        in.add(problem);
      }
    }
  }
  q.sync_every = in.count_or("--sync-every", 0.0);
  q.launch = read_launch(in);
  return q;
}

/// One kernel of the chain with its name.
struct NamedOp {
  std::string name;
  ChainOp op;
};

std::vector<NamedOp> ops_of_file(const ChainAsked& q, const LabBench& bench, LabAnswer& a) {
  std::vector<NamedOp> ops;
  for (const ChainStep& step : q.steps) {
    OpAnswer answer = step.question(bench.data, *bench.device);
    const MemoryOp traffic{answer.moved - answer.written, answer.written};
    for (std::int64_t i = 0; i < step.repeat; ++i) {
      ops.push_back({step.name, {answer.time, answer.launch, traffic, step.kind->joins}});
    }
    const std::string source = "curve of " + step.name + ": " + answer.why;
    if (std::find(a.sources.begin(), a.sources.end(), source) == a.sources.end()) {
      a.sources.push_back(source);
    }
  }
  return ops;
}

std::vector<NamedOp> equal_passes(const ChainAsked& q, const LabBench& bench, LabAnswer& a) {
  const MemoryOp pass = elementwise(q.elements, 1.0, q.format.activation_bytes);
  const std::optional<PassCurve> curve = pass_curve(bench);
  const BytesPerSecond bandwidth = bench.device->bandwidth();
  ChainOp op{pass.moved() / bandwidth, Seconds{}, pass, Fusable::pass};
  if (curve) {
    const MemoryTime time = curve->model.explain(pass);
    op.time = time.total;
    op.launch = time.launch;
    a.sources.push_back("passes: " + curve->why);
  } else {
    a.notes.emplace_back("No pass was measured on this SKU: its datasheet's bandwidth is taken for reached.");
  }
  return std::vector<NamedOp>(static_cast<std::size_t>(q.ops), {"elementwise", op});
}

/// One way to run the chain.
struct Way {
  std::string name;
  std::string_view key;
  Seconds time{};
  double kernels = 0.0;
};

KernelChain chain_of(double kernels, Seconds device_time, const ChainAsked& q, const Launcher& launcher) {
  // Curves were measured in graphs, whose gap between nodes is part of a kernel's time.
  const Seconds kernel = std::max(Seconds{}, device_time / kernels - launcher.device.node);
  return {kernels, kernel, q.launch.arguments, q.sync_every};
}

std::vector<Way> ways_of(const KernelChain& apart, const std::optional<KernelChain>& fused, const Launcher& l) {
  std::vector<Way> ways{
      {"kernel by kernel", "launched_s", launched_time(apart, l.host, l.layer, l.device), apart.kernels},
      {"as a graph", "graph_s", graph_time(apart, l.host, l.device), apart.kernels}};
  if (fused) {
    ways.push_back({"fused, kernel by kernel", "fused_launched_s", launched_time(*fused, l.host, l.layer, l.device),
                    fused->kernels});
    ways.push_back({"fused, as a graph", "fused_graph_s", graph_time(*fused, l.host, l.device), fused->kernels});
  }
  if (apart.sync_every > 0.0) {
    KernelChain free = apart;
    free.sync_every = 0.0;
    ways.push_back({"kernel by kernel, no wait before the last", "unsynchronised_s",
                    launched_time(free, l.host, l.layer, l.device), apart.kernels});
    ways.push_back({"as one graph, no wait before the last", "unsynchronised_graph_s",
                    graph_time(free, l.host, l.device), apart.kernels});
  }
  return ways;
}

LabChart drawing_of(const KernelChain& chain, const Launcher& l) {
  LabLine launched{"kernel by kernel", LineStyle::solid, {}};
  LabLine graph{"as a graph", LineStyle::solid, {}};
  for (double kernels = 1.0; kernels <= 4.0 * std::max(chain.kernels, 64.0); kernels *= 2.0) {
    KernelChain of = chain;
    of.kernels = kernels;
    launched.points.push_back({kernels, launched_time(of, l.host, l.layer, l.device).raw(), {}});
    graph.points.push_back({kernels, graph_time(of, l.host, l.device).raw(), {}});
  }
  LabChart chart{"Time of a chain over its kernels",
                 {"kernels", Hint::count, true},
                 {"time", Hint::seconds, true},
                 {std::move(launched), std::move(graph)},
                 {}};
  const double from = graph_pays_from(chain, l.host, l.layer, l.device);
  if (from > 1.0 && std::isfinite(from)) {
    chart.marks.push_back({from, "a graph pays from here"});
  }
  chart.marks.push_back({chain.kernels, "this chain"});
  return chart;
}

void tell_fusion(LabAnswer& a, const std::vector<NamedOp>& ops, const FusedChain& fused, BytesPerSecond bandwidth) {
  a.figures.push_back({"bytes apart", "moved_bytes", fused.moved_apart});
  a.figures.push_back({"bytes fused", "fused_bytes", fused.moved});
  a.figures.push_back({"at the datasheet's bandwidth, apart", "roofline_s", fused.moved_apart / bandwidth});
  a.figures.push_back({"at the datasheet's bandwidth, fused", "fused_roofline_s", fused.moved / bandwidth});
  a.figures.push_back({"on the GPU, apart", "device_s", fused.apart});
  a.figures.push_back({"on the GPU, fused", "fused_device_s", fused.time});
  a.figures.push_back({"gain of fusion in bytes", "fusion_ratio", fused.moved_apart / fused.moved,
                       format_number(fused.moved_apart / fused.moved) + "x"});
  LabTable table{"groups", {{"kernel", "kernels"}, {"ops", "ops"}, {"time", "time_s"}, {"moved", "moved_bytes"}}, {}};
  constexpr std::size_t most_rows = 40;
  for (const FusedGroup& group : fused.groups) {
    if (table.rows.size() == most_rows) {
      a.notes.push_back("The table shows the first " + std::to_string(most_rows) + " of " +
                        std::to_string(fused.groups.size()) + " kernels.");
      break;
    }
    const std::string first = ops[group.first].name;
    const std::string last = ops[group.first + group.count - 1].name;
    table.rows.push_back({group.count > 1 ? first + " to " + last : first, static_cast<std::int64_t>(group.count),
                          group.time, group.moved});
  }
  a.tables.push_back(std::move(table));
}

LabAnswer answer(const ChainAsked& q, const LabBench& bench) {
  LabAnswer a;
  const Launcher launcher = launcher_of(q.launch, bench);
  std::vector<NamedOp> ops;
  std::optional<FusedChain> fused;
  double kernels = q.kernels;
  Seconds device = q.kernels * (q.kernel + launcher.device.node);
  if (q.kernels == 0.0) {
    ops = q.steps.empty() ? equal_passes(q, bench, a) : ops_of_file(q, bench, a);
    std::vector<ChainOp> bare;
    for (const NamedOp& named : ops) {
      bare.push_back(named.op);
    }
    fused = fused_chain(bare);
    kernels = static_cast<double>(ops.size());
    device = fused->apart;
  }
  const KernelChain apart = chain_of(kernels, device, q, launcher);
  const std::optional<KernelChain> joined =
      fused && fused->groups.size() < ops.size()
          ? std::optional{chain_of(static_cast<double>(fused->groups.size()), fused->time, q, launcher)}
          : std::nullopt;
  const std::vector<Way> ways = ways_of(apart, joined, launcher);
  const Way& best =
      *std::min_element(ways.begin(), ways.end(), [](const Way& x, const Way& y) { return x.time < y.time; });
  a.title = counted(static_cast<std::int64_t>(kernels), "kernel") + (kernels > 1.0 ? " one after another" : "") +
            ", on " + bench.device->id;
  a.question = {{"launches", static_cast<std::int64_t>(kernels)}, {"sync_every", q.sync_every}};
  const bool host_bound = ways.front().time > 1.05 * launched_time(KernelChain{kernels, apart.kernel, 0.0, 0.0},
                                                                   LaunchHost{}, LaunchLayer{}, launcher.device);
  const std::string bound = host_bound ? "bound by the host's launches and waits" : "bound by the GPU";
  a.verdict = "It takes " + format(ways.front().time) + " kernel by kernel, " + bound + "; " + best.name +
              (best.name.find(',') != std::string::npos ? "," : "") + " it takes " + format(best.time) + ".";
  if (&best == &ways.front()) {
    a.verdict = "It takes least kernel by kernel, " + format(best.time) + ", " + bound + ".";
  }
  for (const Way& way : ways) {
    a.figures.push_back({way.name, way.key, way.time});
  }
  a.figures.push_back(
      {"host time of a launch", "launch_s", launch_time(launcher.host, launcher.layer, q.launch.arguments)});
  const double pays = graph_pays_from(apart, launcher.host, launcher.layer, launcher.device);
  if (std::isfinite(pays)) {
    a.figures.push_back({"a graph pays from", "graph_pays_from_kernels", std::max(pays, 1.0),
                         counted(static_cast<std::int64_t>(std::max(pays, 1.0)), "kernel")});
  }
  if (fused) {
    tell_fusion(a, ops, *fused, bench.device->bandwidth());
  }
  for (const Way& way : ways) {
    constexpr double least_gain = 0.9999;
    if (way.time < least_gain * ways.front().time) {
      a.cures.push_back(
          {way.name, way.time / ways.front().time, counted(static_cast<std::int64_t>(way.kernels), "kernel")});
    }
  }
  std::stable_sort(a.cures.begin(), a.cures.end(),
                   [](const LabCure& x, const LabCure& y) { return x.time_ratio < y.time_ratio; });
  if (fused) {
    a.notes.emplace_back(
        "Passes over elements join a product or a pass before them; passes over rows join passes. What "
        "a compiler fuses is its own matter.");
  }
  tell_launcher(a, q.launch, launcher, bench);
  a.chart = drawing_of(apart, launcher);
  return a;
}

LabQuestion read_chain_form(FormReader& in) {
  return [q = read_asked(in)](const LabBench& bench) { return answer(q, bench); };
}

}  // namespace

const KernelForm chain_form{"chain", "a file of ops, or --ops and --elements, or --kernels", GpuUse::needed,
                            read_chain_form, "FILE.toml"};

}  // namespace headroom::cli
