// SPDX-License-Identifier: Apache-2.0
// Collectives step by step: what rings, trees and two-level forms take on a placed group when each message costs a
// fixed time and its bytes. The textbook forms that fitted curves refine and that an event simulation checks.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective.hpp>

#include <cstdint>

namespace headroom {

/// What a message costs besides its bytes, in the sender, the wire and the receiver together.
struct MessageCost {
  Seconds inside{};   ///< between ranks of one scale-up domain
  Seconds outside{};  ///< over the network
};

/// A ring, in as many channels as a domain has ranks so that each leaves through another NIC; all-reduce takes 2(n-1)
/// steps of 1/n of the buffer, reduce-scatter and all-gather n-1 (Patarasuk and Yuan 2009). Steps on different hops
/// overlap: the time is the longest of one chunk's way around, and of every chunk through the slowest hop. 0 for one
/// rank.
[[nodiscard]] Seconds ring_time(Collective collective, Bytes buffer, const GroupView& group, MessageCost cost) noexcept;

/// All-reduce over two complementary binary trees of domains, with a chain inside each (Sanders, Speck and Traeff
/// 2009), in `chunks` pipelined pieces: the way up and down the chain and the tree behind which the pieces stream, or
/// the busiest link's bytes where those take longer. Exact to 5 % while latency rules, which is where NCCL takes trees;
/// where both are alike, up and down compete for links and it is up to a third short. 0 for one rank.
[[nodiscard]] Seconds tree_time(Bytes buffer, const GroupView& group, MessageCost cost, std::int64_t chunks) noexcept;

/// All-reduce as reduce-scatter inside, all-reduce of 1/g across domains in rings, all-gather inside.
[[nodiscard]] Seconds hierarchical_time(Bytes buffer, const GroupView& group, MessageCost cost) noexcept;

/// Bytes that one NIC sends in an all-reduce: of a single flat ring all of 2(n-1)/n S where it leaves a domain; of the
/// two-level form 2(k-1)/k S/g.
[[nodiscard]] Bytes flat_ring_bytes_per_nic(Bytes buffer, const GroupView& group) noexcept;
[[nodiscard]] Bytes hierarchical_bytes_per_nic(Bytes buffer, const GroupView& group) noexcept;

/// Levels of a balanced binary tree over `count` members.
[[nodiscard]] std::int64_t tree_height(std::int64_t count) noexcept;

}  // namespace headroom
