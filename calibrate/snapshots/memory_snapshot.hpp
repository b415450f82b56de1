// SPDX-License-Identifier: Apache-2.0
// What PyTorch's caching allocator held when it was asked, and what it did before: torch.cuda.memory._dump_snapshot.
#pragma once

#include <headroom/calibrate/pickle/plain_data.hpp>
#include <headroom/calibrate/traces/timeline.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

enum class BlockState : std::uint8_t {
  live,  ///< handed out, or freed by the program and still in use by a stream
  free   ///< held by the allocator
};

struct SnapshotBlock {
  std::uint64_t address = 0, size = 0, requested = 0;  ///< bytes; `requested` of a live one
  BlockState state = BlockState::free;
  std::uint32_t site = 0;  ///< of MemorySnapshot::sites
};

/// Memory taken from the device in one piece; with expandable segments a stretch of pages.
struct SnapshotSegment {
  std::int64_t device = 0;
  std::uint64_t address = 0, size = 0;
  bool expandable = false;
  std::vector<SnapshotBlock> blocks;  ///< by address
};

enum class MemoryEventKind : std::uint8_t { alloc, free, segment, segment_free, out_of_memory };

struct MemoryEvent {
  MemoryEventKind kind = MemoryEventKind::alloc;
  std::uint64_t address = 0;  ///< of one without memory: bytes that the device had left
  std::uint64_t size = 0;     ///< bytes as they were asked for
  std::uint32_t site = 0;     ///< of MemorySnapshot::sites
  std::int64_t time_us = 0;   ///< 0: not stated
};

struct MemorySnapshot {
  std::string file;
  NameTable sites;  ///< lines of the program; the first is empty: not stated
  std::vector<SnapshotSegment> segments;
  std::vector<std::vector<MemoryEvent>> events;  ///< by device, in order; empty where no history was recorded
};

/// Whether data is a snapshot.
[[nodiscard]] bool is_memory_snapshot(const PlainData& data) noexcept;

/// Reads a snapshot (torch/cuda/memory.py, _snapshot). ConfigError with the place for a segment without address or
/// size, blocks that leave it, and events whose size or address is no number.
[[nodiscard]] MemorySnapshot read_memory_snapshot(const PlainData& data, const std::string& file);

}  // namespace headroom
