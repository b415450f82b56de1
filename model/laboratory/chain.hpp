// SPDX-License-Identifier: Apache-2.0
// Kernels one after another: what fusion of neighbouring passes saves in bytes, launches and time.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// How a kernel can join its neighbour.
enum class Fusable : std::uint8_t {
  no,        ///< attention, experts: stands alone
  product,   ///< takes passes over elements into its epilogue
  pass,      ///< element by element: joins a product or a pass before it
  row_pass,  ///< needs whole rows, which a tile of a product does not hold: joins a pass before it
};

struct ChainOp {
  Seconds time{};    ///< alone, its launch on the device included
  Seconds launch{};  ///< the part of `time` that does not grow with its bytes
  MemoryOp traffic;
  Fusable fusable = Fusable::no;
};

/// Neighbours that become one kernel.
struct FusedGroup {
  std::size_t first = 0;
  std::size_t count = 1;
  Seconds time{};
  Bytes moved{};
};

struct FusedChain {
  std::vector<FusedGroup> groups;
  Seconds time{};  ///< of all groups
  Bytes moved{};
  Seconds apart{};  ///< the same kernels, none fused
  Bytes moved_apart{};
};

/// The chain with each pass in the kernel before it, where it joins. A group moves
/// what fused() of its members moves. A group of passes takes one launch and those bytes at the slowest bandwidth of
/// its members; a product keeps its time, and what the group moves beyond it goes at the bandwidth of the first pass.
[[nodiscard]] FusedChain fused_chain(std::span<const ChainOp> ops);

}  // namespace headroom
