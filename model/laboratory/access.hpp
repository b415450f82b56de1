// SPDX-License-Identifier: Apache-2.0
// How a warp's loads meet global memory: sectors and lines counted over its lanes' addresses, what of them is used, and
// what the time becomes with another layout.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// What serves the lanes of one warp, in bytes where nothing else is said. The defaults are those of NVIDIA's GPUs
/// since Volta (CUDA C++ Best Practices Guide, coalesced access to global memory and shared memory).
struct AccessUnit {
  std::int64_t lanes = 32;
  std::int64_t sector = 32;     ///< least that memory and caches hand over
  std::int64_t line = 128;      ///< what one lookup of the first cache finds; lanes of as many bytes are served at once
  std::int64_t banks = 32;      ///< of shared memory
  std::int64_t bank_width = 4;  ///< bytes of a bank that one cycle serves
};

enum class AccessLayout : std::uint8_t {
  linear,      ///< neighbouring threads read elements `stride` apart
  structures,  ///< an array of structures of `extent` fields
  arrays,      ///< one array for each field
  random,      ///< every thread reads a record of its own, far from all others
  rows,        ///< a matrix of rows of `extent` elements; each row is read along by warps of its own
  columns,     ///< the same matrix read across: neighbouring threads read neighbouring rows of one column
};

struct AccessPattern {
  AccessLayout layout = AccessLayout::linear;
  std::int64_t element = 4;  ///< bytes of one field, 1 to 16
  std::int64_t stride = 1;   ///< elements between neighbouring threads, > 0; of `linear` alone
  std::int64_t offset = 0;   ///< bytes from an aligned address to the first thread's
  std::int64_t extent = 1;   ///< fields of a structure, elements of a row; > 0
  std::int64_t fields = 1;   ///< fields that each thread reads, one after another: of structures, arrays, random
  std::int64_t pitch = 0;    ///< elements from one row to the next, at least `extent`; 0: `extent`. Of `rows` alone
};

/// The widest load that reads an element: the largest power of two that divides it, at most 16 bytes.
[[nodiscard]] std::int64_t load_width(std::int64_t element) noexcept;
/// Bytes between the elements of neighbouring threads; of random accesses a whole line or more.
[[nodiscard]] std::int64_t step_of(const AccessPattern& pattern, const AccessUnit& unit) noexcept;

/// One warp's loads of all its fields; means where warps differ, as those of rows do.
struct AccessCount {
  double instructions = 0.0;    ///< loads
  double sectors = 0.0;         ///< distinct in each load, over all loads: what is fetched where no cache keeps any
  double warp_sectors = 0.0;    ///< distinct over all loads of the warp
  double stream_sectors = 0.0;  ///< that no earlier warp touched: what is fetched where caches keep all that is near
  double lookups = 0.0;         ///< distinct lines in each group of lanes that is served at once
  double least_sectors = 0.0;   ///< that would hold what is used, were it packed
  Bytes used{};
};

/// Enumerates the addresses of all lanes. Precondition: the members of `pattern` are within their bounds and `offset`
/// is a multiple of load_width(element), as the hardware demands.
[[nodiscard]] AccessCount count_access(const AccessPattern& pattern, const AccessUnit& unit);

/// used / (sectors x sector): what is needed over what is fetched (CUDA C++ Best Practices Guide, coalesced access).
[[nodiscard]] double sector_efficiency(const AccessCount& count, const AccessUnit& unit) noexcept;
/// The same where neighbouring warps and later loads find in caches what has been fetched.
[[nodiscard]] double cached_efficiency(const AccessCount& count, const AccessUnit& unit) noexcept;

/// What accesses run against.
struct AccessRates {
  BytesPerSecond memory{};
  double units = 0.0;  ///< SMs; each looks up one line a clock, its first cache's 128 bytes (Jia et al. 2018, ch. 3)
  Hertz clock{};
};
struct AccessTime {
  Seconds memory{};         ///< sectors of every load at the memory's bandwidth
  Seconds cached_memory{};  ///< sectors that are fetched once
  Seconds lookups{};        ///< of the first cache

  /// The larger of both.
  [[nodiscard]] Seconds total(bool cached) const noexcept;
};
/// Time of `warps` warps, each as counted.
[[nodiscard]] AccessTime access_time(const AccessCount& count,
                                     double warps,
                                     const AccessUnit& unit,
                                     const AccessRates& rates) noexcept;

enum class AccessCure : std::uint8_t {
  arrays,   ///< one array for each field
  staged,   ///< a tile read along its rows, turned in shared memory
  aligned,  ///< the first address at a whole sector
  padded,   ///< rows lengthened to whole sectors
  sorted,   ///< the records in the order of their readers
  wide,     ///< loads of 16 bytes a thread
};
struct CuredAccess {
  AccessCure cure{};
  AccessPattern pattern;  ///< after it
  AccessCount count;      ///< of one warp's loads after it
  double ratio = 1.0;     ///< time after over before, of all warps
};
/// What would shorten the access, in the order to try, each alone. `cached`: whether caches keep what is near.
[[nodiscard]] std::vector<CuredAccess> access_cures(const AccessPattern& pattern,
                                                    const AccessUnit& unit,
                                                    const AccessRates& rates,
                                                    bool cached);

/// Whether the first cache keeps what all resident warps fetched until their later loads use the rest of it.
[[nodiscard]] bool first_cache_holds(const AccessCount& count,
                                     double resident_warps,
                                     Bytes cache,
                                     const AccessUnit& unit) noexcept;

}  // namespace headroom
