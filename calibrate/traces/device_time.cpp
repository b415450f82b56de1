// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/device_time.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <string>
#include <unordered_map>

namespace headroom {
namespace {

struct Stretch {
  TraceTime begin = 0, end = 0;
};
using Stretches = std::vector<Stretch>;  // by begin, none touching another

Seconds seconds(TraceTime nanoseconds) {
  return Seconds{real(nanoseconds) * 1e-9};
}

TraceTime total(const Stretches& stretches) {
  TraceTime sum = 0;
  for (const Stretch& s : stretches) {
    sum += s.end - s.begin;
  }
  return sum;
}

/// Adds a stretch that begins no earlier than those before it.
void add(Stretches& stretches, Stretch s) {
  if (s.end <= s.begin) {
    return;
  }
  if (!stretches.empty() && s.begin <= stretches.back().end) {
    stretches.back().end = std::max(stretches.back().end, s.end);
  } else {
    stretches.push_back(s);
  }
}

Stretches both(const Stretches& a, const Stretches& b) {
  Stretches all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](const Stretch& x, const Stretch& y) { return x.begin < y.begin; });
  Stretches joined;
  for (const Stretch& s : all) {
    add(joined, s);
  }
  return joined;
}

/// What of the window the stretches leave.
Stretches rest_of(const Stretches& stretches, TraceTime begin, TraceTime end) {
  Stretches rest;
  TraceTime at = begin;
  for (const Stretch& s : stretches) {
    add(rest, {at, s.begin});
    at = s.end;
  }
  add(rest, {at, end});
  return rest;
}

bool holds(std::string_view name, std::string_view word) {
  return std::search(name.begin(), name.end(), word.begin(), word.end(),
                     [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; }) != name.end();
}

/// Calls and ops in which a host waits for its GPU: synchronisations, a number read back, a copy to the host that does
/// not return before it is done.
bool waits_for_device(std::string_view name, HostWork work) {
  if (work == HostWork::runtime) {
    return holds(name, "synchronize") || name == "cudaMemcpy" || name == "hipMemcpy" || name == "hipMemcpyWithStream";
  }
  return work == HostWork::op && (name == "aten::item" || name == "aten::_local_scalar_dense" ||
                                  name == "aten::nonzero" || name == "aten::is_nonzero");
}

bool fetches_samples(std::string_view name) {
  return holds(name, "dataloader") || holds(name, "data_loader") || holds(name, "next(iter") ||
         holds(name, "__next__") || holds(name, "data loading") || holds(name, "get_batch") ||
         holds(name, "load_batch");
}

/// What the threads of a host were doing, to be asked by time.
class HostActivity {
 public:
  explicit HostActivity(const Timeline& timeline) {
    std::map<std::uint32_t, std::vector<Stretch>> syncs, data;
    for (const HostSpan& span : timeline.host) {
      const std::string& name = timeline.names.name(span.name);
      if (waits_for_device(name, span.work)) {
        syncs[span.thread].push_back({span.begin, span.end});
      } else if (span.work != HostWork::runtime && span.work != HostWork::source && fetches_samples(name)) {
        data[span.thread].push_back({span.begin, span.end});
      }
      if (span.work == HostWork::runtime && span.correlation >= 0) {
        launches_.emplace(span.correlation, &span);
      }
    }
    const auto join = [](const std::vector<Stretch>& all) {
      Stretches joined;
      for (const Stretch& s : all) {
        add(joined, s);
      }
      return joined;
    };
    for (const auto& [thread, all] : syncs) {
      syncs_[thread] = join(all);
    }
    for (const auto& [thread, all] : data) {
      data_[thread] = join(all);
    }
  }

  [[nodiscard]] const HostSpan* launch_of(const DeviceSpan& work) const {
    const auto found = launches_.find(work.correlation);
    return work.correlation >= 0 && found != launches_.end() ? found->second : nullptr;
  }
  [[nodiscard]] TraceTime in_sync(std::uint32_t thread, Stretch s) const { return within(syncs_, thread, s); }
  /// Whether the thread was waiting for its GPU at that moment, so that the GPU ran dry.
  [[nodiscard]] bool waits_at(std::uint32_t thread, TraceTime at) const {
    return within(syncs_, thread, {at, at + 1}) > 0;
  }
  [[nodiscard]] TraceTime in_data(std::uint32_t thread, Stretch s) const { return within(data_, thread, s); }

 private:
  static TraceTime within(const std::map<std::uint32_t, Stretches>& threads, std::uint32_t thread, Stretch s) {
    const auto found = threads.find(thread);
    if (found == threads.end()) {
      return 0;
    }
    TraceTime sum = 0;
    auto at = std::partition_point(found->second.begin(), found->second.end(),
                                   [&](const Stretch& x) { return x.end <= s.begin; });
    for (; at != found->second.end() && at->begin < s.end; ++at) {
      sum += std::min(at->end, s.end) - std::max(at->begin, s.begin);
    }
    return sum;
  }

  std::map<std::uint32_t, Stretches> syncs_, data_;
  std::unordered_map<std::int64_t, const HostSpan*> launches_;
};

/// From a launch to the first moment of its work on a GPU that has nothing else to do: some 2 to 10 us (Gysi et al.,
/// and the launches of catalog data); what lasts longer waited for something.
constexpr TraceTime reach_of_launch = 10'000;

/// Shares a gap out over its causes.
IdleGap explained(const HostActivity& host, const DeviceSpan* next, Stretch gap, DeviceTime& time) {
  IdleGap answer{gap.begin, gap.end, IdleCause::ends, 0};
  std::array<TraceTime, idle_cause_count> parts{};
  const auto part = [&](IdleCause cause) -> TraceTime& { return parts[static_cast<std::size_t>(cause)]; };
  const HostSpan* const launch = next != nullptr ? host.launch_of(*next) : nullptr;
  if (next == nullptr) {
    part(IdleCause::ends) = gap.end - gap.begin;
  } else if (launch == nullptr) {
    part(IdleCause::host) = gap.end - gap.begin;
  } else {
    const TraceTime sent = std::clamp(launch->end, gap.begin, gap.end);
    const Stretch before{gap.begin, sent};
    const TraceTime sync = host.in_sync(launch->thread, before);
    const TraceTime data = std::min(host.in_data(launch->thread, before), before.end - before.begin - sync);
    // A host that waited until the GPU had nothing left could have sent the next work meanwhile.
    const TraceTime rest = before.end - before.begin - sync - data;
    const bool ran_dry = host.waits_at(launch->thread, gap.begin);
    part(IdleCause::data) = data;
    part(IdleCause::sync) = sync + (ran_dry ? rest : 0);
    part(IdleCause::host) = ran_dry ? 0 : rest;
    const TraceTime after = gap.end - sent;
    part(launch->begin > gap.begin - reach_of_launch && after <= reach_of_launch ? IdleCause::launch
                                                                                 : IdleCause::wait) = after;
  }
  for (std::size_t i = 0; i < idle_cause_count; ++i) {
    time.idle[i] += seconds(parts[i]);
    answer.cause = parts[i] > parts[static_cast<std::size_t>(answer.cause)] ? static_cast<IdleCause>(i) : answer.cause;
  }
  return answer;
}

}  // namespace

Seconds DeviceTime::window() const noexcept {
  return seconds(end - begin);
}

Seconds DeviceTime::all_idle() const noexcept {
  Seconds sum{};
  for (const Seconds one : idle) {
    sum += one;
  }
  return sum;
}

std::vector<std::int32_t> devices_with_work(const Timeline& timeline) {
  std::vector<std::int32_t> devices;
  for (const DeviceSpan& span : timeline.work) {
    devices.push_back(span.device);
  }
  for (const DeviceRange& range : timeline.ranges) {
    devices.push_back(range.device);
  }
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

DeviceTime device_time(const Timeline& timeline, std::int32_t device) {
  bool any = false;
  TraceTime begin = 0;
  TraceTime end = 0;
  const auto reach = [&](std::int32_t of, TraceTime from, TraceTime to) {
    if (of == device) {
      begin = any ? std::min(begin, from) : from;
      end = any ? std::max(end, to) : to;
      any = true;
    }
  };
  for (const DeviceSpan& span : timeline.work) {
    reach(span.device, span.begin, span.end);
  }
  for (const DeviceRange& range : timeline.ranges) {
    reach(range.device, range.begin, range.end);
  }
  return device_time(timeline, device, begin, end);
}

DeviceTime device_time(const Timeline& timeline, std::int32_t device, TraceTime begin, TraceTime end) {
  DeviceTime time;
  time.device = device;
  time.begin = begin;
  time.end = std::max(begin, end);
  Stretches computing, communication, copies;
  std::vector<const DeviceSpan*> starts;
  for (const DeviceSpan& span : timeline.work) {
    if (span.device != device || span.end < begin) {
      continue;
    }
    if (span.begin >= end) {
      starts.push_back(&span);  // what a last gap waits for
      break;
    }
    const Stretch s{std::max(span.begin, begin), std::min(span.end, end)};
    time.kernels += span.begin >= begin && span.work != DeviceWork::copy && span.work != DeviceWork::fill ? 1 : 0;
    starts.push_back(&span);
    switch (span.work) {
      case DeviceWork::compute: add(computing, s); break;
      case DeviceWork::communication: add(communication, s); break;
      default: add(copies, s);
    }
  }
  const Stretches moving = both(computing, communication);
  const Stretches busy = both(moving, copies);
  time.computing = seconds(total(computing));
  time.communication = seconds(total(communication));
  time.copies = seconds(total(copies));
  time.exposed_communication = seconds(total(moving) - total(computing));
  time.exposed_copies = seconds(total(busy) - total(moving));
  const HostActivity host{timeline};
  for (const Stretch& gap : rest_of(busy, time.begin, time.end)) {
    const auto next =
        std::partition_point(starts.begin(), starts.end(), [&](const DeviceSpan* s) { return s->begin < gap.end; });
    const DeviceSpan* const work = next != starts.end() ? *next : nullptr;
    IdleGap found = explained(host, work, gap, time);
    found.next = work != nullptr ? static_cast<std::size_t>(work - timeline.work.data()) : timeline.work.size();
    time.gaps.push_back(found);
  }
  return time;
}

Seconds host_work(const Timeline& timeline, TraceTime begin, TraceTime end) {
  std::map<std::uint32_t, std::int64_t> launches;
  for (const HostSpan& span : timeline.host) {
    if (span.work == HostWork::runtime && span.correlation >= 0 && span.begin >= begin && span.begin < end) {
      ++launches[span.thread];
    }
  }
  const auto most = std::max_element(launches.begin(), launches.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const TraceTime waits = most == launches.end() ? 0 : HostActivity{timeline}.in_sync(most->first, {begin, end});
  return seconds(end - begin - waits);
}

std::vector<NamedTime> time_by_name(const Timeline& timeline, std::int32_t device) {
  std::vector<NamedTime> all;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const DeviceSpan& span : timeline.work) {
    if (span.device != device) {
      continue;
    }
    const auto [place, fresh] = places.emplace(span.name, all.size());
    if (fresh) {
      all.push_back({span.name, span.work, {}, 0});
    }
    all[place->second].time += seconds(span.end - span.begin);
    ++all[place->second].count;
  }
  std::stable_sort(all.begin(), all.end(), [](const NamedTime& a, const NamedTime& b) { return a.time > b.time; });
  return all;
}

}  // namespace headroom
