// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/run_replay.hpp>
#include <headroom/calibrate/diagnosis/trace_causes.hpp>
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace headroom {
namespace {

bool names_step(const std::string& name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("ProfilerStep ");
}

std::int64_t number_of(const std::string& name) {
  const std::size_t at = name.find_first_of("0123456789");
  const auto number = at == std::string::npos ? std::nullopt : whole_real(name.substr(at));
  return number ? static_cast<std::int64_t>(*number) : -1;
}

/// Steps on the GPU's side where the trace has them, each from the end of the one before; else from the start of one on
/// the host to that of the next. Empty: none is named.
std::vector<GraphWindow> steps_of(const Timeline& timeline, std::int32_t device) {
  std::vector<GraphWindow> ranges;
  for (const DeviceRange& range : timeline.ranges) {
    const std::string& name = timeline.names.name(range.name);
    if (range.device == device && names_step(name) && range.end > range.begin) {
      ranges.push_back({range.begin, range.end, number_of(name)});
    }
  }
  const auto in_order = [](std::vector<GraphWindow>& steps) {
    std::sort(steps.begin(), steps.end(), [](const GraphWindow& a, const GraphWindow& b) { return a.begin < b.begin; });
  };
  if (ranges.size() > 1) {
    in_order(ranges);
    std::vector<GraphWindow> steps;
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      ranges[i].end = std::max(ranges[i].end, ranges[i - 1].end + 1);
      steps.push_back({ranges[i - 1].end, ranges[i].end, ranges[i].number});
    }
    return steps;
  }
  if (!ranges.empty()) {
    return ranges;
  }
  for (const HostSpan& span : timeline.host) {
    const std::string& name = timeline.names.name(span.name);
    if (span.work == HostWork::annotation && names_step(name) && span.end > span.begin) {
      ranges.push_back({span.begin, span.end, number_of(name)});
    }
  }
  in_order(ranges);
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i) {
    ranges[i].end = ranges[i + 1].begin;
  }
  if (ranges.size() > 2) {
    ranges.erase(ranges.begin());
  }
  return ranges;
}

/// A last step that ends in a message which outlasts all steps before is none: the run hung in it.
void take_hang(const Timeline& timeline, std::int32_t device, std::vector<GraphWindow>& steps, TracedRank& rank) {
  constexpr std::size_t enough = 3;
  constexpr TraceTime times = 5;
  if (steps.size() < enough) {
    return;
  }
  std::vector<TraceTime> lengths;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    lengths.push_back(steps[i].end - steps[i].begin);
  }
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2), lengths.end());
  const TraceTime usual = lengths[lengths.size() / 2];
  const DeviceSpan* last = nullptr;
  for (const DeviceSpan& span : timeline.work) {
    last = span.device == device && (last == nullptr || span.end >= last->end) ? &span : last;
  }
  if (last == nullptr || last->work != DeviceWork::communication || last->end - last->begin < times * usual ||
      last->end < steps.back().end) {
    return;
  }
  rank.graph.hangs = last->end - last->begin;
  rank.graph.hangs_in = timeline.names.name(last->name);
  rank.graph.hangs_bytes = last->bytes;
  steps.pop_back();
}

Seconds length(TraceTime nanoseconds) {
  return Seconds{1e-9 * real(nanoseconds)};
}

/// Means over the ranks.
struct Means {
  Seconds step{}, computing{}, exposed_communication{}, exposed_copies{};
  std::array<Seconds, idle_cause_count> idle{};

  [[nodiscard]] Seconds of(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }
};

Means means_of(std::span<const TracedRank> ranks) {
  Means m;
  const double each = 1.0 / real(static_cast<std::int64_t>(ranks.size()));
  for (const TracedRank& r : ranks) {
    m.step += each * r.step();
    m.computing += each * r.mean(&DeviceTime::computing);
    m.exposed_communication += each * r.mean(&DeviceTime::exposed_communication);
    m.exposed_copies += each * r.mean(&DeviceTime::exposed_copies);
    for (std::size_t i = 0; i < idle_cause_count; ++i) {
      m.idle[i] += each * r.mean_idle(static_cast<IdleCause>(i));
    }
  }
  return m;
}

/// FLOP of products over what the tensor cores could do in the windows; nullopt: no shapes, or a GPU nobody knows.
std::optional<double> products_share(std::span<const TracedRank> ranks) {
  double flop = 0.0;
  double most = 0.0;
  for (const TracedRank& rank : ranks) {
    if (!rank.ability || rank.graph.steps.empty()) {
      return std::nullopt;
    }
    for (const GraphWork& work : rank.graph.work) {
      flop += work.flop;
    }
    most += rank.ability->tensor.raw() * 1e-9 * real(rank.graph.steps.back().end - rank.graph.steps.front().begin);
  }
  return flop > 0.0 && most > 0.0 ? std::optional{flop / most} : std::nullopt;
}

/// The names with the most time over all ranks; of equal ones the first by name.
std::vector<KernelTotal> longest(std::span<const TracedRank> ranks) {
  constexpr std::size_t most_kernels = 8;
  std::map<std::pair<std::string, std::string_view>, KernelTotal> all;
  for (const TracedRank& rank : ranks) {
    for (const KernelTotal& named : rank.names) {
      KernelTotal& sum = all.try_emplace({named.name, named.work}, KernelTotal{named.name, named.work}).first->second;
      sum.time += named.time;
      sum.count += named.count;
    }
  }
  std::vector<KernelTotal> kernels;
  for (auto& [key, total] : all) {
    kernels.push_back(std::move(total));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelTotal& a, const KernelTotal& b) { return a.time > b.time; });
  kernels.resize(std::min(kernels.size(), most_kernels));
  return kernels;
}

/// The last step of each rank on the first rank's clock.
std::vector<StepTrack> tracks_of(const TracedRun& run) {
  constexpr std::size_t most_ranks = 16;
  constexpr TraceTime finest = 1000;  // pieces of a step that a drawing can show
  std::vector<StepTrack> tracks;
  const GraphWindow& step = run.graph(0).steps.back();
  const TraceTime close = std::max<TraceTime>(1, (step.end - step.begin) / finest);
  for (std::size_t r = 0; r < std::min(most_ranks, run.replay.ranks()); ++r) {
    const RankGraph& graph = run.graph(r);
    const auto last = static_cast<std::int32_t>(graph.steps.size()) - 1;
    StepTrack track{run.who(r), {}};
    std::array<TraceTime, device_work_names.size()> begins{}, ends{};
    std::array<bool, device_work_names.size()> open{};
    const auto put = [&](std::size_t kind) {
      if (open[kind]) {
        track.stretches.push_back({length(begins[kind] + run.replay.offset(r) - step.begin),
                                   length(ends[kind] + run.replay.offset(r) - step.begin), device_work_names[kind]});
        open[kind] = false;
      }
    };
    for (const GraphWork& work : graph.work) {
      if (work.step != last) {
        continue;
      }
      const auto kind = static_cast<std::size_t>(work.work);
      if (open[kind] && work.begin > ends[kind] + close) {
        put(kind);
      }
      begins[kind] = open[kind] ? begins[kind] : work.begin;
      ends[kind] = open[kind] ? std::max(ends[kind], work.end) : work.end;
      open[kind] = true;
    }
    for (std::size_t kind = 0; kind < open.size(); ++kind) {
      put(kind);
    }
    tracks.push_back(std::move(track));
  }
  return tracks;
}

/// Ranks of one run have a step in common, by its number.
void refuse_strangers(std::span<const TracedRank> ranks) {
  const auto numbers = [](const TracedRank& rank) {
    std::string text;
    for (const GraphWindow& step : rank.graph.steps) {
      text += (text.empty() ? "" : ", ") + std::to_string(step.number);
    }
    return text;
  };
  Diagnostics diagnostics;
  for (const TracedRank& rank : ranks.subspan(1)) {
    const auto& first = ranks.front().graph.steps;
    const auto& own = rank.graph.steps;
    const bool common = std::any_of(own.begin(), own.end(), [&](const GraphWindow& step) {
      return std::any_of(first.begin(), first.end(),
                         [&](const GraphWindow& other) { return other.number == step.number; });
    });
    if (!common) {
      diagnostics.add(rank.file, {},
                      "its whole steps are " + numbers(rank) + ", those of " + ranks.front().file + " " +
                          numbers(ranks.front()) +
                          ": they have none in common; name traces that were taken of the same steps");
    }
  }
  diagnostics.throw_if_any();
}

}  // namespace

std::string TracedRun::who(std::size_t rank) const {
  return ranks[rank].rank ? "rank " + std::to_string(*ranks[rank].rank) : ranks[rank].file;
}

void TracedRun::add(
    CauseKind kind, double ratio, std::string says, std::string cure, double lost, std::vector<std::string> evidence) {
  if (1.0 - ratio >= least_share) {
    reading.causes.push_back({kind, lost < 0.0 ? 1.0 - ratio : lost, std::clamp(ratio, 0.0, 1.0), std::move(says),
                              std::move(cure), std::move(evidence)});
  }
}

Seconds TracedRank::step() const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.window();
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

Seconds TracedRank::mean(Seconds DeviceTime::*part) const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.*part;
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

Seconds TracedRank::mean_idle(IdleCause cause) const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.idle[static_cast<std::size_t>(cause)];
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

namespace {

/// All of a rank but its graph, whose windows it gives back.
std::vector<GraphWindow> read_rank(const Timeline& timeline, TracedRank& rank) {
  if (timeline.work.empty()) {
    Diagnostics diagnostics;
    diagnostics.add(timeline.file, {},
                    "the trace holds no work of a GPU; profile with ProfilerActivity.CUDA beside the CPU");
    diagnostics.throw_if_any();
  }
  rank.file = timeline.file;
  rank.rank = timeline.rank;
  rank.world = timeline.world_size;
  TraceTime most = -1;
  for (const std::int32_t device : devices_with_work(timeline)) {
    TraceTime sum = 0;
    for (const DeviceSpan& span : timeline.work) {
      sum += span.device == device ? span.end - span.begin : 0;
    }
    if (sum > most) {
      most = sum;
      rank.device = device;
    }
  }
  for (const TracedDevice& device : timeline.devices) {
    if (device.id == rank.device || rank.gpu.empty()) {
      rank.gpu = device.name;
      rank.units = device.units;
    }
  }
  std::vector<GraphWindow> windows = steps_of(timeline, rank.device);
  rank.named_steps = !windows.empty();
  take_hang(timeline, rank.device, windows, rank);
  if (windows.empty()) {
    const DeviceTime all = device_time(timeline, rank.device);
    windows.push_back({all.begin, all.end, -1});
  }
  std::vector<TraceWindow> within;
  for (const GraphWindow& window : windows) {
    within.push_back({window.begin, window.end});
  }
  rank.steps = device_times(timeline, rank.device, within, false);
  const TraceTime begin = windows.front().begin;
  const TraceTime end = windows.back().end;
  double filled = 0.0;
  for (const DeviceSpan& span : timeline.work) {
    if (span.device == rank.device && span.begin >= begin && span.begin < end && span.work == DeviceWork::compute) {
      const double blocks = span.blocks > 0 && rank.units > 0 ? real(span.blocks) / real(rank.units) : 0.0;
      filled += std::min(1.0, blocks) * length(span.end - span.begin).raw();
    }
  }
  rank.sm_active = end > begin ? filled / length(end - begin).raw() : 0.0;
  for (const NamedTime& named : time_by_name(timeline, rank.device)) {
    rank.names.push_back({timeline.names.name(named.name), device_work_names[static_cast<std::size_t>(named.work)],
                          named.time, named.count});
  }
  return windows;
}

void give_graph(TracedRank& rank, RankGraph graph) {
  graph.hangs = rank.graph.hangs;
  graph.hangs_in = rank.graph.hangs_in;
  graph.hangs_bytes = rank.graph.hangs_bytes;
  rank.graph = std::move(graph);
}

}  // namespace

TracedRank traced_rank(const Timeline& timeline) {
  TracedRank rank;
  std::vector<GraphWindow> windows = read_rank(timeline, rank);
  give_graph(rank, rank_graph(timeline, rank.device, std::move(windows)));
  return rank;
}

TracedRank traced_rank(Timeline&& timeline) {
  TracedRank rank;
  std::vector<GraphWindow> windows = read_rank(timeline, rank);
  give_graph(rank, rank_graph(std::move(timeline), rank.device, std::move(windows)));
  return rank;
}

RunReading reading_of(std::span<const TracedRank> ranks) {
  RunReading reading;
  reading.ranks = static_cast<std::int64_t>(ranks.size());
  const Means m = means_of(ranks);
  bool named = true;
  for (const TracedRank& rank : ranks) {
    reading.files.push_back(rank.file);
    reading.steps += static_cast<std::int64_t>(rank.named_steps ? rank.steps.size() : 0);
    named = named && rank.named_steps;
  }
  reading.gpu = ranks.front().gpu;
  reading.step = m.step;
  reading.parts = {{"computing", m.computing},
                   {"exposed_communication", m.exposed_communication},
                   {"exposed_copies", m.exposed_copies},
                   {"idle_sync", m.of(IdleCause::sync)},
                   {"idle_data", m.of(IdleCause::data)},
                   {"idle_host", m.of(IdleCause::host)},
                   {"idle_launch", m.of(IdleCause::launch)},
                   {"idle_wait", m.of(IdleCause::wait)},
                   {"idle_ends", m.of(IdleCause::ends)}};
  const Seconds busy = m.computing + m.exposed_communication + m.exposed_copies;
  reading.use.busy = m.step.raw() > 0.0 ? std::optional{busy / m.step} : std::nullopt;
  if (ranks.front().sm_active > 0.0) {
    reading.use.sm_active = ranks.front().sm_active;
  }
  reading.use.products = products_share(ranks);
  reading.kernels = longest(ranks);
  if (m.step.raw() > 0.0) {
    std::vector<const RankGraph*> graphs;
    for (const TracedRank& rank : ranks) {
      graphs.push_back(&rank.graph);
    }
    const RunReplay replay{std::move(graphs)};
    if (named) {
      refuse_strangers(ranks);
    }
    const bool sends = std::any_of(ranks.begin(), ranks.end(), [](const TracedRank& rank) {
      return std::any_of(rank.graph.work.begin(), rank.graph.work.end(),
                         [](const GraphWork& work) { return work.work == DeviceWork::communication; });
    });
    if (sends && !replay.meets()) {
      reading.notes.emplace_back(
          "No message of these ranks ends at one moment on any clock: they meet in groups that these files do not "
          "hold, "
          "are of other jobs, or their clocks disagree within a trace. Each is read by itself; name the traces of one "
          "group, taken of the same steps.");
    }
    TracedRun run{ranks, replay, m.step, reading};
    add_hangs(run);
    add_host_causes(run);
    add_rank_causes(run);
    add_kernel_causes(run);
    add_traffic_causes(run);
    reading.tracks = tracks_of(run);
  }
  std::stable_sort(reading.causes.begin(), reading.causes.end(),
                   [](const Cause& a, const Cause& b) { return a.lost > b.lost; });
  const bool blind = std::any_of(ranks.begin(), ranks.end(), [](const TracedRank& r) { return r.graph.calls.empty(); });
  if (const Seconds idle = m.of(IdleCause::host) + m.of(IdleCause::wait); blind && idle > least_share * m.step) {
    reading.notes.push_back("The trace holds no calls of the host: why the GPU has nothing to do for " + format(idle) +
                            " of " + format(m.step) +
                            " is not told; profile the host beside it (ProfilerActivity.CPU, "
                            "rocprofv3 --hip-trace, --cuda-graph-trace=node).");
  }
  if (!named) {
    reading.notes.emplace_back("The trace names no steps (profiler.step()): its whole window stands for one step.");
  }
  return reading;
}

}  // namespace headroom
