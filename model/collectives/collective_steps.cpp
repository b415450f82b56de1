// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/collective_steps.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// The view of a group that consists of the ranks of one domain of `group`.
GroupView inside_of(const GroupView& group) {
  GroupView view = group;
  view.ranks = group.per_domain;
  view.domains = 1;
  return view;
}

Seconds inside_message(const GroupView& group, MessageCost cost) {
  return cost.inside + group.inside_latency;
}

Seconds outside_message(const GroupView& group, MessageCost cost) {
  return cost.outside + group.outside_latency;
}

std::int64_t ring_steps(Collective collective, std::int64_t ranks) {
  return collective == Collective::all_reduce ? 2 * (ranks - 1) : ranks - 1;
}

/// Buffers that the busiest domain sends in both trees together: it is an inner node in one (to a parent and two
/// children) and a leaf in the other, half a buffer each; with two or three domains it sends less.
double busiest_sends(std::int64_t domains) {
  return domains <= 1 ? 0.0 : domains == 2 ? 1.0 : domains == 3 ? 1.5 : 2.0;
}

}  // namespace

Seconds ring_time(Collective collective, Bytes buffer, const GroupView& group, MessageCost cost) noexcept {
  const std::int64_t n = group.ranks;
  if (n <= 1) {
    return Seconds{};
  }
  const std::int64_t steps = ring_steps(collective, n);
  const auto count = static_cast<double>(steps);
  if (group.domains <= 1) {
    return count * (inside_message(group, cost) + buffer / static_cast<double>(n) / group.inside_ring);
  }
  const std::int64_t g = group.fewest;
  const Bytes chunk = buffer / static_cast<double>(n * g);
  const Seconds out = chunk / group.outside_ring;
  const Seconds in = g > 1 ? chunk / group.inside_ring : Seconds{};
  // A chunk leaves a domain every g hops if it starts at the exit. Steps that remain at the end wait there for the
  // chunks before, or continue inside.
  const std::int64_t exits = (steps + g - 1) / g;
  const std::int64_t between = (exits - 1) * (g - 1);
  const Seconds inward = inside_message(group, cost) + in;
  const Seconds around = static_cast<double>(exits) * (outside_message(group, cost) + out) +
                         static_cast<double>(between) * inward +
                         static_cast<double>(steps - exits - between) * std::max(out, inward);
  const Seconds through_out = count * out + outside_message(group, cost);
  // A rank sends inside its domain in every channel except the one in which it leaves the domain.
  const Seconds through_in = count * static_cast<double>(g - 1) * in + inside_message(group, cost);
  return std::max({around, through_out, through_in});
}

std::int64_t tree_height(std::int64_t count) noexcept {
  std::int64_t height = 0;
  while ((std::int64_t{1} << height) < count) {
    ++height;
  }
  return height;
}

Seconds tree_time(Bytes buffer, const GroupView& group, MessageCost cost, std::int64_t chunks) noexcept {
  if (group.ranks <= 1) {
    return Seconds{};
  }
  const auto g = static_cast<double>(group.fewest);
  const auto pieces = static_cast<double>(std::max<std::int64_t>(chunks, 1));
  // Each channel carries its part of the buffer at the full rate of its links.
  const Seconds inside = g > 1.0 ? buffer / g / group.inside_ring : Seconds{};
  const Seconds outside = group.domains > 1 ? buffer / g / group.outside_ring : Seconds{};
  // Way up and down: each hop passes one piece of one tree.
  const Seconds way =
      2.0 * (g - 1.0) * (inside_message(group, cost) + inside / (2.0 * pieces)) +
      2.0 * static_cast<double>(tree_height(group.domains)) * (outside_message(group, cost) + outside / (2.0 * pieces));
  const Seconds stream = (pieces - 1.0) / pieces * std::max(inside, 0.5 * outside);
  // The busiest NIC idles while the first piece comes up to it and the last one goes down from it.
  const Seconds idle = static_cast<double>(tree_height(group.domains)) * outside_message(group, cost);
  return std::max({way + stream, 2.0 * (g - 1.0) * inside, idle + busiest_sends(group.domains) * outside});
}

Seconds hierarchical_time(Bytes buffer, const GroupView& group, MessageCost cost) noexcept {
  const GroupView inside = inside_of(group);
  GroupView across = group;
  across.ranks = group.domains;
  across.per_domain = across.fewest = 1;
  return ring_time(Collective::reduce_scatter, buffer, inside, cost) +
         ring_time(Collective::all_reduce, buffer / static_cast<double>(group.fewest), across, cost) +
         ring_time(Collective::all_gather, buffer, inside, cost);
}

}  // namespace headroom
