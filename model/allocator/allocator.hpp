// SPDX-License-Identifier: Apache-2.0
// A model of PyTorch's CUDA caching allocator: what a trace of allocations reserves, and when fragments refuse a
// request that the free bytes would hold.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headroom {

/// Sizes of the allocator (pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h; the
/// PyTorch manual, "CUDA semantics", section on memory management, describes the expandable segments).
namespace caching {
inline constexpr std::uint64_t block = 512;                  ///< every size is rounded up to a multiple of it
inline constexpr std::uint64_t small_request = 1ULL << 20;   ///< up to here requests live in the small pool
inline constexpr std::uint64_t small_segment = 2ULL << 20;   ///< its segments, and its pages when expandable
inline constexpr std::uint64_t large_segment = 20ULL << 20;  ///< segments of requests below 10 MiB, and large pages
inline constexpr std::uint64_t large_request = 10ULL << 20;  ///< from here a request gets a segment of its size
inline constexpr std::uint64_t large_rounding = 2ULL << 20;  ///< rounded up to this
}  // namespace caching

/// What the allocator holds. `allocated` counts blocks as handed out, `reserved` what the device has given.
struct AllocatorStats {
  std::uint64_t allocated = 0, reserved = 0;
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
};

/// Two pools of free blocks; best fit; a block too large is split, a freed one joins its free neighbours of the same
/// segment. Without a fitting block the device is asked for a segment; when it has none left, unused segments are given
/// back and it is asked once more. Expandable: one segment a pool grows by pages, free pages are given back, and the
/// same addresses or new ones at its end are mapped again, so that holes never hold memory that a request needs.
/// Streams, graphs, garbage collection and max_split_size are left out: one stream, the defaults.
class CachingAllocator {
 public:
  /// `capacity`: bytes the device can give.
  CachingAllocator(std::uint64_t capacity, bool expandable);

  /// The address of a block of at least `bytes`; nullopt: out of memory, nothing changed but the cache given back.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  /// Frees the block at `address`, which must have been handed out and not freed since (asserted).
  void release(std::uint64_t address);
  /// Gives every unused segment, or page, back to the device: torch.cuda.empty_cache().
  void empty_cache();

  [[nodiscard]] const AllocatorStats& stats() const noexcept { return stats_; }
  /// The largest request that would be granted, as far as blocks and the device's rest go.
  [[nodiscard]] std::uint64_t largest_grant() const;
  /// Addresses and sizes of the blocks handed out, ascending.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> live() const;

 private:
  enum class State : std::uint8_t { live, free, unmapped };
  struct Block {
    std::uint64_t size = 0;
    std::uint64_t segment = 0;  ///< neighbours join within one segment only
    State state = State::free;
    bool small = false;
  };
  using Blocks = std::map<std::uint64_t, Block>;  ///< by address
  /// (size, address): the best fit is the first not below a size.
  using FreeBlocks = std::set<std::pair<std::uint64_t, std::uint64_t>>;

  /// What differs between the pools; when expandable each is one segment that grows at `end`.
  struct Pool {
    FreeBlocks free;
    std::set<std::uint64_t> unmapped;  ///< addresses of unmapped blocks, in whole pages
    std::uint64_t base = 0, end = 0, page = 0;
  };
  [[nodiscard]] Pool& pool(bool small) noexcept { return pools_[small ? 0 : 1]; }
  [[nodiscard]] bool take_free(std::uint64_t size, bool small, std::uint64_t& address);
  [[nodiscard]] bool reserve(std::uint64_t size, bool small);
  [[nodiscard]] bool reserve_segment(std::uint64_t size, bool small);
  [[nodiscard]] bool grow(std::uint64_t size, bool small);
  [[nodiscard]] std::uint64_t room_from(const Pool& pool, std::uint64_t size) const;
  [[nodiscard]] bool map_pages(Pool& grown, bool small, std::uint64_t from, std::uint64_t until);
  void add_reserved(std::uint64_t bytes) noexcept;
  void place(std::uint64_t address, const Block& block);
  void forget(Blocks::iterator at);
  void release_segments();
  void release_pages(bool small);

  std::uint64_t capacity_;
  bool expandable_;
  AllocatorStats stats_;
  Blocks blocks_;
  std::array<Pool, 2> pools_;
  std::uint64_t next_segment_ = 0;
};

}  // namespace headroom
