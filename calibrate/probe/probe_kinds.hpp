// SPDX-License-Identifier: Apache-2.0
// Probes of attention, passes over memory, host and peer links, layers, and the habits of an SM.
#pragma once

#include <headroom/calibrate/probe/probes_abi.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Attention of a training step by cuDNN in bf16 with saved softmax statistics: `tokens` queries over as many keys.
struct AttentionProbe {
  bool backward = false;
  std::int64_t batch = 1, tokens = 1;
  std::int64_t heads = 1, kv_heads = 1, head_dim = 128;
  bool causal = true;
  std::int64_t copies = 1;  ///< sets of all tensors, used in turn

  /// FLOP: 4 b h s^2 d forward and 10 b h s^2 d backward, half of that with a causal mask (FlashAttention's
  /// convention).
  [[nodiscard]] Flops flops() const noexcept;
  /// Bytes of one set: queries, keys, values, output and statistics; backward also gradients.
  [[nodiscard]] std::int64_t set_bytes() const noexcept;
};

/// One query per sequence over a paged cache of `context` keys in bf16, by a kernel of this project.
struct DecodeProbe {
  std::int64_t batch = 1, context = 1;
  std::int64_t heads = 1, kv_heads = 1, head_dim = 128;
  std::int64_t copies = 1;  ///< copies of the cache, used in turn

  /// Bytes of keys and values that a launch reads.
  [[nodiscard]] std::int64_t cache_bytes() const noexcept;
  /// Bytes of one set: cache and page table.
  [[nodiscard]] std::int64_t set_bytes() const noexcept;
};
/// Tokens per page of the cache, and the largest number of splits of one sequence.
inline constexpr std::int64_t decode_page_tokens = 16;
inline constexpr std::int64_t most_decode_splits = 64;

/// Passes over `array_bytes` of memory:
///   read     every word; writes a sum per 16 KiB
///   write    every word
///   strided  one sector of 32 bytes in every `width` bytes; writes sums as `read` does
///   gather   rows of `width` bytes in random order by 8-byte indices, each once, written contiguously
///   reduce   rows of `width` bytes, each to one fp32 sum, one CTA per row
///   chain    four elementwise kernels, each reading the previous one's output
///   fused    the same four steps in one kernel
enum class PassOp : std::uint8_t { read, write, strided, gather, reduce, chain, fused, count };
inline constexpr std::array<std::string_view, 7> pass_op_names{"read",   "write", "strided", "gather",
                                                               "reduce", "chain", "fused"};
/// Number of elementwise steps in `chain` and `fused`.
inline constexpr std::int64_t chain_steps = 4;
/// Bytes that one CTA of a flat grid reads and sums.
inline constexpr std::int64_t pass_block_bytes = 16384;

struct PassProbe {
  PassOp op = PassOp::read;
  std::int64_t array_bytes = 0;
  std::int64_t width = 0;   ///< bytes; strided, gather and reduce only
  std::int64_t copies = 1;  ///< sets of arrays, used in turn

  [[nodiscard]] std::int64_t rows() const noexcept { return width > 0 ? array_bytes / width : 0; }
  /// Bytes that one launch (all four for `chain`) must read and write.
  [[nodiscard]] std::int64_t read() const noexcept;
  [[nodiscard]] std::int64_t written() const noexcept;
  [[nodiscard]] std::int64_t moved() const noexcept { return read() + written(); }
  /// Bytes of one set of arrays.
  [[nodiscard]] std::int64_t set_bytes() const noexcept;
};

/// Copies between host and device, and between two devices. `both`: one copy in each direction at once.
using TransferOp = probes::TransferOp;
inline constexpr std::array<std::string_view, 8> transfer_op_names{
    "h2d_pinned", "d2h_pinned", "both_pinned", "h2d_pageable", "d2h_pageable", "both_pageable", "peer", "peer_both"};
[[nodiscard]] constexpr bool is_peer(TransferOp op) noexcept {
  return op == TransferOp::peer || op == TransferOp::peer_both;
}
[[nodiscard]] constexpr bool is_both_ways(TransferOp op) noexcept {
  return op == TransferOp::both_pinned || op == TransferOp::both_pageable || op == TransferOp::peer_both;
}

struct TransferProbe {
  TransferOp op = TransferOp::h2d_pinned;
  std::int64_t bytes = 0;   ///< bytes in one direction
  std::int64_t copies = 1;  ///< buffers on each side, used in turn

  /// Bytes that cross the link in both directions together.
  [[nodiscard]] std::int64_t crossed() const noexcept { return is_both_ways(op) ? 2 * bytes : bytes; }
};

/// Large kernels of one layer, one after another as in a step (probed_layer.hpp): forward and backward passes of a
/// micro-batch, and the layer's part of a decode iteration. `dense` is a layer of Llama 3 8B, `experts` one of
/// Qwen3-30B-A3B with balanced experts. Not among them: norms, rotary embeddings, activations, routing, permutation,
/// the optimizer.
enum class ProbedPass : std::uint8_t {
  dense_forward,
  dense_backward,
  experts_forward,
  experts_backward,
  dense_decode,
  experts_decode,
  count
};
inline constexpr std::array<std::string_view, 6> probed_pass_names{
    "dense_forward", "dense_backward", "experts_forward", "experts_backward", "dense_decode", "experts_decode"};
[[nodiscard]] constexpr bool is_decode(ProbedPass op) noexcept {
  return op == ProbedPass::dense_decode || op == ProbedPass::experts_decode;
}

struct LayerProbe {
  ProbedPass op = ProbedPass::dense_forward;
  std::int64_t tokens = 1;  ///< of the micro-batch; of a decode iteration its sequences
};

/// What the threads of an SM do to each other. `width` is the knob, `count` what is repeated:
///   stride     `count` 4-byte loads, those of neighbouring threads `width` elements apart
///   offset     `count` 4-byte loads of neighbours, from `width` elements behind a multiple of 256 bytes on
///   random     `count` 4-byte loads at random places in an array of `width` MiB
///   banks      `count` loads of shared memory a thread, those of neighbouring lanes `width` words apart
///   diverge    `count` dependent FMA a thread, in a warp whose lanes take `width` paths of that length
///   occupancy  `count` 16-byte words read by `width` CTAs an SM of 128 threads, each thread with one load in flight;
///              0: as many CTAs as an SM holds
///   grid_sync  `count` syncs of a cooperative grid of `width` CTAs an SM; a latency is that of one
///   atomics    `count` atomic adds a thread, in turn to `width` neighbouring 4-byte counters
/// banks, diverge and atomics run probes::unit_blocks_per_sm CTAs an SM of probes::unit_block_threads threads.
using UnitOp = probes::UnitOp;
inline constexpr std::array<std::string_view, 8> unit_op_names{"stride",  "offset",    "random",    "banks",
                                                               "diverge", "occupancy", "grid_sync", "atomics"};

struct UnitProbe {
  UnitOp op = UnitOp::stride;
  std::int64_t width = 1;
  std::int64_t count = 1;
  std::int64_t copies = 1;  ///< sets of arrays, or of random places in one array, used in turn

  /// Bytes of one set of arrays; 0 for ops that keep to their SM.
  [[nodiscard]] std::int64_t set_bytes() const noexcept;
};

/// Names for messages: "attention backward causal 4x4096 32/8x128", "decode 64x4096 32/8x128", "gather 65536 B by 256",
/// "h2d_pinned 4096 B".
[[nodiscard]] std::string name_of(const AttentionProbe& probe);
[[nodiscard]] std::string name_of(const DecodeProbe& probe);
[[nodiscard]] std::string name_of(const PassProbe& probe);
[[nodiscard]] std::string name_of(const TransferProbe& probe);
/// "layer dense_forward 8192".
[[nodiscard]] std::string name_of(const LayerProbe& probe);
/// "unit stride 8", "unit occupancy all".
[[nodiscard]] std::string name_of(const UnitProbe& probe);

/// Device memory that a probe allocates, with cuDNN's workspace as far as it is predictable.
[[nodiscard]] Bytes memory_of(const AttentionProbe& probe);
[[nodiscard]] Bytes memory_of(const DecodeProbe& probe);
[[nodiscard]] Bytes memory_of(const PassProbe& probe);
[[nodiscard]] Bytes memory_of(const TransferProbe& probe);
[[nodiscard]] Bytes memory_of(const UnitProbe& probe);

}  // namespace headroom
