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

/// A stretch of the host far beyond what it takes to send one kernel: the program did something else.
struct LongGap {
  std::size_t call = 0;  ///< before which it lies
  std::int32_t step = 0;
  std::size_t place = 0;  ///< of the call in its step
  TraceTime gap = 0;
  bool saved = false;  ///< right behind a copy of many bytes to the host
};

/// Long gaps of one rank's host, and the largest gap of each step.
struct RankGaps {
  std::vector<LongGap> all;
  std::vector<TraceTime> most;
  std::size_t calls = 1;  ///< of a step, about

  /// Share of the steps with a gap of half the length and more.
  [[nodiscard]] double like(TraceTime gap) const {
    const auto count = std::count_if(most.begin(), most.end(), [&](TraceTime m) { return 2 * m >= gap; });
    return real(count) / real(std::max<std::int64_t>(1, static_cast<std::int64_t>(most.size())));
  }
};

constexpr std::size_t one_place = 3;  ///< calls by which the same place of two steps may differ

/// Of one rank: places count round, because what comes first may be sent before the step before has ended.
bool same_place(const LongGap& a, const LongGap& b, std::size_t calls) {
  const std::size_t apart = std::max(a.place, b.place) - std::min(a.place, b.place);
  return std::min(apart, calls - std::min(apart, calls)) <= one_place && 2 * a.gap >= b.gap && 2 * b.gap >= a.gap;
}

RankGaps long_gaps(const RankGraph& graph) {
  RankGaps gaps;
  gaps.most.assign(graph.steps.size(), 0);
  gaps.calls = std::max<std::size_t>(1, graph.calls.size() / graph.steps.size());
  if (graph.calls.empty()) {
    return gaps;
  }
  std::vector<TraceTime> all;
  for (const GraphCall& call : graph.calls) {
    all.push_back(call.gap);
  }
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  const TraceTime large = std::max<TraceTime>(100'000, 20 * all[all.size() / 2]);
  bool bulk = false;  // a copy of many bytes to the host was just done
  std::size_t first = 0;
  for (std::size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall& call = graph.calls[i];
    first = i > 0 && graph.calls[i - 1].step != call.step ? i : first;
    TraceTime& most = gaps.most[static_cast<std::size_t>(call.step)];
    most = std::max(most, call.gap);
    if (call.gap >= large) {
      gaps.all.push_back({i, call.step, i - first, call.gap, bulk});
    }
    bulk = call.kind == CallKind::copy && call.sent_back;
  }
  return gaps;
}

/// Share of a rank's steps with such a gap at about the same place.
double share_at_place(const RankGaps& gaps, const LongGap& gap) {
  std::vector<bool> seen(gaps.most.size(), false);
  for (const LongGap& other : gaps.all) {
    seen[static_cast<std::size_t>(other.step)] =
        seen[static_cast<std::size_t>(other.step)] || same_place(other, gap, gaps.calls);
  }
  return real(std::count(seen.begin(), seen.end(), true)) / real(static_cast<std::int64_t>(seen.size()));
}

/// Gaps that all ranks have before the same call and of like length, one of each rank, in order. Programs of ranks
/// send the same, so that calls count alike.
std::vector<std::vector<const LongGap*>> common_gaps(const std::vector<RankGaps>& ranks) {
  std::vector<std::vector<const LongGap*>> all;
  for (const LongGap& first : ranks.front().all) {
    std::vector<const LongGap*> met;
    for (const RankGaps& rank : ranks) {
      const auto found = std::find_if(rank.all.begin(), rank.all.end(), [&](const LongGap& gap) {
        const std::size_t off = std::max(gap.call, first.call) - std::min(gap.call, first.call);
        return !gap.saved && off <= one_place && 2 * gap.gap >= first.gap && 2 * first.gap >= gap.gap;
      });
      if (found == rank.all.end()) {
        break;
      }
      met.push_back(&*found);
    }
    if (met.size() == ranks.size()) {
      all.push_back(std::move(met));
    }
  }
  return all;
}

/// Of those the ones of a run that is not warm: at one place of the first steps, and never there again.
std::vector<std::vector<const LongGap*>> cold_gaps(const std::vector<RankGaps>& ranks, double least) {
  std::vector<std::vector<const LongGap*>> common = common_gaps(ranks);
  std::erase_if(common, [&](const auto& met) { return real(met.front()->gap) < least; });
  const auto steps = static_cast<std::int32_t>(ranks.front().most.size());
  for (const auto& start : common) {
    const LongGap& first = *start.front();
    std::vector<std::vector<const LongGap*>> cold;
    std::int32_t next = 0;
    bool early = true;
    for (const auto& met : common) {
      if (same_place(first, *met.front(), ranks.front().calls)) {
        early = early && met.front()->step <= next;
        next = met.front()->step + 1;
        cold.push_back(met);
      }
    }
    constexpr std::int32_t least_warm = 2;
    if (early && steps - next >= least_warm && 2 * next <= steps) {
      return cold;
    }
  }
  return {};
}

/// Gaps told apart: those of each step from those that come now and then, and both from the first steps of a run that
/// is not warm, where all ranks stop at one place and never there again.
std::vector<std::vector<GapKind>> gap_kinds(const TracedRun& run) {
  const double step = 1e9 * run.step.raw();
  std::vector<RankGaps> ranks;
  std::vector<TraceTime> most;  // of all ranks and steps
  std::vector<std::vector<GapKind>> kinds;
  for (std::size_t r = 0; r < run.replay.ranks(); ++r) {
    ranks.push_back(long_gaps(run.graph(r)));
    most.insert(most.end(), ranks.back().most.begin(), ranks.back().most.end());
    kinds.emplace_back(run.graph(r).calls.size(), GapKind::sends);
  }
  std::sort(most.begin(), most.end());
  constexpr double often = 0.7;
  constexpr double long_enough = 0.1;  // of a step
  constexpr std::size_t least_steps = 4;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankGaps& own = ranks[r];
    std::vector<bool> saves(own.most.size(), false);
    for (const LongGap& gap : own.all) {
      saves[static_cast<std::size_t>(gap.step)] = saves[static_cast<std::size_t>(gap.step)] || gap.saved;
    }
    const double saved = real(std::count(saves.begin(), saves.end(), true)) /
                         real(static_cast<std::int64_t>(std::max<std::size_t>(1, saves.size())));
    for (const LongGap& gap : own.all) {
      const auto like = std::partition_point(most.begin(), most.end(), [&](TraceTime m) { return 2 * m < gap.gap; });
      const double of_all = real(most.end() - like) / real(static_cast<std::int64_t>(most.size()));
      // A rank may by chance stop in most steps, but not in most of all ranks' and at one place.
      const bool seldom =
          own.like(gap.gap) <= often || (ranks.size() > 1 && of_all <= 0.5 && share_at_place(own, gap) <= 0.5);
      const bool rare = own.most.size() >= least_steps && seldom && real(gap.gap) >= long_enough * step;
      kinds[r][gap.call] = gap.saved && saved <= often && real(gap.gap) >= long_enough * step ? GapKind::save
                           : rare                                                             ? GapKind::stop
                                                                                              : GapKind::program;
    }
  }
  for (const std::vector<const LongGap*>& met : cold_gaps(ranks, long_enough * step)) {
    for (std::size_t r = 0; r < met.size(); ++r) {
      kinds[r][met[r]->call] = GapKind::cold;
    }
  }
  return kinds;
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
  const std::vector<std::vector<GapKind>> kinds = gap_kinds(run);
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
    {  // its room is needed again below
      RunChanges with = run.replay.as_it_was();
      change(with);
      alone = run.replay.ratio(with, true);
    }
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
