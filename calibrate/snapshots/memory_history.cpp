// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/snapshots/memory_history.hpp>
#include <headroom/model/allocator/allocator.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace headroom {
namespace {

Bytes bytes(std::uint64_t count) {
  return Bytes{static_cast<double>(count)};
}

struct Live {
  std::uint64_t size = 0;
  std::uint32_t site = 0;
};

/// Stretches of addresses, none touching another of its own.
class Stretches {
 public:
  void add(std::uint64_t at, std::uint64_t size) {
    if (size > 0) {
      total_ += size;
      parts_[at] = std::max(parts_[at], size);
    }
  }
  /// Takes a stretch out, wherever it lies within one.
  void remove(std::uint64_t at, std::uint64_t size) {
    auto part = parts_.upper_bound(at);
    if (part == parts_.begin() || size == 0) {
      return;
    }
    --part;
    const std::uint64_t begin = part->first;
    const std::uint64_t end = begin + part->second;
    if (at >= end) {
      return;
    }
    const std::uint64_t cut = std::min(size, end - at);
    parts_.erase(part);
    total_ -= std::min(total_, cut);
    if (at > begin) {
      parts_[begin] = at - begin;
    }
    if (at + cut < end) {
      parts_[at + cut] = end - at - cut;
    }
  }
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& parts() const noexcept { return parts_; }

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;
  std::uint64_t total_ = 0;
};

/// A device's memory at one moment, which walks back in time.
class DeviceMemory {
 public:
  DeviceMemory(const MemorySnapshot& snapshot, std::int64_t device) {
    for (const SnapshotSegment& segment : snapshot.segments) {
      if (segment.device != device) {
        continue;
      }
      segments_.add(segment.address, segment.size);
      expandable_ = expandable_ || segment.expandable;
      for (const SnapshotBlock& block : segment.blocks) {
        if (block.state == BlockState::live) {
          live_[block.address] = {block.requested, block.site};
          allocated_ += block.requested;
        }
      }
    }
  }

  void undo(const MemoryEvent& event) {
    switch (event.kind) {
      case MemoryEventKind::alloc:
        if (const auto at = live_.find(event.address); at != live_.end()) {
          allocated_ -= at->second.size;
          live_.erase(at);
        }
        break;
      case MemoryEventKind::free:
        if (live_.emplace(event.address, Live{event.size, 0}).second) {
          allocated_ += event.size;
        }
        break;
      case MemoryEventKind::segment: segments_.remove(event.address, event.size); break;
      case MemoryEventKind::segment_free: segments_.add(event.address, event.size); break;
      case MemoryEventKind::out_of_memory: break;
    }
  }

  [[nodiscard]] std::uint64_t allocated() const noexcept { return allocated_; }
  [[nodiscard]] std::uint64_t reserved() const noexcept { return segments_.total(); }
  [[nodiscard]] bool expandable() const noexcept { return expandable_; }
  [[nodiscard]] const std::map<std::uint64_t, Live>& live() const noexcept { return live_; }

  /// Free bytes within segments, and the largest piece; blocks are rounded up as the allocator does.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> free_pieces() const {
    std::uint64_t sum = 0;
    std::uint64_t largest = 0;
    for (const auto& [begin, size] : segments_.parts()) {
      const std::uint64_t end = begin + size;
      std::uint64_t at = begin;
      for (auto block = live_.lower_bound(begin); at < end; ++block) {
        const std::uint64_t next = block == live_.end() ? end : std::min(block->first, end);
        const std::uint64_t piece = next - std::min(at, next);
        sum += piece;
        largest = std::max(largest, piece);
        if (next == end) {
          break;
        }
        const std::uint64_t rounded = (block->second.size + caching::block - 1) / caching::block * caching::block;
        at = std::max(at, block->first + std::max(rounded, caching::block));
      }
    }
    return {sum, largest};
  }

 private:
  Stretches segments_;
  std::map<std::uint64_t, Live> live_;
  std::uint64_t allocated_ = 0;
  bool expandable_ = false;
};

/// Plays the record up to a refused request on the allocator's model with expandable segments (model/allocator).
std::optional<bool> grants_expandable(const DeviceMemory& before,
                                      const std::vector<MemoryEvent>& events,
                                      std::size_t until,
                                      std::uint64_t capacity) {
  constexpr std::size_t most_events = 2'000'000;
  constexpr std::uint64_t most_capacity = std::uint64_t{4} << 40U;
  if (until > most_events || capacity > most_capacity) {
    return std::nullopt;
  }
  CachingAllocator allocator{capacity, true};
  std::unordered_map<std::uint64_t, std::uint64_t> places;
  for (const auto& [address, block] : before.live()) {
    const auto at = allocator.allocate(std::max<std::uint64_t>(1, block.size));
    if (!at) {
      return false;
    }
    places[address] = *at;
  }
  for (std::size_t i = 0; i < until; ++i) {
    const MemoryEvent& event = events[i];
    if (event.kind == MemoryEventKind::alloc) {
      const auto at =
          places.contains(event.address) ? std::nullopt : allocator.allocate(std::max<std::uint64_t>(1, event.size));
      if (!at) {
        return false;
      }
      places[event.address] = *at;
    } else if (event.kind == MemoryEventKind::free) {
      if (const auto at = places.find(event.address); at != places.end()) {
        allocator.release(at->second);
        places.erase(at);
      }
    }
  }
  return allocator.allocate(std::max<std::uint64_t>(1, events[until].size)).has_value();
}

std::vector<MemoryHolder> holders_at(const MemorySnapshot& snapshot,
                                     const DeviceMemory& peak,
                                     const std::vector<MemoryEvent>& events,
                                     std::size_t until) {
  std::unordered_map<std::uint64_t, std::uint32_t> sites;
  for (std::size_t i = 0; i < until; ++i) {
    if (events[i].kind == MemoryEventKind::alloc) {
      sites[events[i].address] = events[i].site;
    } else if (events[i].kind == MemoryEventKind::free) {
      sites.erase(events[i].address);
    }
  }
  std::map<std::uint32_t, MemoryHolder> by_site;
  for (const auto& [address, block] : peak.live()) {
    const auto told = sites.find(address);
    const std::uint32_t site = told != sites.end() ? told->second : block.site;
    MemoryHolder& holder = by_site[site];
    holder.site = snapshot.sites.name(site);
    holder.held += bytes(block.size);
    ++holder.blocks;
  }
  std::vector<MemoryHolder> holders;
  for (auto& [site, holder] : by_site) {
    holders.push_back(std::move(holder));
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const MemoryHolder& a, const MemoryHolder& b) { return a.held > b.held; });
  return holders;
}

MemoryHistory history_of(const MemorySnapshot& snapshot, std::int64_t device) {
  static const std::vector<MemoryEvent> none;
  const auto place = static_cast<std::size_t>(device);
  const std::vector<MemoryEvent>& events = place < snapshot.events.size() ? snapshot.events[place] : none;
  constexpr std::size_t most_moments = 24;
  const std::size_t stride = std::max<std::size_t>(1, (events.size() + most_moments - 1) / most_moments);
  MemoryHistory history;
  history.device = device;
  DeviceMemory memory{snapshot, device};
  history.allocated = bytes(memory.allocated());
  history.reserved = bytes(memory.reserved());
  const auto [sum, largest] = memory.free_pieces();
  history.held_free = bytes(sum);
  history.largest = bytes(largest);
  const auto moment = [&](std::size_t event) {
    return MemoryMoment{event, event < events.size() ? events[event].time_us : 0, bytes(memory.allocated()),
                        bytes(memory.reserved())};
  };
  history.peak = moment(events.size());
  history.moments.push_back(history.peak);
  std::size_t refused_at = events.size();
  for (std::size_t i = events.size(); i-- > 0;) {
    const MemoryEvent& event = events[i];
    if (event.kind == MemoryEventKind::out_of_memory && !history.refused) {
      const auto [free, piece] = memory.free_pieces();
      history.refused = RefusedRequest{bytes(event.size),
                                       bytes(event.address),
                                       bytes(free),
                                       bytes(piece),
                                       bytes(memory.allocated()),
                                       bytes(memory.reserved()),
                                       snapshot.sites.name(event.site),
                                       std::nullopt};
      refused_at = i;
    }
    memory.undo(event);
    if (bytes(memory.allocated()) > history.peak.allocated) {
      history.peak = moment(i);
    }
    if (i % stride == 0) {
      history.moments.push_back(moment(i));
    }
  }
  std::reverse(history.moments.begin(), history.moments.end());
  const auto after = std::lower_bound(history.moments.begin(), history.moments.end(), history.peak.event,
                                      [](const MemoryMoment& m, std::size_t event) { return m.event < event; });
  if (after == history.moments.end() || after->event != history.peak.event) {
    history.moments.insert(after, history.peak);
  }
  if (history.refused && !memory.expandable()) {
    const RefusedRequest& refused = *history.refused;
    history.refused->expandable_grants = grants_expandable(
        memory, events, refused_at, static_cast<std::uint64_t>((refused.reserved + refused.device_free).raw()));
  }
  DeviceMemory peak{snapshot, device};
  for (std::size_t i = events.size(); i-- > history.peak.event;) {
    peak.undo(events[i]);
  }
  history.holders = holders_at(snapshot, peak, events, history.peak.event);
  return history;
}

}  // namespace

std::vector<MemoryHistory> memory_histories(const MemorySnapshot& snapshot) {
  std::set<std::int64_t> devices;
  for (const SnapshotSegment& segment : snapshot.segments) {
    devices.insert(segment.device);
  }
  for (std::size_t i = 0; i < snapshot.events.size(); ++i) {
    if (!snapshot.events[i].empty()) {
      devices.insert(static_cast<std::int64_t>(i));
    }
  }
  std::vector<MemoryHistory> histories;
  for (const std::int64_t device : devices) {
    if (device >= 0) {
      histories.push_back(history_of(snapshot, device));
    }
  }
  return histories;
}

}  // namespace headroom
