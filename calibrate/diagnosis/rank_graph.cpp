// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/rank_graph.hpp>
#include <headroom/calibrate/diagnosis/work_words.hpp>
#include <headroom/calibrate/traces/host_activity.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace headroom {
namespace {

/// Clocks of a GPU and its host agree to about this.
constexpr TraceTime slack = 2'000;
/// A launch whose work begins later than this waited for something that the trace does not tell.
constexpr TraceTime longest_reach = 50'000;
constexpr TraceTime usual_reach = 5'000;
/// A copy of fewer bytes reads a number back.
constexpr double least_copy = 1e6;
constexpr std::int64_t most_blocks = 2'147'483'647;

/// The op around a launch.
struct Around {
  std::uint32_t thread = 0;
  TraceTime begin = -1;
};

using SentBy = std::vector<std::pair<std::int64_t, std::int32_t>>;  // correlations and works, in order

SentBy::const_iterator first_of(const SentBy& sent, std::int64_t correlation) {
  return correlation < 0 ? sent.end()
                         : std::lower_bound(sent.begin(), sent.end(), std::pair{correlation, std::int32_t{-1}});
}

bool sends(const SentBy& sent, std::int64_t correlation) {
  const auto at = first_of(sent, correlation);
  return at != sent.end() && at->first == correlation;
}

/// Gives the room of a vector back; to assign {} would keep it.
template <class Items>
void free_room(Items& items) {
  Items{}.swap(items);
}

class GraphMaker {
 public:
  GraphMaker(const Timeline& timeline, std::int32_t device, std::vector<GraphWindow> steps)
      : timeline_{timeline}, device_{device}, activity_{timeline, false} {
    graph_.steps = std::move(steps);
  }

  /// `spent`: the timeline, whose parts may go once they are taken; nullptr: it stays.
  RankGraph make(Timeline* spent) {
    take_work();
    if (spent != nullptr) {
      free_room(spent->work);
      free_room(spent->products);
    }
    take_calls();
    if (spent != nullptr) {
      free_room(spent->host);
    }
    chain_streams();
    find_waits();
    find_orders();
    number_steps_of_calls();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] std::int32_t step_at(TraceTime at) const {
    const auto found = std::partition_point(graph_.steps.begin(), graph_.steps.end(),
                                            [&](const GraphWindow& step) { return step.end <= at; });
    const auto last = static_cast<std::int32_t>(graph_.steps.size()) - 1;
    return std::min(last, static_cast<std::int32_t>(found - graph_.steps.begin()));
  }

  void take_work() {
    std::unordered_map<std::uint32_t, std::int32_t> names;
    const TraceTime begin = graph_.steps.front().begin;
    const TraceTime end = graph_.steps.back().end;
    const auto within = static_cast<std::size_t>(std::count_if(
        timeline_.work.begin(), timeline_.work.end(),
        [&](const DeviceSpan& span) { return span.device == device_ && span.begin >= begin && span.begin < end; }));
    graph_.work.reserve(within);
    graph_.calls.reserve(within);
    sent_by_.reserve(within);
    for (const DeviceSpan& span : timeline_.work) {
      if (span.device != device_) {
        continue;
      }
      graph_.last = std::max(graph_.last, span.end);
      if (span.begin < begin || span.begin >= end) {
        continue;
      }
      const auto [name, fresh] = names.emplace(span.name, static_cast<std::int32_t>(graph_.names.size()));
      if (fresh) {
        graph_.names.push_back(timeline_.names.name(span.name));
      }
      GraphWork work;
      work.begin = span.begin;
      work.end = span.end;
      work.name = name->second;
      work.step = step_at(span.begin);
      work.work = span.work;
      work.stream = span.stream;
      work.blocks = static_cast<std::int32_t>(std::min(span.blocks, most_blocks));
      work.bytes = static_cast<float>(span.bytes);
      work.to_host = span.work == DeviceWork::copy && goes_to_host(graph_.names[static_cast<std::size_t>(work.name)]);
      if (span.work == DeviceWork::compute) {
        work.use = use_of(graph_.names[static_cast<std::size_t>(work.name)], "");
      }
      if (span.correlation >= 0) {
        sent_by_.emplace_back(span.correlation, static_cast<std::int32_t>(graph_.work.size()));
      }
      graph_.work.push_back(work);
    }
    std::sort(sent_by_.begin(), sent_by_.end());
    look_at_ops();
  }

  /// The innermost op around each launch: what it computes, and what kernels without a telling name are.
  void look_at_ops() {
    std::vector<std::vector<const HostSpan*>> open(timeline_.threads.size());
    for (const HostSpan& span : timeline_.host) {
      auto& stack = open[span.thread];
      while (!stack.empty() && stack.back()->end <= span.begin) {
        stack.pop_back();
      }
      if (span.work == HostWork::op) {
        stack.push_back(&span);
        continue;
      }
      if (span.work != HostWork::runtime || span.correlation < 0 || stack.empty()) {
        continue;
      }
      for (auto at = first_of(sent_by_, span.correlation); at != sent_by_.end() && at->first == span.correlation;
           ++at) {
        GraphWork& work = graph_.work[static_cast<std::size_t>(at->second)];
        if (work.work == DeviceWork::compute && work.use == WorkUse::other) {
          work.use = use_of("", timeline_.names.name(stack.back()->name));
        }
        if (const TracedProduct* product = product_of({span.thread, stack.back()->begin})) {
          work.flop = static_cast<float>(product->flop());
          work.wide = product->wide;
        }
      }
    }
  }

  [[nodiscard]] const TracedProduct* product_of(const Around& around) const {
    auto at = std::partition_point(timeline_.products.begin(), timeline_.products.end(),
                                   [&](const TracedProduct& product) { return product.begin < around.begin; });
    while (at != timeline_.products.end() && at->begin == around.begin) {
      if (at->thread == around.thread) {
        return &*at;
      }
      ++at;
    }
    return nullptr;
  }

  /// Calls that send work of the windows, and those between them, on the same threads, that wait.
  void take_calls() {
    std::set<std::uint32_t> threads;
    TraceTime first = 0;
    TraceTime last = -1;
    for (const HostSpan& span : timeline_.host) {
      if (span.work == HostWork::runtime && sends(sent_by_, span.correlation)) {
        threads.insert(span.thread);
        first = last < 0 ? span.begin : first;
        last = std::max(last, span.begin);
      }
    }
    if (last < 0) {
      return;
    }
    std::map<std::uint32_t, std::int64_t> order;  // threads as they first send
    TraceTime busy = first;
    TraceTime before = 0;
    bool any_before = false;
    for (const HostSpan& span : timeline_.host) {
      if (span.work != HostWork::runtime || !threads.contains(span.thread) || span.begin > last) {
        continue;
      }
      if (span.begin < first) {
        before = std::max(before, span.end);
        any_before = true;
        continue;
      }
      if (graph_.calls.empty()) {
        busy = any_before ? std::min(before, first) : std::min(first, graph_.steps.front().begin);
        graph_.host_begin = busy;
      }
      const std::string& name = timeline_.names.name(span.name);
      auto own_work = first_of(sent_by_, span.correlation);
      const bool launches_work = own_work != sent_by_.end() && own_work->first == span.correlation;
      const bool sync = waits_for_device(name, HostWork::runtime);
      const bool memory = is_memory_call(name);
      if (!launches_work && !sync && !memory) {
        continue;
      }
      GraphCall call;
      call.begin = span.begin;
      call.end = span.end;
      call.kind = memory ? CallKind::memory : sync ? CallKind::sync : CallKind::launch;
      if (span.begin > busy) {
        for (const std::uint32_t thread : threads) {
          call.data = std::max(call.data, activity_.in_data(thread, {busy, span.begin}));
        }
        call.gap = span.begin - busy - call.data;
      }
      busy = std::max(busy, span.end);
      const auto number = static_cast<std::int32_t>(graph_.calls.size());
      order.emplace(span.thread, static_cast<std::int64_t>(order.size()));
      if (launches_work) {
        const GraphWork& own = graph_.work[static_cast<std::size_t>(own_work->second)];
        const bool held = own.work == DeviceWork::copy && own.end <= span.end + 20'000 && own.end > span.begin &&
                          2 * (span.end - span.begin) > own.end - span.begin;
        if (held) {
          call.kind = own.bytes >= least_copy ? CallKind::copy : CallKind::sync;
          call.sent_back = own.to_host;
          call.waits = own_work->second;
        }
      }
      for (; own_work != sent_by_.end() && own_work->first == span.correlation; ++own_work) {
        GraphWork& work = graph_.work[static_cast<std::size_t>(own_work->second)];
        work.backward = work.call < 0 ? order[span.thread] > 0 : work.backward;
        work.call = work.call < 0 ? number : work.call;
      }
      graph_.calls.push_back(call);
    }
    graph_.calls.shrink_to_fit();
    free_room(sent_by_);
  }

  void chain_streams() {
    std::map<std::int32_t, std::int32_t> last;
    for (std::size_t i = 0; i < graph_.work.size(); ++i) {
      auto [at, fresh] = last.emplace(graph_.work[i].stream, -1);
      graph_.work[i].behind = at->second;
      at->second = static_cast<std::int32_t>(i);
    }
    for (const auto& [stream, work] : last) {
      streams_.emplace(stream, streams_.size());
    }
  }

  /// The work that each call which waits waits for: of what was sent before, what ended last before the call did.
  void find_waits() {
    // Works in the order of their calls, so that "sent before" is a prefix.
    std::vector<std::int32_t> sent;
    for (std::size_t i = 0; i < graph_.work.size(); ++i) {
      if (graph_.work[i].call >= 0) {
        sent.push_back(static_cast<std::int32_t>(i));
      }
    }
    std::stable_sort(sent.begin(), sent.end(), [&](std::int32_t a, std::int32_t b) {
      return graph_.work[static_cast<std::size_t>(a)].call < graph_.work[static_cast<std::size_t>(b)].call;
    });
    std::vector<std::int32_t> latest(streams_.size(), -1);
    std::size_t at = 0;
    for (std::size_t c = 0; c < graph_.calls.size(); ++c) {
      GraphCall& call = graph_.calls[c];
      while (at < sent.size() && graph_.work[static_cast<std::size_t>(sent[at])].call <= static_cast<std::int32_t>(c)) {
        latest[streams_[graph_.work[static_cast<std::size_t>(sent[at])].stream]] = sent[at];
        ++at;
      }
      if (call.waits >= 0 || call.kind == CallKind::launch) {
        continue;
      }
      TraceTime end = 0;
      for (std::int32_t candidate : latest) {
        // A stream that still works when the call has returned was not waited for, but what it had done before was.
        while (candidate >= 0 && graph_.work[static_cast<std::size_t>(candidate)].end > call.end + slack) {
          candidate = graph_.work[static_cast<std::size_t>(candidate)].behind;
        }
        if (candidate >= 0 && (call.waits < 0 || graph_.work[static_cast<std::size_t>(candidate)].end > end)) {
          end = graph_.work[static_cast<std::size_t>(candidate)].end;
          call.waits = candidate;
        }
      }
      // The driver hands memory out without waiting, unless the call lasted until the GPU was done.
      if (call.kind == CallKind::memory && end < call.begin + slack) {
        call.waits = -1;
      }
    }
  }

  /// What work of one stream waits for in another, and what its launch took to reach the GPU.
  void find_orders() {
    std::vector<std::int32_t> newest(streams_.size(), -1);  // by begin, of each stream
    for (std::size_t i = 0; i < graph_.work.size(); ++i) {
      GraphWork& work = graph_.work[i];
      const std::size_t own = streams_[work.stream];
      const TraceTime behind =
          work.behind >= 0 ? graph_.work[static_cast<std::size_t>(work.behind)].end : graph_.steps.front().begin;
      const TraceTime sent = work.call >= 0 ? graph_.calls[static_cast<std::size_t>(work.call)].begin : 0;
      std::int32_t other = -1;
      TraceTime ended = 0;
      for (std::size_t s = 0; s < newest.size(); ++s) {
        std::int32_t candidate = s == own ? -1 : newest[s];
        while (candidate >= 0 && graph_.work[static_cast<std::size_t>(candidate)].end > work.begin + slack) {
          candidate = graph_.work[static_cast<std::size_t>(candidate)].behind;
        }
        if (candidate >= 0 && graph_.work[static_cast<std::size_t>(candidate)].end > ended &&
            (work.call < 0 || graph_.work[static_cast<std::size_t>(candidate)].call < work.call)) {
          ended = graph_.work[static_cast<std::size_t>(candidate)].end;
          other = candidate;
        }
      }
      const bool waited =
          other >= 0 && ended > std::max(behind, sent + usual_reach) + slack && work.begin - ended < 4 * usual_reach;
      // A message goes out behind what its framework had sent to compute before: the event is recorded there.
      const bool behind_producer = other >= 0 && work.work == DeviceWork::communication &&
                                   graph_.work[static_cast<std::size_t>(other)].work == DeviceWork::compute;
      work.after = waited || behind_producer ? other : -1;
      const TraceTime ready = std::max(behind, work.after >= 0 ? ended : 0);
      if (work.call >= 0 && work.begin - ready > slack && work.begin - sent < longest_reach) {
        work.reach = static_cast<std::int32_t>(std::max<TraceTime>(0, work.begin - sent));
      } else {
        work.reach = static_cast<std::int32_t>(usual_reach);
        const TraceTime from = std::max(ready, work.call >= 0 ? sent + usual_reach : ready);
        work.lag = std::max<TraceTime>(0, work.begin - from);
      }
      newest[own] = static_cast<std::int32_t>(i);
    }
    wait_for_last_messages();
  }

  /// What a step computes first after its last message was sent waits for it, where it did begin after it.
  void wait_for_last_messages() {
    std::vector<std::int32_t> message(graph_.steps.size(), -1);
    for (std::size_t i = 0; i < graph_.work.size(); ++i) {
      const GraphWork& work = graph_.work[i];
      if (work.work == DeviceWork::communication && work.call >= 0) {
        std::int32_t& last = message[static_cast<std::size_t>(work.step)];
        last = last < 0 || graph_.work[static_cast<std::size_t>(last)].call < work.call ? static_cast<std::int32_t>(i)
                                                                                        : last;
      }
    }
    std::vector<bool> found(graph_.steps.size(), false);
    for (GraphWork& work : graph_.work) {
      const auto step = static_cast<std::size_t>(work.step);
      if (work.work != DeviceWork::compute || found[step] || message[step] < 0) {
        continue;
      }
      const GraphWork& last = graph_.work[static_cast<std::size_t>(message[step])];
      if (work.call > last.call) {
        found[step] = true;
        work.after = work.after < 0 && work.begin + slack >= last.end ? message[step] : work.after;
      }
    }
  }

  /// Of a call that sends work, its work's; of others that of the next that does.
  void number_steps_of_calls() {
    std::vector<std::int32_t> steps(graph_.calls.size(), -1);
    for (const GraphWork& work : graph_.work) {
      if (work.call >= 0) {
        steps[static_cast<std::size_t>(work.call)] = work.step;
      }
    }
    std::int32_t next = static_cast<std::int32_t>(graph_.steps.size()) - 1;
    for (std::size_t i = steps.size(); i-- > 0;) {
      next = steps[i] >= 0 ? std::min(next, steps[i]) : next;
      graph_.calls[i].step = next;
    }
  }

  const Timeline& timeline_;
  std::int32_t device_;
  HostActivity activity_;
  RankGraph graph_;
  SentBy sent_by_;
  std::map<std::int32_t, std::size_t> streams_;
};

}  // namespace

RankGraph rank_graph(const Timeline& timeline, std::int32_t device, std::vector<GraphWindow> steps) {
  return GraphMaker{timeline, device, std::move(steps)}.make(nullptr);
}

RankGraph rank_graph(Timeline&& timeline, std::int32_t device, std::vector<GraphWindow> steps) {
  return GraphMaker{timeline, device, std::move(steps)}.make(&timeline);
}

}  // namespace headroom
