// SPDX-License-Identifier: Apache-2.0
// A 64-bit hash of bytes: FNV-1a (Fowler, Noll and Vo 1991; RFC 9923, section 2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace headroom {

inline constexpr std::uint64_t empty_fingerprint = 14695981039346656037ULL;

/// Extends the fingerprint `so_far` by `size` bytes; start from `empty_fingerprint`.
[[nodiscard]] inline std::uint64_t fingerprint(std::uint64_t so_far, const void* bytes, std::size_t size) noexcept {
  constexpr std::uint64_t prime = 1099511628211ULL;
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < size; ++i) {
    so_far = (so_far ^ at[i]) * prime;
  }
  return so_far;
}

}  // namespace headroom
