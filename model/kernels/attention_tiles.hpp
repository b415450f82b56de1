// SPDX-License-Identifier: Apache-2.0
// Tiles of queries over blocks of keys, as used by all attention models.
#pragma once

#include <headroom/model/kernels/attention.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

/// Keys of one block. Shipped kernels use 32 to 176; errors differ by less than half a percentage point from 32 to 128.
inline constexpr double block_keys = 64.0;

/// Time of x waves over the time of one; `tail` (0 to 1) is the weight of the unfilled part of the last wave.
[[nodiscard]] inline double waves_of(double x, double tail) noexcept {
  return x <= 1.0 ? 1.0 : x + tail * (std::ceil(x) - x);
}

/// Number of blocks of keys that the tiles of one head visit.
struct AttentionBlocks {
  double last = 0.0;  ///< blocks of the longest tile
  /// Blocks of all tiles.
  double all = 0.0;
};

/// Blocks of `tiles` tiles of `step` tokens each. A tile visits the keys up to its last token's, at most the window; a
/// block that the diagonal crosses counts whole.
[[nodiscard]] inline AttentionBlocks attention_blocks(const AttentionShape& s, double tiles, double step) noexcept {
  if (!s.causal) {
    const double each = std::ceil(s.context / block_keys);
    return {each, each * tiles};
  }
  const double prefix = s.context - s.tokens;
  const double widest = s.window > 0.0 ? s.window + step - 1.0 : s.context;
  AttentionBlocks b;
  b.last = std::ceil(std::min(s.context, widest) / block_keys);
  // Tile i sees prefix + (i + 1) step keys until the window limits it; a block that the diagonal crosses counts whole.
  const double before = tiles - 1.0;
  const double growing = std::clamp(std::floor((widest - prefix) / step), 0.0, before);
  const double keys = growing * (prefix + 0.5 * step * (growing + 1.0)) + (before - growing) * widest;
  const double partial = 0.5 * (1.0 - std::min(1.0, step / block_keys));
  b.all = b.last + keys / block_keys + before * partial;
  return b;
}

}  // namespace headroom
