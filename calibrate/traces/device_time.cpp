// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/traces/device_time.hpp>
#include <headroom/calibrate/traces/host_activity.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace headroom {
namespace {

using Stretch = TraceStretch;
using Stretches = TraceStretches;

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

Stretches both(const Stretches& a, const Stretches& b) {
  Stretches all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](const Stretch& x, const Stretch& y) { return x.begin < y.begin; });
  Stretches joined;
  for (const Stretch& s : all) {
    add_stretch(joined, s);
  }
  return joined;
}

/// What of the window the stretches leave.
Stretches rest_of(const Stretches& stretches, TraceTime begin, TraceTime end) {
  Stretches rest;
  TraceTime at = begin;
  for (const Stretch& s : stretches) {
    add_stretch(rest, {at, s.begin});
    at = s.end;
  }
  add_stretch(rest, {at, end});
  return rest;
}

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

namespace {

DeviceTime time_within(const Timeline& timeline,
                       const HostActivity& host,
                       const std::vector<const DeviceSpan*>& all,
                       std::size_t& from,
                       std::int32_t device,
                       TraceWindow window,
                       bool gaps) {
  const auto [begin, end] = window;
  DeviceTime time;
  time.device = device;
  time.begin = begin;
  time.end = std::max(begin, end);
  Stretches computing, communication, copies;
  while (from < all.size() && all[from]->end < begin) {  // of works before, few are still going on
    ++from;
  }
  std::size_t last = from;
  for (; last < all.size() && all[last]->begin < end; ++last) {
    const DeviceSpan& span = *all[last];
    const Stretch s{std::max(span.begin, begin), std::min(span.end, end)};
    time.kernels += span.begin >= begin && span.work != DeviceWork::copy && span.work != DeviceWork::fill ? 1 : 0;
    switch (span.work) {
      case DeviceWork::compute: add_stretch(computing, s); break;
      case DeviceWork::communication: add_stretch(communication, s); break;
      default: add_stretch(copies, s);
    }
  }
  const Stretches moving = both(computing, communication);
  const Stretches busy = both(moving, copies);
  time.computing = seconds(total(computing));
  time.communication = seconds(total(communication));
  time.copies = seconds(total(copies));
  time.exposed_communication = seconds(total(moving) - total(computing));
  time.exposed_copies = seconds(total(busy) - total(moving));
  for (const Stretch& gap : rest_of(busy, time.begin, time.end)) {
    const auto next =
        std::partition_point(all.begin(), all.end(), [&](const DeviceSpan* s) { return s->begin < gap.end; });
    const DeviceSpan* const work = next != all.end() ? *next : nullptr;
    IdleGap found = explained(host, work, gap, time);
    found.next = work != nullptr ? static_cast<std::size_t>(work - timeline.work.data()) : timeline.work.size();
    if (gaps) {
      time.gaps.push_back(found);
    }
  }
  return time;
}

}  // namespace

std::vector<DeviceTime> device_times(const Timeline& timeline,
                                     std::int32_t device,
                                     std::span<const TraceWindow> windows,
                                     bool gaps) {
  std::vector<const DeviceSpan*> all;
  all.reserve(timeline.work.size());
  for (const DeviceSpan& span : timeline.work) {
    if (span.device == device) {
      all.push_back(&span);
    }
  }
  const HostActivity host{timeline};
  std::vector<DeviceTime> times;
  std::size_t from = 0;
  for (const TraceWindow& window : windows) {
    times.push_back(time_within(timeline, host, all, from, device, window, gaps));
  }
  return times;
}

DeviceTime device_time(const Timeline& timeline, std::int32_t device, TraceTime begin, TraceTime end) {
  const TraceWindow window{begin, end};
  return std::move(device_times(timeline, device, {&window, 1}).front());
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
