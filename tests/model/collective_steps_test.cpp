// SPDX-License-Identifier: Apache-2.0
// Textbook collectives on a placed group.
#include <headroom/model/collectives/collective_steps.hpp>

#include <doctest/doctest.h>

#include "../hardware/wirings.hpp"

namespace headroom {
namespace {

using test::gigabytes_per_second;

/// Ranks on one flat fabric.
GroupView flat(std::int64_t ranks, double rate) {
  GroupView view;
  view.ranks = view.per_domain = view.fewest = ranks;
  view.inside_ring = gigabytes_per_second(rate);
  return view;
}

/// One rank to a domain, as the textbook's p processes on a network.
GroupView spread(std::int64_t ranks, double rate) {
  GroupView view;
  view.ranks = view.domains = ranks;
  view.outside_ring = gigabytes_per_second(rate);
  return view;
}

TEST_CASE("a ring of 64 takes 630 us for 8 KB and a tree 60, a gigabyte goes by the ring") {
  const MessageCost cost{Seconds{5e-6}, Seconds{5e-6}};
  const GroupView group = spread(64, 50.0);
  CHECK(ring_time(Collective::all_reduce, Bytes{8e3}, group, cost).raw() / 630e-6 ==
        doctest::Approx(1.0).epsilon(0.01));
  CHECK(tree_time(Bytes{8e3}, group, cost, 1).raw() / 60e-6 == doctest::Approx(1.0).epsilon(0.05));
  CHECK(ring_time(Collective::all_reduce, Bytes{1e9}, group, cost) < tree_time(Bytes{1e9}, group, cost, 256));
  CHECK(tree_time(Bytes{1e6}, group, cost, 8) < ring_time(Collective::all_reduce, Bytes{1e6}, group, cost));
}

TEST_CASE("300 all-reduces of 100 KB cost 21.3 ms, fused into two buckets 0.40") {
  const MessageCost cost{Seconds{5e-6}, {}};
  const GroupView group = flat(8, 200.0);
  const double single = ring_time(Collective::all_reduce, Bytes{100e3}, group, cost).raw();
  const double bucket = ring_time(Collective::all_reduce, Bytes{150 * 100e3}, group, cost).raw();
  CHECK(300 * single * 1e3 == doctest::Approx(21.3).epsilon(0.005));
  CHECK(2 * bucket * 1e3 == doctest::Approx(0.40).epsilon(0.01));
}

TEST_CASE("14 GB of gradients over 8 GPUs take 66 ms at 370 GB/s and 1.23 s at 20") {
  const Bytes gradients{14e9};
  CHECK(ring_time(Collective::all_reduce, gradients, flat(8, 370.0), {}).raw() == doctest::Approx(0.066).epsilon(0.01));
  CHECK(ring_time(Collective::all_reduce, gradients, flat(8, 20.0), {}).raw() == doctest::Approx(1.23).epsilon(0.01));
}

TEST_CASE("eight hosts of eight put 0.21875 D on a NIC in two levels, a flat ring 1.96875 D") {
  const FabricGraph graph{test::switched_host(), 8, NetworkTiers::non_blocking(8)};
  const GroupView group = Fabric{graph, 64}.view(64, 1);
  CHECK(bytes_per_rank(Collective::all_reduce, Bytes{1.0} / static_cast<double>(group.fewest), group.domains).raw() ==
        doctest::Approx(0.21875));
  CHECK(bytes_per_rank(Collective::all_reduce, Bytes{1.0}, group.ranks).raw() == doctest::Approx(1.96875));
  // Two levels are bound by the NIC for large buffers: 0.21875 D at 50 GB/s, and what NVLink adds before and after.
  const double network = 0.21875 / 50e9, inside = 2.0 * 7.0 / 8.0 / 450e9;
  CHECK(hierarchical_time(Bytes{64e9}, group, {}).raw() == doctest::Approx(64e9 * (network + inside)).epsilon(1e-6));
}

}  // namespace
}  // namespace headroom
