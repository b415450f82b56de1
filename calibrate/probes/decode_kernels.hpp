// SPDX-License-Identifier: Apache-2.0
// Attention of one query a sequence over a paged cache: splits of the cache by CTAs of their own, then their merge
// (Dao et al. 2023, Flash-Decoding; pages as in Kwon et al. 2023, section 4).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Tokens of a page; a page holds [token, kv_head, head_dim] of bf16.
inline constexpr std::int64_t decode_page_tokens = 16;
inline constexpr std::int64_t most_decode_splits = 64;
/// Query heads of one key head that a CTA serves.
inline constexpr std::int64_t most_decode_group = 8;

struct DecodeArguments {
  const void *queries = nullptr, *keys = nullptr, *values = nullptr;  ///< [batch, heads, head_dim]; pages
  void* output = nullptr;                                             ///< [batch, heads, head_dim], bf16
  const std::int32_t* pages = nullptr;                                ///< [batch, pages of a sequence]
  float* parts = nullptr;  ///< [batch, heads, splits, head_dim + 2]: sums, maximum and divisor of each split
  std::int64_t batch = 1, context = 1, heads = 1, kv_heads = 1, head_dim = 128;
  std::int64_t splits = 1;
};

/// Splits that bring two CTAs to every SM, none shorter than 256 tokens.
[[nodiscard]] std::int64_t decode_splits(std::int64_t batch,
                                         std::int64_t kv_heads,
                                         std::int64_t context,
                                         std::int64_t sms) noexcept;

/// cudaErrorInvalidValue for sizes that it has no kernel for: heads of 64 or 128, 1, 2, 4 or 8 query heads a key head.
cudaError_t decode(const DecodeArguments& arguments, cudaStream_t stream);

}  // namespace headroom::probes
