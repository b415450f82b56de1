// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/run_replay.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace headroom {
namespace {

/// Ends of one message on two ranks of one clock lie no further apart: a kernel sees the last flag of its peer within
/// some microseconds, and clocks drift by as much within a trace.
constexpr TraceTime one_end = 60'000;
/// A call that only sends takes no longer; what does waited for a place in the driver's queue.
constexpr TraceTime longest_launch = 30'000;

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

/// Messages of a rank by step number, in the order in which they were sent.
std::map<std::int64_t, std::vector<std::int32_t>> messages_of(const RankGraph& graph) {
  std::map<std::int64_t, std::vector<std::int32_t>> all;
  for (std::size_t i = 0; i < graph.work.size(); ++i) {
    if (graph.work[i].work == DeviceWork::communication) {
      const GraphWindow& step = graph.steps[at(graph.work[i].step)];
      all[step.number].push_back(static_cast<std::int32_t>(i));
    }
  }
  for (auto& [step, works] : all) {
    std::stable_sort(works.begin(), works.end(),
                     [&](std::int32_t a, std::int32_t b) { return graph.work[at(a)].call < graph.work[at(b)].call; });
  }
  return all;
}

}  // namespace

RunReplay::RunReplay(std::vector<const RankGraph*> graphs) : graphs_{std::move(graphs)} {
  offsets_.assign(graphs_.size(), 0);
  for (const RankGraph* graph : graphs_) {
    meeting_of_.emplace_back(graph->work.size(), -1);
  }
  find_meetings();
  order_events();
  for (std::size_t r = 0; r < graphs_.size(); ++r) {
    const RankGraph& graph = *graphs_[r];
    RankChanges own;
    own.gap.reserve(graph.calls.size());
    own.call.reserve(graph.calls.size());
    own.waits.reserve(graph.calls.size());
    own.work.reserve(graph.work.size());
    for (const GraphCall& call : graph.calls) {
      own.gap.push_back(call.gap + call.data);
      const TraceTime lasts = call.end - call.begin;
      const TraceTime waited = call.waits >= 0 ? graph.work[at(call.waits)].end : call.begin;
      own.call.push_back(call.kind == CallKind::launch ? std::min(lasts, longest_launch)
                         : waited > call.begin         ? std::max<TraceTime>(0, call.end - waited)
                                                       : lasts);
      own.waits.push_back(call.waits >= 0 ? 1 : 0);
    }
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      const std::int32_t meeting = meeting_of_[r][i];
      own.work.push_back(meeting >= 0 ? meetings_[at(meeting)].lasts : graph.work[i].lasts());
    }
    was_.push_back(std::move(own));
  }
  unchanged_ = time(was_);
  unchanged_settled_ = time(was_, true);
}

void RunReplay::find_meetings() {
  if (graphs_.size() < 2) {
    return;
  }
  struct Place {
    std::size_t rank;
    std::int32_t work;
  };
  std::map<std::pair<std::int64_t, std::size_t>, std::vector<Place>> places;
  std::vector<std::map<std::int64_t, std::vector<std::int32_t>>> all;
  for (const RankGraph* graph : graphs_) {
    all.push_back(messages_of(*graph));
  }
  for (const auto& [step, first] : all.front()) {
    for (std::size_t r = 0; r < graphs_.size(); ++r) {
      const auto found = all[r].find(step);
      if (found == all[r].end() || found->second.size() != first.size()) {
        continue;
      }
      for (std::size_t k = 0; k < first.size(); ++k) {
        places[{step, k}].push_back({r, found->second[k]});
      }
    }
  }
  // Clocks: the middle of the differences of ends to the first rank's.
  std::vector<std::vector<TraceTime>> differences(graphs_.size());
  for (const auto& [place, who] : places) {
    for (const Place& other : who) {
      if (who.front().rank == 0) {
        differences[other.rank].push_back(graphs_[0]->work[at(who.front().work)].end -
                                          graphs_[other.rank]->work[at(other.work)].end);
      }
    }
  }
  for (std::size_t r = 1; r < graphs_.size(); ++r) {
    auto& d = differences[r];
    if (!d.empty()) {
      std::nth_element(d.begin(), d.begin() + static_cast<std::ptrdiff_t>(d.size() / 2), d.end());
      offsets_[r] = d[d.size() / 2];
    }
  }
  for (auto& [place, who] : places) {
    const auto end = [&](const Place& p) { return graphs_[p.rank]->work[at(p.work)].end + offsets_[p.rank]; };
    std::stable_sort(who.begin(), who.end(), [&](const Place& a, const Place& b) { return end(a) < end(b); });
    for (std::size_t i = 0; i < who.size();) {
      std::size_t j = i + 1;
      while (j < who.size() && end(who[j]) - end(who[j - 1]) <= one_end) {
        ++j;
      }
      if (j - i > 1) {
        RankMeeting meeting;
        for (std::size_t k = i; k < j; ++k) {
          const TraceTime lasts = graphs_[who[k].rank]->work[at(who[k].work)].lasts();
          meeting.lasts = k == i ? lasts : std::min(meeting.lasts, lasts);
          meeting.who.emplace_back(who[k].rank, who[k].work);
          meeting_of_[who[k].rank][at(who[k].work)] = static_cast<std::int32_t>(meetings_.size());
        }
        meetings_.push_back(std::move(meeting));
      }
      i = j;
    }
  }
}

void RunReplay::order_events() {
  std::size_t events = 0;
  for (const RankGraph* graph : graphs_) {
    events += graph->work.size() + graph->calls.size() +
              static_cast<std::size_t>(std::count_if(graph->calls.begin(), graph->calls.end(),
                                                     [](const GraphCall& call) { return call.waits >= 0; }));
  }
  order_.reserve(events);
  for (std::size_t r = 0; r < graphs_.size(); ++r) {
    const RankGraph& graph = *graphs_[r];
    const auto rank = static_cast<std::uint32_t>(r);
    for (std::size_t i = 0; i < graph.calls.size(); ++i) {
      const auto which = static_cast<std::int32_t>(i);
      order_.push_back({graph.calls[i].begin + offsets_[r], rank, Event::call, which});
      if (graph.calls[i].waits >= 0) {
        // No earlier than the work that it waits for was sent to the GPU.
        const TraceTime back = std::max(graph.calls[i].end, graph.work[at(graph.calls[i].waits)].begin + 1);
        order_.push_back({back + offsets_[r], rank, Event::back, which});
      }
    }
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      const std::int32_t call = graph.work[i].call;
      const TraceTime sent = call >= 0 ? graph.calls[at(call)].begin : graph.work[i].begin;
      order_.push_back(
          {std::max(sent, graph.work[i].begin) + offsets_[r], rank, Event::work, static_cast<std::int32_t>(i)});
    }
  }
  // Of equals those of lower ranks and numbers first, without the room that a stable sort takes.
  std::sort(order_.begin(), order_.end(), [](const Ordered& a, const Ordered& b) {
    if (a.at != b.at) {
      return a.at < b.at;
    }
    if (a.event != b.event) {
      return a.event < b.event;
    }
    return a.rank != b.rank ? a.rank < b.rank : a.which < b.which;
  });
}

/// Times of one replay.
struct RunReplay::Clock {
  std::vector<std::vector<TraceTime>> call, begin, end;  // of calls their begin; of works both
  std::vector<TraceTime> host;
};

Seconds RunReplay::time(const RunChanges& changes, bool settled) const {
  constexpr TraceTime unset = std::numeric_limits<TraceTime>::min();
  Clock clock;
  for (std::size_t r = 0; r < graphs_.size(); ++r) {
    clock.call.emplace_back(graphs_[r]->calls.size(), unset);
    clock.begin.emplace_back(graphs_[r]->work.size(), unset);
    clock.end.emplace_back(graphs_[r]->work.size(), unset);
    clock.host.push_back(graphs_[r]->host_begin + offsets_[r]);
  }
  const auto end_of = [&](std::size_t r, std::int32_t which) -> TraceTime {
    if (which < 0) {
      return unset;
    }
    TraceTime& end = clock.end[r][at(which)];
    const std::int32_t met = meeting_of_[r][at(which)];
    if (end != unset || met < 0) {
      return end;
    }
    const RankMeeting& meeting = meetings_[at(met)];
    TraceTime last = unset;
    TraceTime lasts = std::numeric_limits<TraceTime>::max();
    for (const auto& [rank, work] : meeting.who) {
      last = std::max(last, clock.begin[rank][at(work)]);
      lasts = std::min(lasts, changes[rank].work[at(work)]);
    }
    for (const auto& [rank, work] : meeting.who) {
      if (clock.begin[rank][at(work)] != unset) {
        clock.end[rank][at(work)] = last + lasts;
      }
    }
    return end;
  };
  for (const Ordered& next : order_) {
    const std::size_t r = next.rank;
    const RankGraph& graph = *graphs_[r];
    const RankChanges& change = changes[r];
    if (next.event == Event::work) {
      const GraphWork& work = graph.work[at(next.which)];
      TraceTime ready = std::max(end_of(r, work.behind), end_of(r, work.after));
      const TraceTime sent = work.call >= 0 ? clock.call[r][at(work.call)] + work.reach : unset;
      ready = ready == unset ? graph.steps.front().begin + offsets_[r] : ready;
      const TraceTime begin = std::max(ready, sent) + work.lag;
      clock.begin[r][at(next.which)] = begin;
      if (meeting_of_[r][at(next.which)] < 0) {
        clock.end[r][at(next.which)] = begin + change.work[at(next.which)];
      }
    } else if (next.event == Event::call) {
      const TraceTime begin = clock.host[r] + change.gap[at(next.which)];
      clock.call[r][at(next.which)] = begin;
      clock.host[r] = begin + change.call[at(next.which)];
    } else if (change.waits[at(next.which)] != 0) {
      const GraphCall& call = graph.calls[at(next.which)];
      const TraceTime done = end_of(r, call.waits);
      // Calls of other threads may have gone on meanwhile: their times moved with the host's.
      clock.host[r] = std::max(clock.host[r], done == unset ? unset : done + change.call[at(next.which)]);
    }
  }
  double sum = 0.0;
  for (std::size_t r = 0; r < graphs_.size(); ++r) {
    const RankGraph& graph = *graphs_[r];
    TraceTime begin = graph.steps.front().begin + offsets_[r];
    TraceTime last = begin;
    TraceTime first = begin;  // end of the first step
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      const TraceTime end = end_of(r, static_cast<std::int32_t>(i));
      last = std::max(last, end);
      first = graph.work[i].step == 0 ? std::max(first, end) : first;
    }
    begin = settled && graph.steps.size() > 2 ? first : begin;
    sum += 1e-9 * real(last - begin);
  }
  return Seconds{sum / real(static_cast<std::int64_t>(graphs_.size()))};
}

double RunReplay::ratio(const RunChanges& changes, bool settled) const {
  const Seconds was = settled ? unchanged_settled_ : unchanged_;
  return was > Seconds{} ? time(changes, settled) / was : 1.0;
}

}  // namespace headroom
