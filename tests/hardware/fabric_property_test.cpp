// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/group_shape.hpp>
#include <headroom/hardware/fabric/max_min.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/max_min_rates.hpp"
#include "walked_groups.hpp"
#include "wirings.hpp"
#include <algorithm>
#include <cmath>
#include <optional>

namespace headroom {
namespace {

using test::tier;

/// A small cluster of any form that a group's view must agree with flow by flow.
struct Cluster {
  NodeWiring host;
  std::int64_t nodes = 1;
  NetworkTiers network;
};

Cluster any_cluster() {
  Cluster c;
  const int form = *rc::gen::inRange(0, 4);
  const std::int64_t nics = *rc::gen::element<std::int64_t>(4, 8, 16);
  c.host = form == 0   ? test::switched_host(8, 25.0, nics)
           : form == 1 ? test::full_mesh_host(8)
           : form == 2 ? test::pcie_host(8, true, 12.5, nics)
                       : test::switched_host(4, 50.0, 4);
  const std::int64_t leaf = *rc::gen::inRange<std::int64_t>(1, 4);
  const std::int64_t spine = leaf * *rc::gen::inRange<std::int64_t>(1, 4);
  c.network.tiers = {tier("leaf", leaf, 1.0), tier("spine", spine, *rc::gen::element(1.0, 2.0, 3.0)),
                     tier("core", 2 * spine, *rc::gen::element(1.0, 4.0, 7.0))};
  c.network.rail_optimised = *rc::gen::arbitrary<bool>();
  c.nodes = *rc::gen::inRange<std::int64_t>(1, 2 * spine + 1);
  return c;
}

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= n; ++d) {
    if (n % d == 0) {
      all.push_back(d);
    }
  }
  return all;
}

/// A flow without what it crosses inside hosts before it reaches a NIC: the views count that apart.
Flow network_part(const FabricGraph& graph, std::int64_t from, std::int64_t to) {
  Flow flow{graph.route(from, to)};
  std::erase_if(flow.route, [&](const RouteStep& step) {
    return graph.links()[static_cast<std::size_t>(step.link)].kind != LinkKind::network;
  });
  return flow;
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

TEST_CASE("a view's network rates are those of its flows counted one by one") {
  CHECK(rc::check([] {
    const Cluster c = any_cluster();
    const FabricGraph graph{c.host, c.nodes, c.network};
    const std::int64_t job = graph.gpus(), host = c.host.gpus;
    const std::int64_t ranks = *rc::gen::elementOf(divisors(job));
    const std::int64_t stride = *rc::gen::elementOf(divisors(job / ranks));
    const GroupView view = Fabric{graph, job}.view(ranks, stride);
    RC_CLASSIFY(view.domains > 1, "leaves its domain");
    if (view.domains == 1 || view.per_domain != view.fewest) {
      return;
    }
    std::vector<Flow> ring, all;
    std::vector<double> shares;
    for (std::int64_t first = 0; first < job; ++first) {
      if (first / stride % ranks != 0) {
        continue;
      }
      for (std::int64_t i = 0; i < ranks; ++i) {
        const std::int64_t from = first + i * stride;
        ring.push_back(network_part(graph, from, first + (i + view.per_domain) % ranks * stride));
        for (std::int64_t j = 0; j < ranks; ++j) {
          const std::int64_t to = first + j * stride;
          if (to / host != from / host) {
            all.push_back(network_part(graph, from, to));
            shares.push_back(1.0 / static_cast<double>(ranks - view.per_domain));
          }
        }
      }
    }
    // Inside a host the views add PCIe; these hosts' PCIe gives more than their NICs unless several share a switch.
    const double ring_rate = slowest_flow(graph.links(), ring).rate.raw();
    const double all_rate = slowest_flow(graph.links(), all, shares).rate.raw();
    const bool host_binds = view.outside != LinkKind::network;
    RC_ASSERT(close(view.outside_ring.raw(), ring_rate) || (host_binds && view.outside_ring.raw() < ring_rate));
    if (stride % host != 0 && host % stride != 0) {
      return;  // uniform sends then meet the NICs unevenly; the view spreads them evenly
    }
    RC_ASSERT(close(view.outside_all.raw(), all_rate) || (host_binds && view.outside_all.raw() < all_rate));
  }));
}

/// A cluster of more hosts than its groups lie on in different ways, as odd as tiers and domains may be.
Cluster any_large_cluster() {
  Cluster c = any_cluster();
  if (*rc::gen::inRange(0, 3) == 0) {  // rack-scale domains, which tiers may cut
    c.host = test::switched_host(4, 50.0, 4);
    c.host.planes.domain = 4 * *rc::gen::inRange<std::int64_t>(2, 6);
  }
  const std::int64_t leaf = *rc::gen::inRange<std::int64_t>(1, 7);
  const std::int64_t spine = leaf * *rc::gen::inRange<std::int64_t>(1, 7);
  c.network.tiers[0].nodes = leaf;
  c.network.tiers[1].nodes = spine;
  c.network.tiers[2].nodes = spine * 10'000;
  if (*rc::gen::arbitrary<bool>()) {
    c.network.tiers.erase(c.network.tiers.begin() + 1);
  }
  const std::int64_t hosts = std::max<std::int64_t>(1, c.host.planes.domain / c.host.gpus);
  c.nodes = hosts * *rc::gen::element<std::int64_t>(1, 2, 3, 7, 36, 48, 60, 97, 120, 180, 210, 256);
  return c;
}

TEST_CASE("what groups see at some places of a job is what they see when all are walked") {
  CHECK(rc::check([] {
    const Cluster c = any_large_cluster();
    const FabricGraph graph{c.host, c.nodes, c.network, FabricPart::two_domains};
    std::int64_t job = graph.gpus();
    if (*rc::gen::arbitrary<bool>()) {  // a part of each domain
      const std::int64_t share = c.host.gpus * *rc::gen::elementOf(divisors(graph.domain_gpus() / c.host.gpus));
      job = graph.gpus() / graph.domain_gpus() * share;
    }
    std::optional<Fabric> fabric;
    try {
      fabric.emplace(graph, job);
    } catch (const ConfigError&) {
      return;  // no such number of ranks fills hosts
    }
    GroupForm form{*rc::gen::elementOf(divisors(job))};
    form.stride = *rc::gen::elementOf(divisors(job / form.ranks));
    if (*rc::gen::arbitrary<bool>()) {
      const std::int64_t run = form.ranks * form.stride;
      form.apart = run * *rc::gen::elementOf(divisors(job / run));
      form.runs = *rc::gen::elementOf(divisors(job / form.apart));
    }
    const GroupView seen = fabric->view(form), walked = test::walked_view(*fabric, form);
    RC_CLASSIFY(seen.domains > 1, "leaves its domain");
    RC_CLASSIFY(seen.binding_tier > 0, "bound by uplinks");
    RC_CLASSIFY(typical_units(GroupShape{form}, fabric->ranks_per_domain(), job).size() <
                    static_cast<std::size_t>(job / fabric->ranks_per_domain()),
                "not every domain looked at");
    RC_ASSERT(seen.domains == walked.domains);
    RC_ASSERT(seen.per_domain == walked.per_domain);
    RC_ASSERT(seen.fewest == walked.fewest);
    RC_ASSERT(seen.nodes == walked.nodes);
    RC_ASSERT(seen.tier == walked.tier);
    RC_ASSERT(seen.one_rail == walked.one_rail);
    RC_ASSERT(seen.outside == walked.outside);
    RC_ASSERT(seen.binding_tier == walked.binding_tier);
    RC_ASSERT(seen.all_binding_tier == walked.all_binding_tier);
    RC_ASSERT(seen.in_switch == walked.in_switch);
    RC_ASSERT(seen.inside_ring == walked.inside_ring);
    RC_ASSERT(seen.inside_all == walked.inside_all);
    RC_ASSERT(seen.inside_pair == walked.inside_pair);
    RC_ASSERT(seen.outside_ring == walked.outside_ring);
    RC_ASSERT(seen.outside_all == walked.outside_all);
    RC_ASSERT(seen.outside_pair == walked.outside_pair);
    RC_ASSERT(seen.outside_latency == walked.outside_latency);
  }));
}

TEST_CASE("sharing never creates bandwidth") {
  CHECK(rc::check([] {
    const Cluster c = any_cluster();
    const FabricGraph graph{c.host, c.nodes, c.network};
    std::vector<Flow> flows;
    const int count = *rc::gen::inRange(1, 12);
    for (int i = 0; i < count; ++i) {
      flows.push_back({graph.route(*rc::gen::inRange<std::int64_t>(0, graph.gpus()),
                                   *rc::gen::inRange<std::int64_t>(0, graph.gpus()))});
    }
    const std::vector<BytesPerSecond> rates = test::max_min_rates(graph.links(), flows);
    std::vector<double> used(graph.links().size(), 0.0);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      for (const RouteStep& step : flows[i].route) {
        used[static_cast<std::size_t>(step.link)] += step.share * rates[i].raw();
      }
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      RC_ASSERT(used[i] <= graph.links()[i].rate.raw() * (1.0 + 1e-6));
    }
    // Max-min: each flow has a full link on which none is faster.
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const bool justified = std::any_of(flows[i].route.begin(), flows[i].route.end(), [&](const RouteStep& step) {
        const auto link = static_cast<std::size_t>(step.link);
        bool fastest = used[link] >= graph.links()[link].rate.raw() * (1.0 - 1e-6);
        for (std::size_t other = 0; other < flows.size(); ++other) {
          for (const RouteStep& s : flows[other].route) {
            fastest = fastest && (s.link != step.link || rates[other].raw() <= rates[i].raw() * (1.0 + 1e-6));
          }
        }
        return fastest;
      });
      RC_ASSERT(flows[i].route.empty() || justified);
    }
    // A group alone on its links is never slower than among others.
    const std::vector<BytesPerSecond> alone = test::max_min_rates(graph.links(), std::span{flows}.first(1));
    RC_ASSERT(alone[0].raw() >= rates[0].raw() * (1.0 - 1e-9));
  }));
}

TEST_CASE("all ranks of a host together send no more than its NICs") {
  CHECK(rc::check([] {
    const Cluster c = any_cluster();
    const FabricGraph graph{c.host, c.nodes, c.network};
    const Fabric fabric{graph, graph.gpus()};
    double nics = 0.0;
    for (const NodeWiring::Nic& nic : c.host.nics) {
      nics += nic.rate.raw();
    }
    const std::int64_t ranks = *rc::gen::elementOf(divisors(graph.gpus()));
    const std::int64_t stride = *rc::gen::elementOf(divisors(graph.gpus() / ranks));
    const GroupView view = fabric.view(ranks, stride);
    RC_ASSERT(static_cast<double>(c.host.gpus) * view.outside_ring.raw() <= nics * (1.0 + 1e-9));
    RC_ASSERT(static_cast<double>(c.host.gpus) * view.outside_all.raw() <= nics * (1.0 + 1e-9));
  }));
}

TEST_CASE("a rail-aligned group below one leaf never pays the spine") {
  CHECK(rc::check([] {
    Cluster c = any_cluster();
    c.network.rail_optimised = true;
    const std::int64_t leaf = c.network.tiers[0].nodes;
    c.nodes = leaf * *rc::gen::inRange<std::int64_t>(1, c.network.tiers[2].nodes / leaf + 1);
    const FabricGraph graph{c.host, c.nodes, c.network};
    const std::int64_t ranks = *rc::gen::elementOf(divisors(leaf));
    const GroupView view = Fabric{graph, graph.gpus()}.view(ranks, c.host.gpus);
    RC_ASSERT(view.one_rail);
    RC_ASSERT(view.tier == (ranks > 1 ? 1 : 0));
    for (std::int64_t i = 1; i < ranks; ++i) {
      for (const RouteStep& step : graph.route(0, i * c.host.gpus)) {
        const FabricLink& link = graph.links()[static_cast<std::size_t>(step.link)];
        RC_ASSERT(graph.elements()[static_cast<std::size_t>(link.to)].tier <= 1);
      }
    }
  }));
}

}  // namespace
}  // namespace headroom
