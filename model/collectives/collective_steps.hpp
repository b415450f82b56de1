// SPDX-License-Identifier: Apache-2.0
// Textbook times of rings, trees and two-level collectives on a placed group, where each message costs a fixed time
// plus its bytes. They serve as references: fitted curves refine them, and an event simulation checks them.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective.hpp>

#include <cstdint>

namespace headroom {

/// Fixed time of one message in sender, wire and receiver together.
struct MessageCost {
  Seconds inside{};   ///< between ranks of one scale-up domain
  Seconds outside{};  ///< over the network
};

/// Time of a ring with as many channels as a domain has ranks, each of which leaves through another NIC. All-reduce
/// takes 2(n-1) steps of 1/n of the buffer, reduce-scatter and all-gather n-1 (Patarasuk and Yuan 2009). Steps on
/// different hops overlap: the time is the larger of one chunk's way around the ring and all chunks' time on the
/// slowest hop. 0 for one rank.
[[nodiscard]] Seconds ring_time(Collective collective, Bytes buffer, const GroupView& group, MessageCost cost) noexcept;

/// Time of an all-reduce over two complementary binary trees of domains with a chain inside each (Sanders, Speck and
/// Traeff 2009), in `chunks` pipelined pieces: the way of one piece up and down plus the pieces that follow it, or the
/// bytes of the busiest link if they take longer. Accurate to 5 % where latency dominates, which is where NCCL uses
/// trees; where latency and bytes are alike, up and down traffic compete for links and it is a third too low at worst.
/// 0 for one rank.
[[nodiscard]] Seconds tree_time(Bytes buffer, const GroupView& group, MessageCost cost, std::int64_t chunks) noexcept;

/// Time of an all-reduce as reduce-scatter in a domain, ring all-reduce of 1/g across domains, all-gather in a domain.
[[nodiscard]] Seconds hierarchical_time(Bytes buffer, const GroupView& group, MessageCost cost) noexcept;

/// Number of levels of a balanced binary tree over `count` members.
[[nodiscard]] std::int64_t tree_height(std::int64_t count) noexcept;

}  // namespace headroom
