// SPDX-License-Identifier: Apache-2.0
// Hosts that keep their GPUs waiting.
#include <headroom/calibrate/diagnosis/trace_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace headroom {
namespace {

Seconds seconds_of(double nanoseconds) {
  return Seconds{1e-9 * nanoseconds};
}

/// What a stretch of the host before a call is.
enum class GapKind : std::uint8_t { sends, program, stop, cold, save };

/// Gaps of a rank's host told apart: those of each step from those that come now and then.
std::vector<GapKind> gap_kinds(const RankGraph& graph, double step) {
  std::vector<GapKind> kinds(graph.calls.size(), GapKind::sends);
  if (graph.calls.empty()) {
    return kinds;
  }
  std::vector<TraceTime> all;
  for (const GraphCall& call : graph.calls) {
    all.push_back(call.gap);
  }
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  // Far beyond what it takes to send one kernel, whatever the host: the program did something else.
  const TraceTime large = std::max<TraceTime>(100'000, 20 * all[all.size() / 2]);
  std::vector<TraceTime> most(graph.steps.size(), 0);  // the largest of each step
  for (const GraphCall& call : graph.calls) {
    auto& of_step = most[static_cast<std::size_t>(call.step)];
    of_step = std::max(of_step, call.gap);
  }
  bool bulk = false;  // a copy of many bytes to the host was just done
  for (std::size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall& call = graph.calls[i];
    if (call.gap >= large) {
      const auto like = std::count_if(most.begin(), most.end(), [&](TraceTime m) { return 2 * m >= call.gap; });
      const bool rare = most.size() >= 4 && real(like) <= 0.7 * real(static_cast<std::int64_t>(most.size())) &&
                        real(call.gap) >= 0.1 * step;
      kinds[i] = !rare ? GapKind::program : bulk ? GapKind::save : GapKind::stop;
    }
    bulk = call.kind == CallKind::copy && call.sent_back;
  }
  return kinds;
}

/// Stops in the first steps alone, and in nearly all of those on every rank, are those of a run that is not warm.
void tell_cold(std::vector<std::vector<GapKind>>& kinds, const TracedRun& run) {
  std::int32_t last = -1;
  std::size_t stops = 0;
  for (std::size_t r = 0; r < kinds.size(); ++r) {
    for (std::size_t i = 0; i < kinds[r].size(); ++i) {
      if (kinds[r][i] == GapKind::stop) {
        last = std::max(last, run.graph(r).calls[i].step);
        ++stops;
      }
    }
  }
  const auto first = static_cast<std::size_t>(last + 1);
  if (first > 0 && 3 * first <= run.graph(0).steps.size() && 4 * stops >= 3 * first * kinds.size()) {
    for (auto& of_rank : kinds) {
      std::replace(of_rank.begin(), of_rank.end(), GapKind::stop, GapKind::cold);
    }
  }
}

/// Totals of what was taken out, over ranks and steps.
struct Taken {
  double time = 0.0;
  std::int64_t count = 0;
  [[nodiscard]] double each_step(const TracedRun& run) const {
    double steps = 0.0;
    for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
      steps += real(static_cast<std::int64_t>(run.graph(r).steps.size()));
    }
    return time / std::max(1.0, steps);
  }
};

/// The run without gaps of a kind, launches' calls with them where they are what sends.
Taken without(RunChanges& changes, const TracedRun& run, const std::vector<std::vector<GapKind>>& kinds, GapKind kind) {
  Taken taken;
  for (std::size_t r = 0; r < kinds.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    for (std::size_t i = 0; i < graph.calls.size(); ++i) {
      if (kinds[r][i] != kind) {
        continue;
      }
      taken.time += real(graph.calls[i].gap);
      ++taken.count;
      changes[r].gap[i] -= graph.calls[i].gap;
      if (kind == GapKind::sends && graph.calls[i].kind == CallKind::launch) {
        taken.time += real(changes[r].call[i]);
        changes[r].call[i] = 0;
      }
    }
  }
  return taken;
}

template <class Select>
Taken without_calls(RunChanges& changes, const TracedRun& run, Select select) {
  Taken taken;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    const RankGraph& graph = run.graph(r);
    for (std::size_t i = 0; i < graph.calls.size(); ++i) {
      if (select(graph.calls[i])) {
        taken.time += real(graph.calls[i].end - graph.calls[i].begin);
        ++taken.count;
        changes[r].waits[i] = 0;
        changes[r].call[i] = graph.calls[i].kind == CallKind::memory ? 0 : changes[r].call[i];
      }
    }
  }
  return taken;
}

std::string a_step(const TracedRun& run, const Taken& taken) {
  return format(seconds_of(taken.each_step(run))) + " of each step of " + format(run.step);
}

void add_data(TracedRun& run) {
  RunChanges changes = run.replay.as_it_was();
  Taken taken;
  for (std::size_t r = 0; r < changes.size(); ++r) {
    for (std::size_t i = 0; i < changes[r].gap.size(); ++i) {
      const TraceTime data = run.graph(r).calls[i].data;
      changes[r].gap[i] -= data;
      taken.time += real(data);
      taken.count += data > 0 ? 1 : 0;
    }
  }
  if (taken.count > 0) {
    run.add(CauseKind::data_loading, run.replay.ratio(changes, true),
            "The host waits for samples for " + a_step(run, taken) + ", and the GPU for the host.",
            "Load ahead with more workers, or prepare samples before the run.");
  }
}

}  // namespace

void add_host_causes(TracedRun& run) {
  add_data(run);
  std::vector<std::vector<GapKind>> kinds;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    kinds.push_back(gap_kinds(run.graph(r), 1e9 * run.step.raw()));
  }
  tell_cold(kinds, run);
  RunChanges synced = run.replay.as_it_was();
  const Taken waits = without_calls(synced, run, [](const GraphCall& call) { return call.kind == CallKind::sync; });
  const double ahead = waits.count > 0 ? run.replay.ratio(synced, true) : 1.0;
  run.add(CauseKind::host_sync, ahead,
          "The host waits for the GPU to run dry " + counted(waits.count, "time") + ", " + a_step(run, waits) +
              ", before it sends more.",
          "Read numbers back every hundred steps in place of each (.item(), .cpu(), prints, synchronize), so that the "
          "host runs ahead.");
  // A host that need not wait runs ahead: of what it does, only the rest that shows then is a cause before the waits.
  const auto also_ahead = [&](auto change, double& alone) {
    RunChanges with = run.replay.as_it_was();
    change(with);
    alone = run.replay.ratio(with, true);
    if (ahead > 1.0 - least_share || alone > 1.0 - least_share) {
      return 1.0 - alone;
    }
    RunChanges both = synced;
    change(both);
    constexpr double behind = 0.95;
    return std::min(1.0 - alone, std::max(ahead - run.replay.ratio(both, true), behind * (1.0 - ahead)));
  };
  Taken taken;
  const auto take = [&](GapKind kind) {
    return [&, kind](RunChanges& changes) { taken = without(changes, run, kinds, kind); };
  };
  double ratio = 1.0;
  double lost = also_ahead(take(GapKind::program), ratio);
  run.add(CauseKind::host_bound, ratio,
          "The host is busy with the program for " + a_step(run, taken) + " while the GPU has nothing to do.",
          "Move that work out of the step or to another thread, so that the host runs ahead of the GPU.", lost);
  lost = also_ahead(take(GapKind::sends), ratio);
  std::int64_t launches = 0;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    launches += static_cast<std::int64_t>(run.graph(r).work.size());
  }
  run.add(CauseKind::launch_bound, ratio,
          "The host takes " + format(seconds_of(taken.time / std::max(1.0, real(launches)))) +
              " to send a kernel, longer than the GPU takes to run it: " + a_step(run, taken) + ".",
          "Capture the step as a CUDA graph, or compile it so that fewer and longer kernels run.", lost);
  RunChanges changes = run.replay.as_it_was();
  taken = without(changes, run, kinds, GapKind::stop);
  run.add(CauseKind::collector, taken.count > 0 ? run.replay.ratio(changes) : 1.0,
          "Now and then the host stops: " + counted(taken.count, "stop") + " of " +
              format(seconds_of(taken.time / std::max(1.0, real(taken.count)))) + ", in which nothing is sent.",
          "Let the garbage collector run on all ranks at once between steps (gc.disable(), gc.collect() every so many "
          "steps), and look for what else wakes up on the host.");
  changes = run.replay.as_it_was();
  taken = without(changes, run, kinds, GapKind::cold);
  run.add(CauseKind::cold_cache, taken.count > 0 ? run.replay.ratio(changes) : 1.0,
          "The first steps are not warm: the host compiles or tries algorithms for " +
              format(seconds_of(taken.time / real(static_cast<std::int64_t>(run.replay.ranks())))) + ".",
          "Leave the first steps out of what is measured; keep compiled code and chosen algorithms in a cache.");
  changes = run.replay.as_it_was();
  taken = without(changes, run, kinds, GapKind::save);
  if (taken.count > 0) {
    for (std::size_t r = 0; r < changes.size(); ++r) {
      const RankGraph& graph = run.graph(r);
      for (std::size_t i = 0; i < graph.calls.size(); ++i) {
        if (graph.calls[i].kind == CallKind::copy && graph.calls[i].sent_back) {
          taken.time += real(graph.calls[i].end - graph.calls[i].begin);
          changes[r].waits[i] = 0;
          changes[r].work[static_cast<std::size_t>(graph.calls[i].waits)] = 0;
        }
      }
    }
    run.add(CauseKind::checkpointing, run.replay.ratio(changes),
            "In some steps state is copied to the host and written while the GPU waits: " + a_step(run, taken) + ".",
            "Write checkpoints from a copy in the host's memory beside the next steps (asynchronous checkpoints), or "
            "less often.");
  }
  changes = run.replay.as_it_was();
  taken = without_calls(changes, run, [](const GraphCall& call) { return call.kind == CallKind::memory; });
  run.add(CauseKind::fragmentation, taken.count > 0 ? run.replay.ratio(changes) : 1.0,
          "The driver is asked for memory, or given it back, " + counted(taken.count, "time") +
              " within steps, which the GPU waits for: " + a_step(run, taken) + ".",
          "Let the allocator keep its memory: expandable_segments:True, fewer different sizes, no empty_cache() in "
          "steps, memory to spare.");
}

}  // namespace headroom
