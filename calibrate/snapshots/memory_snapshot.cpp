// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/pickle/call_site.hpp>
#include <headroom/calibrate/snapshots/memory_snapshot.hpp>
#include <headroom/core/diagnostic.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace headroom {
namespace {

using Id = PlainData::Id;

/// Words of the history, and what they do; frees that are only asked for ("free_requested"), "snapshot" and annotations
/// are passed over. Words and keys: PyTorch, torch/cuda/_memory_viz.py.
constexpr std::array<std::pair<std::string_view, MemoryEventKind>, 7> event_words{{
    {"alloc", MemoryEventKind::alloc},
    {"free_completed", MemoryEventKind::free},
    {"segment_alloc", MemoryEventKind::segment},
    {"segment_map", MemoryEventKind::segment},
    {"segment_free", MemoryEventKind::segment_free},
    {"segment_unmap", MemoryEventKind::segment_free},
    {"oom", MemoryEventKind::out_of_memory},
}};

class SnapshotReader {
 public:
  SnapshotReader(const PlainData& data, const std::string& file) : data_{data} {
    snapshot_.file = file;
    snapshot_.sites.number("");
  }

  MemorySnapshot read() {
    std::size_t place = 0;
    for (const Id segment : data_.items(data_.find(data_.root(), "segments"))) {
      read_segment(segment, place++);
    }
    for (const Id device : data_.items(data_.find(data_.root(), "device_traces"))) {
      snapshot_.events.emplace_back();
      place = 0;
      for (const Id event : data_.items(device)) {
        read_event(event, place++);
      }
    }
    problems_.throw_if_any();
    return std::move(snapshot_);
  }

 private:
  void fail(std::string message) { problems_.add(snapshot_.file, {}, std::move(message)); }

  /// No GPU has more than 2^48 addresses of memory.
  [[nodiscard]] std::optional<std::uint64_t> bytes_of(Id table, std::string_view key) const {
    constexpr std::int64_t most = std::int64_t{1} << 48U;
    const std::optional<std::int64_t> value = data_.whole(data_.find(table, key));
    return value && *value >= 0 && *value < most ? std::optional{static_cast<std::uint64_t>(*value)} : std::nullopt;
  }
  /// Addresses use up to 57 bits; those of hosts that count from the top are negative.
  [[nodiscard]] std::optional<std::uint64_t> address_of(Id table, std::string_view key) const {
    const std::optional<std::int64_t> value = data_.whole(data_.find(table, key));
    return value && *value >= 0 && *value < (std::int64_t{1} << 60U) ? std::optional{static_cast<std::uint64_t>(*value)}
                                                                     : std::nullopt;
  }

  std::uint32_t site_of(Id entry) {
    const Id frames = data_.find(entry, "frames");
    if (frames == PlainData::nothing) {
      return 0;
    }
    const auto [at, fresh] = sites_.try_emplace(frames, 0);
    if (fresh) {
      at->second = snapshot_.sites.number(call_site(data_, frames));
    }
    return at->second;
  }

  void read_segment(Id about, std::size_t place) {
    const std::string where = "segment " + std::to_string(place) + ": ";
    const auto address = address_of(about, "address");
    const auto size = bytes_of(about, "total_size");
    if (!address || !size || *size == 0) {
      fail(where + "it needs an address and a total_size above 0");
      return;
    }
    SnapshotSegment segment;
    segment.device = data_.whole(data_.find(about, "device")).value_or(0);
    segment.address = *address;
    segment.size = *size;
    segment.expandable = data_.flag(data_.find(about, "is_expandable")).value_or(false);
    std::uint64_t at = *address;
    for (const Id told : data_.items(data_.find(about, "blocks"))) {
      const auto bytes = bytes_of(told, "size");
      if (!bytes) {
        fail(where + "a block has no size");
        return;
      }
      SnapshotBlock block;
      block.address = address_of(told, "address").value_or(at);  // before 2.1 blocks followed each other without one
      block.size = *bytes;
      const std::string_view state = data_.text(data_.find(told, "state"));
      block.state = state == "inactive" ? BlockState::free : BlockState::live;
      // Before 2.1 a block's history held what was asked for, and who asked.
      const std::span<const Id> history = data_.items(data_.find(told, "history"));
      const Id asked = history.empty() ? told : history.front();
      block.requested =
          std::min(*bytes, bytes_of(asked, history.empty() ? "requested_size" : "real_size").value_or(*bytes));
      block.site = site_of(asked);
      if (block.address < at || block.size > *address + *size - std::min(block.address, *address + *size)) {
        fail(where + "the block at " + std::to_string(block.address) + " of " + std::to_string(block.size) +
             " bytes overlaps another or leaves it");
        return;
      }
      at = block.address + block.size;
      segment.blocks.push_back(block);
    }
    snapshot_.segments.push_back(std::move(segment));
  }

  void read_event(Id about, std::size_t place) {
    const std::string_view word = data_.text(data_.find(about, "action"));
    const auto known =
        std::find_if(event_words.begin(), event_words.end(), [&](const auto& pair) { return pair.first == word; });
    if (known == event_words.end()) {
      return;
    }
    MemoryEvent event;
    event.kind = known->second;
    const bool none = event.kind == MemoryEventKind::out_of_memory;
    const auto size = bytes_of(about, "size");
    const auto address = none ? bytes_of(about, "device_free") : address_of(about, "addr");
    if (!size || (!address && !none)) {
      fail("event " + std::to_string(place) + " of device " + std::to_string(snapshot_.events.size() - 1) + ", " +
           quoted(word) + ", needs a size and an address");
      return;
    }
    event.size = *size;
    event.address = address.value_or(0);
    event.time_us = data_.whole(data_.find(about, "time_us")).value_or(0);
    event.site = site_of(about);
    snapshot_.events.back().push_back(event);
  }

  const PlainData& data_;
  MemorySnapshot snapshot_;
  std::unordered_map<Id, std::uint32_t> sites_;
  Diagnostics problems_;
};

}  // namespace

bool is_memory_snapshot(const PlainData& data) noexcept {
  return data.is_list(data.find(data.root(), "segments"));
}

MemorySnapshot read_memory_snapshot(const PlainData& data, const std::string& file) {
  return SnapshotReader{data, file}.read();
}

}  // namespace headroom
