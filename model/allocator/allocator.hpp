// SPDX-License-Identifier: Apache-2.0
// A model of PyTorch's CUDA caching allocator: the memory that a sequence of allocations reserves, and when
// fragmentation refuses a request although enough bytes are free.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headroom {

/// Sizes of the allocator in bytes (pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h;
/// expandable segments: the PyTorch manual, "CUDA semantics", section on memory management).
namespace caching {
inline constexpr std::uint64_t block = 512;                 ///< sizes are rounded up to multiples of this
inline constexpr std::uint64_t small_request = 1ULL << 20;  ///< largest request of the small pool
inline constexpr std::uint64_t small_segment = 2ULL << 20;  ///< segment of the small pool, and its page if expandable
/// Segment of large requests below 10 MiB, and page of the large pool.
inline constexpr std::uint64_t large_segment = 20ULL << 20;
inline constexpr std::uint64_t large_request = 10ULL << 20;  ///< smallest request that gets a segment of its own size
inline constexpr std::uint64_t large_rounding = 2ULL << 20;  ///< rounding of segments for such requests
}  // namespace caching

/// `allocated` counts the bytes of blocks handed out, `reserved` the bytes taken from the device.
struct AllocatorStats {
  std::uint64_t allocated = 0, reserved = 0;
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
};

/// Two pools of free blocks with best fit. A block that is too large is split; a freed block joins its free neighbours
/// in the same segment. If no block fits, a segment is requested from the device; if the device has too little left,
/// unused segments are returned and the request is repeated. With expandable segments each pool is one segment that
/// grows by pages; free pages are returned and later mapped again at old addresses or at the end, so that holes never
/// hold memory that a request needs. Not modelled: streams, graphs, garbage collection, max_split_size.
class CachingAllocator {
 public:
  /// `capacity`: bytes that the device can provide.
  CachingAllocator(std::uint64_t capacity, bool expandable);

  /// The address of a block of at least `bytes`; nullopt if out of memory, in which case only the cache was returned.
  [[nodiscard]] std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  /// Frees the block at `address`, which must be handed out (asserted).
  void release(std::uint64_t address);
  /// Returns every unused segment or page to the device, as torch.cuda.empty_cache() does.
  void empty_cache();

  [[nodiscard]] const AllocatorStats& stats() const noexcept { return stats_; }
  /// The largest request that would be granted from the blocks and the free memory of the device.
  [[nodiscard]] std::uint64_t largest_grant() const;
  /// Addresses and sizes of the blocks handed out, in ascending order.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> live() const;

 private:
  enum class State : std::uint8_t { live, free, unmapped };
  struct Block {
    std::uint64_t size = 0;
    std::uint64_t segment = 0;  ///< start address of the segment; only blocks of one segment join
    State state = State::free;
    bool small = false;
  };
  using Blocks = std::map<std::uint64_t, Block>;  ///< blocks by address
  /// Pairs (size, address); the best fit is the first pair not below a size.
  using FreeBlocks = std::set<std::pair<std::uint64_t, std::uint64_t>>;

  /// One pool. If expandable, it is one segment that grows at `end`.
  struct Pool {
    FreeBlocks free;
    std::set<std::uint64_t> unmapped;  ///< addresses of unmapped blocks, which consist of whole pages
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
