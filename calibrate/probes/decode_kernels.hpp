// SPDX-License-Identifier: Apache-2.0
// Attention of one query per sequence over a paged cache: CTAs process splits of the cache, then merge them (Dao et al.
// 2023, Flash-Decoding; pages as in Kwon et al. 2023, section 4).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Tokens per page; a page is [token, kv_head, head_dim] in bf16.
inline constexpr std::int64_t decode_page_tokens = 16;
inline constexpr std::int64_t most_decode_splits = 64;
/// Most query heads of one key head that a CTA serves.
inline constexpr std::int64_t most_decode_group = 8;

struct DecodeArguments {
  const void *queries = nullptr, *keys = nullptr, *values = nullptr;  ///< queries [batch, heads, head_dim]; pages
  void* output = nullptr;                                             ///< [batch, heads, head_dim], bf16
  const std::int32_t* pages = nullptr;  ///< [batch, pages per sequence]: index of each page
  float* parts = nullptr;  ///< [batch, heads, splits, head_dim + 2]: sums, maximum and divisor of each split
  std::int64_t batch = 1, context = 1, heads = 1, kv_heads = 1, head_dim = 128;
  std::int64_t splits = 1;
};

/// Number of splits that gives every SM two CTAs, with at least 256 tokens per split.
[[nodiscard]] std::int64_t decode_splits(std::int64_t batch,
                                         std::int64_t kv_heads,
                                         std::int64_t context,
                                         std::int64_t sms) noexcept;

/// cudaErrorInvalidValue unless head_dim is 64 or 128 with 1, 2, 4 or 8 query heads per key head.
cudaError_t decode(const DecodeArguments& arguments, cudaStream_t stream);

}  // namespace headroom::probes
