// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/group_shape.hpp>
#include <headroom/hardware/fabric/max_min.hpp>

#include <doctest/doctest.h>

#include "../support/max_min_rates.hpp"
#include "wirings.hpp"
#include <cmath>
#include <tuple>

namespace headroom {
namespace {

using test::cube_mesh_host;
using test::full_mesh_host;
using test::gigabytes_per_second;
using test::pcie_host;
using test::switched_host;
using test::tier;

double gigabytes(BytesPerSecond rate) {
  return rate.raw() / 1e9;
}

/// Links of a kind that a route crosses.
std::size_t crossed(const FabricGraph& graph, std::int64_t from, std::int64_t to, LinkKind kind) {
  std::size_t count = 0;
  for (const RouteStep& step : graph.route(from, to)) {
    count += graph.links()[static_cast<std::size_t>(step.link)].kind == kind;
  }
  return count;
}

const NetworkTiers superpod{{tier("leaf", 4, 1.0), tier("spine", 16, 1.0)}, true};

TEST_CASE("a route is a path, and its shares at each end are one") {
  const FabricGraph graph{switched_host(), 8, superpod};
  for (const auto& [from, to] : {std::pair{0, 5}, {0, 8}, {3, 12}, {7, 63}, {9, 40}}) {
    CAPTURE(from);
    CAPTURE(to);
    double out = 0.0, in = 0.0;
    for (const RouteStep& step : graph.route(from, to)) {
      const FabricLink& link = graph.links()[static_cast<std::size_t>(step.link)];
      out += link.from == graph.gpu(from) ? step.share : 0.0;
      in += link.to == graph.gpu(to) ? step.share : 0.0;
    }
    CHECK(out == doctest::Approx(1.0));
    CHECK(in == doctest::Approx(1.0));
  }
}

TEST_CASE("below one host's NVSwitches nothing touches PCIe or the network") {
  const FabricGraph graph{switched_host(), 2, superpod};
  CHECK(crossed(graph, 0, 7, LinkKind::nvlink) == 8);  // four planes, in and out
  CHECK(crossed(graph, 0, 7, LinkKind::pcie) == 0);
  CHECK(crossed(graph, 0, 8, LinkKind::network) == 2);
}

TEST_CASE("on another rail of the same block traffic changes the rail over NVLink and never pays the spine") {
  const FabricGraph graph{switched_host(), 8, superpod};
  const std::size_t same_rail = crossed(graph, 0, 8, LinkKind::network);
  CHECK(crossed(graph, 0, 9, LinkKind::network) == same_rail);
  CHECK(crossed(graph, 0, 9, LinkKind::nvlink) == 8);
  CHECK(crossed(graph, 0, 4 * 8, LinkKind::network) == same_rail + 2);  // another block: up to the spine and down

  const FabricGraph mesh{full_mesh_host(), 8, superpod};
  CHECK(crossed(mesh, 0, 8, LinkKind::network) == same_rail);
  CHECK(crossed(mesh, 0, 9, LinkKind::network) == same_rail + 2);  // no switch to change the rail on
}

TEST_CASE("a GPU of a cube mesh reaches one that it has no link to over their neighbours") {
  const FabricGraph graph{cube_mesh_host(), 1, {}};
  CHECK(crossed(graph, 0, 5, LinkKind::nvlink) == 4);  // through 1 and through 4
  CHECK(crossed(graph, 0, 5, LinkKind::pcie) == 0);
  CHECK(crossed(graph, 0, 1, LinkKind::nvlink) == 1);
}

TEST_CASE("without peer access copies go up to the socket even below one PCIe switch") {
  NodeWiring host = pcie_host(8, true, 50.0, 8);
  const FabricGraph peers{host, 1, {}};
  CHECK(crossed(peers, 0, 1, LinkKind::pcie) == 2);
  host.peer_access = false;
  const FabricGraph staged{host, 1, {}};
  CHECK(crossed(staged, 0, 1, LinkKind::pcie) == 4);
  CHECK(crossed(staged, 0, 7, LinkKind::socket) == 1);
}

TEST_CASE("what a group inside a host sees follows the links") {
  // Whole cube mesh: three rings both ways, all six links of each GPU; a quad has four of them; pairs one or two.
  const FabricGraph cube{cube_mesh_host(), 1, {}};
  const Fabric box{cube, 8};
  CHECK(gigabytes(box.view(8, 1).inside_ring) == doctest::Approx(150.0));
  CHECK(gigabytes(box.view(4, 1).inside_ring) == doctest::Approx(100.0));
  CHECK(gigabytes(box.view(2, 1).inside_ring) == doctest::Approx(25.0));
  CHECK(gigabytes(box.view(2, 4).inside_ring) == doctest::Approx(25.0));  // 2-6 and 3-7 have one link
  // A full mesh of which a group takes four: three links of each.
  const FabricGraph mesh{full_mesh_host(), 1, {}};
  CHECK(gigabytes(Fabric(mesh, 8).view(4, 2).inside_ring) == doctest::Approx(3 * 64.0));
  CHECK(gigabytes(Fabric(mesh, 8).view(8, 1).inside_all) == doctest::Approx(7 * 64.0));
  CHECK(gigabytes(Fabric(mesh, 8).view(8, 1).inside_pair) == doctest::Approx(64.0));
  // PCIe alone: the ring's two crossings of the socket link, one each way.
  const FabricGraph pcie{pcie_host(8, true, 50.0, 8), 1, {}};
  CHECK(gigabytes(Fabric(pcie, 8).view(8, 1).inside_ring) == doctest::Approx(40.0));
  CHECK(Fabric(pcie, 8).view(8, 1).inside == LinkKind::socket);
  CHECK(gigabytes(Fabric(pcie, 8).view(2, 1).inside_ring) == doctest::Approx(63.0));
  CHECK(gigabytes(Fabric(pcie, 8).view(2, 4).inside_ring) == doctest::Approx(10.0));  // four pairs over one link
}

TEST_CASE("eight data-parallel groups share eight NICs, four NICs halve them") {
  const FabricGraph eight{switched_host(8, 50.0, 8), 4, superpod};
  const GroupView view = Fabric{eight, 32}.view(4, 8);
  CHECK(view.domains == 4);
  CHECK(view.per_domain == 1);
  CHECK(view.one_rail);
  CHECK(view.tier == 1);
  CHECK(gigabytes(view.outside_ring) == doctest::Approx(50.0));
  const FabricGraph four{switched_host(8, 12.5, 4), 4, NetworkTiers::non_blocking(4)};
  CHECK(gigabytes(Fabric{four, 32}.view(4, 8).outside_ring) == doctest::Approx(6.25));
  // Four NICs a GPU, as on an AWS p5 host.
  const FabricGraph many{switched_host(8, 12.5, 32), 4, NetworkTiers::non_blocking(4)};
  CHECK(gigabytes(Fabric{many, 32}.view(4, 8).outside_ring) == doctest::Approx(50.0));
}

TEST_CASE("what is laid out of a fabric and looked at of its groups does not grow with the job") {
  const auto graph_of = [](std::int64_t hosts) {
    return FabricGraph{switched_host(), hosts, NetworkTiers::non_blocking(hosts), FabricPart::two_domains};
  };
  constexpr std::int64_t small = 12'800, large = 10'000'000;
  const FabricGraph few = graph_of(small / 8), many = graph_of(large / 8);
  CHECK(many.gpus() == large);
  CHECK(many.links().size() == few.links().size());
  CHECK(many.elements().size() == few.elements().size());
  const auto looked_at = [](const GroupForm& form, std::int64_t job) {
    return typical_units(GroupShape{form}, 8, job).size();
  };
  for (const std::int64_t tp : {1, 2, 8}) {
    for (const std::int64_t pp : {1, 4, 16}) {
      const auto data_parallel = [&](std::int64_t job) { return GroupForm{job / tp / pp, tp}; };
      const auto stages = [&](std::int64_t job) { return GroupForm{pp, job / pp}; };
      const auto in_runs = [&](std::int64_t job) { return GroupForm{tp, 1, pp, job / pp}; };
      CHECK(looked_at(data_parallel(large), large) <= looked_at(data_parallel(small), small));
      CHECK(looked_at(stages(large), large) <= looked_at(stages(small), small));
      CHECK(looked_at(in_runs(large), large) <= looked_at(in_runs(small), small));
      CHECK(looked_at(data_parallel(large), large) < 200);
    }
  }
  const GroupView view = Fabric{many, large}.view(large / 16, 8);
  CHECK(view.domains == large / 16);
  CHECK(view.per_domain == 1);
  CHECK(gigabytes(view.outside_ring) == doctest::Approx(50.0));
}

TEST_CASE("runs of a group that meet without a gap are one run") {
  const FabricGraph switches{switched_host(8, 12.5, 4), 4, superpod};
  const FabricGraph wires{pcie_host(8, true, 50.0, 8), 4, NetworkTiers::non_blocking(4)};
  for (const FabricGraph* graph : {&switches, &wires}) {
    const Fabric fabric{*graph, 32};
    for (const auto& [form, ranks, stride] : {std::tuple{GroupForm{2, 1, 4, 2}, 8, 1},
                                              {GroupForm{2, 4, 4, 8}, 8, 4},
                                              {GroupForm{1, 1, 4, 8}, 4, 8},
                                              {GroupForm{4, 2, 2, 8}, 8, 2}}) {
      const GroupView runs = fabric.view(form), one = fabric.view(ranks, stride);
      CHECK(runs.ranks == one.ranks);
      CHECK(runs.domains == one.domains);
      CHECK(runs.per_domain == one.per_domain);
      CHECK(runs.tier == one.tier);
      CHECK(runs.inside_ring == one.inside_ring);
      CHECK(runs.inside_all == one.inside_all);
      CHECK(runs.outside_ring == one.outside_ring);
      CHECK(runs.outside_all == one.outside_all);
    }
  }
}

TEST_CASE("a group of two runs a host apart sees the links of its neighbours on each host") {
  // 0 and 1 with 8 and 9, 2 and 3 with 10 and 11, and so on: one link of the mesh within, a NIC each without.
  const FabricGraph graph{full_mesh_host(), 4, NetworkTiers::non_blocking(4)};
  const Fabric fabric{graph, 32};
  const GroupView pairs = fabric.view(GroupForm{2, 1, 2, 8});
  CHECK(pairs.ranks == 4);
  CHECK(pairs.domains == 2);
  CHECK(pairs.per_domain == 2);
  CHECK(pairs.fewest == 2);
  CHECK(gigabytes(pairs.inside_ring) == doctest::Approx(64.0));
  CHECK(pairs.outside_ring == fabric.view(2, 8).outside_ring);
  CHECK(fabric.view(GroupForm{2, 1, 2, 16}).domains == 2);
  CHECK_THROWS_AS(static_cast<void>(fabric.view(GroupForm{2, 3, 2, 8})), ConfigError);  // 6 do not tile 8
  CHECK_THROWS_AS(static_cast<void>(fabric.view(GroupForm{2, 1, 3, 8})), ConfigError);  // 24 do not tile 32
}

TEST_CASE("groups that fill domains unevenly are seen where they have neighbours") {
  // Pairs twelve apart on hosts of eight: some hosts hold both ranks of no pair.
  const FabricGraph graph{full_mesh_host(), 3, NetworkTiers::non_blocking(3)};
  const GroupView view = Fabric{graph, 24}.view(4, 6);
  CHECK(view.per_domain == 2);
  CHECK(view.fewest == 1);
  CHECK(gigabytes(view.inside_ring) == doctest::Approx(64.0));
}

TEST_CASE("oversubscription meets all-to-all and not a ring that passes a pod once") {
  // Llama 3: pods at full bisection, joined at 1:7 (Llama Team 2024, section 3.3.1); here pods of 8 hosts.
  const NetworkTiers clos{{tier("tor", 2, 1.0), tier("pod", 8, 1.0), tier("aggregation", 32, 7.0)}, false};
  const FabricGraph graph{switched_host(), 32, clos};
  const GroupView view = Fabric{graph, 256}.view(32, 8);
  CHECK(view.tier == 3);
  CHECK(gigabytes(view.outside_ring) == doctest::Approx(50.0));
  // Of each rank's sends 24 in 31 leave the pod: 64 GPUs share 8 x 8 x 50 / 7 GB/s.
  CHECK(gigabytes(view.outside_all) == doctest::Approx(50.0 / 7.0 * 31.0 / 24.0));
  // Groups of two pods apart pay it in full, even as a ring.
  const GroupView apart = Fabric{graph, 256}.view(2, 128);
  CHECK(gigabytes(apart.outside_ring) == doctest::Approx(50.0 / 7.0));
  CHECK(apart.binding_tier == 2);
  CHECK(Fabric{graph, 256}.view(2, 8).binding_tier == 0);
}

TEST_CASE("a rack-scale domain takes the same ranks in each rack") {
  NodeWiring tray = switched_host(4, 50.0, 4);
  tray.planes.domain = 72;
  const FabricGraph graph{tray, 2 * 18, {{tier("leaf", 18, 1.0), tier("spine", 36, 1.0)}, true}};
  CHECK(Fabric{graph, 128}.ranks_per_domain() == 64);
  CHECK(Fabric{graph, 144}.ranks_per_domain() == 72);
  CHECK(Fabric{graph, 72}.ranks_per_domain() == 72);
  const GroupView inside = Fabric{graph, 128}.view(64, 1);
  CHECK(inside.domains == 1);
  CHECK(inside.tier == 0);
  CHECK(inside.nodes == 16);
  CHECK(gigabytes(inside.inside_ring) == doctest::Approx(450.0));
  CHECK(Fabric{graph, 128}.view(2, 64).domains == 2);
}

TEST_CASE("max-min fairness fills links one after the other") {
  // Two flows share link 0 of 10; the second also crosses link 1 of 2 (Bertsekas and Gallager 1992, figure 6.16's
  // kind).
  const std::vector<FabricLink> links{{0, 1, LinkKind::nvlink, BytesPerSecond{10.0}, {}},
                                      {1, 2, LinkKind::nvlink, BytesPerSecond{2.0}, {}}};
  const std::vector<Flow> flows{{{{0, 1.0}}}, {{{0, 1.0}, {1, 1.0}}}, {{{1, 0.5}, {0, 0.5}}}, {}};
  const std::vector<BytesPerSecond> rates = test::max_min_rates(links, flows);
  CHECK(rates[1].raw() == doctest::Approx(4.0 / 3.0));
  CHECK(rates[2].raw() == doctest::Approx(4.0 / 3.0));
  CHECK(rates[0].raw() == doctest::Approx(8.0));
  CHECK(std::isinf(rates[3].raw()));
  CHECK(slowest_flow(links, flows).rate.raw() == doctest::Approx(4.0 / 3.0));
  CHECK(slowest_flow(links, flows).link == 1);
}

TEST_CASE("bisection is a cut") {
  CHECK(gigabytes(FabricGraph(switched_host(), 1, {}).bisection()) == doctest::Approx(4 * 450.0 + 40.0));
  CHECK(gigabytes(FabricGraph(switched_host(), 16, superpod).bisection()) == doctest::Approx(64 * 50.0));
  const NetworkTiers clos{{tier("pod", 4, 1.0), tier("aggregation", 16, 4.0)}, false};
  CHECK(gigabytes(FabricGraph(switched_host(), 16, clos).bisection()) == doctest::Approx(64 * 50.0 / 4));
}

TEST_CASE("a table answers as the fabric does") {
  const FabricGraph graph{switched_host(), 6, NetworkTiers::non_blocking(6)};
  const Fabric fabric{graph, 48};
  const GroupTable table{fabric};
  REQUIRE(table.find(6, 8) != nullptr);
  CHECK(table.find(6, 8)->outside_ring == fabric.view(6, 8).outside_ring);
  CHECK(table.find(5, 1) == nullptr);
  CHECK(table.find(48, 2) == nullptr);
}

TEST_CASE("what cannot be built is named, all at once") {
  const auto message = [](NodeWiring host, std::int64_t nodes, NetworkTiers plan) -> std::string {
    try {
      const FabricGraph graph{std::move(host), nodes, std::move(plan)};
      return "";
    } catch (const ConfigError& error) {
      return error.what();
    }
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  NodeWiring broken = full_mesh_host(4);
  broken.pairs[0].rate = BytesPerSecond{};
  broken.pairs[1].b = 9;
  broken.nics[2].rate = BytesPerSecond{};
  const std::string text = message(broken, 3, {{tier("leaf", 2, 1.0)}, false});
  CHECK(has(text, "GPUs 0 and 1 has no rate"));
  CHECK(has(text, "GPUs 0 and 9 must join two of GPUs 0 to 3"));
  CHECK(has(text, "NIC 2 has no rate"));
  CHECK(has(text, "3 hosts (12 GPUs) are more than its last tier 'leaf' holds (2)"));
  NodeWiring alone = full_mesh_host(3);
  alone.gpu_pcie = BytesPerSecond{};
  alone.nics.clear();
  alone.pairs.erase(alone.pairs.begin() + 1, alone.pairs.end());
  CHECK(has(message(alone, 1, {}), "no link joins GPU 2 of host 0 to GPU 0"));
  CHECK(has(message(alone, 2, NetworkTiers::non_blocking(2)), "2 hosts without NICs"));
  CHECK(has(message(switched_host(), 4, {{tier("leaf", 2, 1.0), tier("spine", 5, 1.0)}, false}), "whole blocks"));
  CHECK(has(message(switched_host(), 4, {}), "at least one [[tier]]"));

  const FabricGraph graph{switched_host(), 4, NetworkTiers::non_blocking(4)};
  CHECK_THROWS_WITH_AS(Fabric(graph, 12), doctest::Contains("take 8 or 16"), ConfigError);
  CHECK_THROWS_WITH_AS(Fabric(graph, 64), doctest::Contains("need 64 GPUs; the fabric has 32"), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(Fabric(graph, 32).view(3, 1)), ConfigError);
}

}  // namespace
}  // namespace headroom
