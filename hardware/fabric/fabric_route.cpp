// SPDX-License-Identifier: Apache-2.0
// Routes through the fabric graph, computed from its layout instead of searched.
#include <headroom/hardware/fabric/fabric_graph.hpp>

#include <algorithm>
#include <cassert>

namespace headroom {

class FabricRouter {
 public:
  FabricRouter(const FabricGraph& graph, std::vector<RouteStep>& steps) : graph_(graph), steps_(steps) {}

  void route(std::int64_t from, std::int64_t to) {
    const std::int64_t gpus = graph_.wiring_.gpus;
    if (from / graph_.domain_ == to / graph_.domain_ &&
        (graph_.wiring_.planes.planes > 0 || from / gpus == to / gpus)) {
      local(from, to, 1.0);
    } else {
      network(from, to);
    }
  }

 private:
  void cross(std::int64_t node, std::int32_t family, std::int64_t which, bool even, double share) {
    const std::int64_t id = node * graph_.family_.size + family + 2 * which + (even ? 0 : 1);
    steps_.push_back({static_cast<std::int32_t>(id), share});
  }

  void local(std::int64_t from, std::int64_t to, double share) {
    const std::int64_t gpus = graph_.wiring_.gpus;
    const std::int64_t planes = graph_.wiring_.planes.planes;
    if (planes > 0) {
      for (std::int64_t p = 0; p < planes; ++p) {
        const double part = share / static_cast<double>(planes);
        cross(from / gpus, graph_.family_.planes, from % gpus * planes + p, true, part);
        cross(to / gpus, graph_.family_.planes, to % gpus * planes + p, false, part);
      }
    } else if (!direct(from / gpus, from % gpus, to % gpus, share) &&
               !through_neighbours(from / gpus, from % gpus, to % gpus, share)) {
      pcie(from / gpus, from % gpus, to % gpus, share);
    }
  }

  [[nodiscard]] const NodeWiring::Pair* pair_of(std::int64_t a, std::int64_t b) const {
    for (const NodeWiring::Pair& pair : graph_.wiring_.pairs) {
      if (pair.a == std::min(a, b) && pair.b == std::max(a, b)) {
        return &pair;
      }
    }
    return nullptr;
  }

  bool direct(std::int64_t node, std::int64_t a, std::int64_t b, double share) {
    const NodeWiring::Pair* pair = pair_of(a, b);
    if (pair != nullptr) {
      cross(node, graph_.family_.pairs, pair - graph_.wiring_.pairs.data(), a < b, share);
    }
    return pair != nullptr;
  }

  /// NCCL's path class NVB: over one GPU that both ends are linked to, evenly if there are several.
  bool through_neighbours(std::int64_t node, std::int64_t a, std::int64_t b, double share) {
    std::vector<std::int64_t> between;
    for (std::int64_t c = 0; c < graph_.wiring_.gpus; ++c) {
      if (c != a && c != b && pair_of(a, c) != nullptr && pair_of(c, b) != nullptr) {
        between.push_back(c);
      }
    }
    for (const std::int64_t c : between) {
      direct(node, a, c, share / static_cast<double>(between.size()));
      direct(node, c, b, share / static_cast<double>(between.size()));
    }
    return !between.empty();
  }

  /// From one PCIe switch or root complex to another; `through_host` goes up to the sockets even below one switch.
  void between_ports(std::int64_t node,
                     std::int64_t switch_a,
                     std::int64_t socket_a,
                     std::int64_t switch_b,
                     std::int64_t socket_b,
                     bool through_host,
                     double share) {
    if (switch_a == switch_b && switch_a >= 0 && !through_host) {
      return;
    }
    if (switch_a >= 0) {
      cross(node, graph_.family_.switches, switch_a, true, share);
    }
    for (std::int64_t s = socket_a; s < socket_b; ++s) {
      cross(node, graph_.family_.sockets, s, true, share);
    }
    for (std::int64_t s = socket_a; s > socket_b; --s) {
      cross(node, graph_.family_.sockets, s - 1, false, share);
    }
    if (switch_b >= 0) {
      cross(node, graph_.family_.switches, switch_b, false, share);
    }
  }

  void pcie(std::int64_t node, std::int64_t a, std::int64_t b, double share) {
    const NodeWiring& w = graph_.wiring_;
    assert(w.gpu_pcie.raw() > 0.0);
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    cross(node, graph_.family_.gpu_pcie, a, true, share);
    between_ports(node, w.gpu_switch[i], w.gpu_socket[i], w.gpu_switch[j], w.gpu_socket[j], !w.peer_access, share);
    cross(node, graph_.family_.gpu_pcie, b, false, share);
  }

  void network(std::int64_t from, std::int64_t to) {
    const std::int64_t gpus = graph_.wiring_.gpus;
    const bool rails_differ = graph_.rails_ > 1 && graph_.rail_of(from % gpus) != graph_.rail_of(to % gpus);
    // Without NVLink to change rails, rails that meet in no upper switch are reached only through the host.
    if (rails_differ && (graph_.wiring_.planes.planes > 0 || graph_.network_.tiers.size() < 2)) {
      const std::int64_t relay = from / gpus * gpus + to % gpus;
      local(from, relay, 1.0);
      from = relay;
    }
    const std::span<const std::int32_t> out = graph_.nics_of(from % gpus), in = graph_.nics_of(to % gpus);
    const std::size_t ways = std::max(out.size(), in.size());
    for (std::size_t i = 0; i < ways; ++i) {
      const double share = 1.0 / static_cast<double>(ways);
      const std::int32_t nic_out = out[i % out.size()], nic_in = in[i % in.size()];
      through_nic(from / gpus, from % gpus, nic_out, true, share);
      climb(from / gpus, nic_out, to / gpus, nic_in, share);
      through_nic(to / gpus, to % gpus, nic_in, false, share);
    }
  }

  void through_nic(std::int64_t node, std::int64_t gpu, std::int32_t nic, bool outward, double share) {
    const NodeWiring& w = graph_.wiring_;
    const NodeWiring::Nic& port = w.nics[static_cast<std::size_t>(nic)];
    if (port.gpu < 0 && w.gpu_pcie.raw() > 0.0) {
      const auto g = static_cast<std::size_t>(gpu);
      cross(node, graph_.family_.gpu_pcie, gpu, outward, share);
      if (outward) {
        between_ports(node, w.gpu_switch[g], w.gpu_socket[g], port.pcie_switch, port.socket, false, share);
      } else {
        between_ports(node, port.pcie_switch, port.socket, w.gpu_switch[g], w.gpu_socket[g], false, share);
      }
    }
    cross(node, graph_.family_.nics, nic, outward, share);
    cross(node, graph_.family_.network, nic, outward, share);
  }

  void climb(std::int64_t node_a, std::int32_t nic_a, std::int64_t node_b, std::int32_t nic_b, double share) {
    const auto& tiers = graph_.network_.tiers;
    std::int64_t a = node_a / tiers[0].nodes * graph_.rails_ + nic_a % graph_.rails_;
    std::int64_t b = node_b / tiers[0].nodes * graph_.rails_ + nic_b % graph_.rails_;
    for (std::size_t tier = 1; a != b; ++tier) {
      assert(tier < tiers.size());
      steps_.push_back({graph_.tier_links_[tier - 1] + static_cast<std::int32_t>(2 * a), share});
      steps_.push_back({graph_.tier_links_[tier - 1] + static_cast<std::int32_t>(2 * b) + 1, share});
      a = node_a / tiers[tier].nodes;
      b = node_b / tiers[tier].nodes;
    }
  }

  const FabricGraph& graph_;
  std::vector<RouteStep>& steps_;
};

std::vector<RouteStep> FabricGraph::route(std::int64_t from, std::int64_t to) const {
  assert(from >= 0 && to >= 0 && from < gpus() && to < gpus());
  std::vector<RouteStep> steps;
  if (from != to) {
    FabricRouter{*this, steps}.route(from, to);
  }
  return steps;
}

}  // namespace headroom
