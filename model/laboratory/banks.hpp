// SPDX-License-Identifier: Apache-2.0
// Conflicts in the banks of shared memory, counted over a warp's addresses, and the layouts that have none.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/laboratory/access.hpp>

#include <cstdint>
#include <optional>

namespace headroom {

/// A tile of `rows` x `columns` elements in shared memory, of which each warp reads columns: thread i reads row i, and
/// where the rows are fewer than the warp's threads the rest read the next columns.
struct SharedTile {
  std::int64_t rows = 32;
  std::int64_t columns = 32;
  std::int64_t padding = 0;  ///< elements behind each row
  bool swizzled = false;     ///< element (r, c) stands in column c XOR r; `columns` is a power of two
};

struct BankCount {
  std::int64_t degree = 1;  ///< most words of one bank that one group of threads asks for: n-way
  std::int64_t cycles = 1;  ///< that the warp's access takes
  std::int64_t least = 1;   ///< cycles without a conflict, one for each group of threads
  [[nodiscard]] double ratio() const noexcept { return static_cast<double>(cycles) / static_cast<double>(least); }
};

/// Thread i accesses `element` bytes at i x stride elements. Threads are served in groups of as many as ask for all
/// banks once: all 32 at up to 4 B, halves at 8 B, quarters at 16 B. A bank serves one word a cycle, to all that ask
/// for it (CUDA C++ Programming Guide, shared memory of compute capability 5.x and later). Precondition: `element` is
/// 1, 2, 4, 8 or 16, `stride` >= 0.
[[nodiscard]] BankCount count_banks(std::int64_t stride, std::int64_t element, const AccessUnit& unit);
/// The worst of the tile's columns.
[[nodiscard]] BankCount count_banks(const SharedTile& tile, std::int64_t element, const AccessUnit& unit);

/// The same in closed form, of elements of one word: gcd(stride, banks) threads share each bank that is asked for; with
/// stride 0 all threads read one word, without a conflict. Exact where a warp has as many threads as there are banks.
[[nodiscard]] std::int64_t conflict_degree(std::int64_t stride_words, std::int64_t banks) noexcept;

/// The fewest elements behind each row that leave no conflict; nullopt: fewer than there are banks do not.
[[nodiscard]] std::optional<std::int64_t> least_padding(const SharedTile& tile,
                                                        std::int64_t element,
                                                        const AccessUnit& unit);

/// Bytes a second of the shared memories of all SMs: every bank a word a clock.
[[nodiscard]] BytesPerSecond shared_bandwidth(double units, Hertz clock, const AccessUnit& unit) noexcept;

}  // namespace headroom
