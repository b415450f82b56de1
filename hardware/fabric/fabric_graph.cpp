// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/fabric/fabric_graph.hpp>

// g++ 12 reports the edge iterators of Boost's max-flow header as uninitialised wherever they are instantiated.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/connected_components.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <map>
#include <utility>

namespace headroom {
namespace {

std::int64_t blocks(std::int64_t nodes, std::int64_t per_block) {
  return (nodes + per_block - 1) / per_block;
}

void check_wiring(const NodeWiring& wiring, Diagnostics& problems) {
  const auto problem = [&](const std::string& message) { problems.add("", {}, wiring.name + ": " + message); };
  if (wiring.gpus < 1) {
    problem("a host has " + std::to_string(wiring.gpus) + " GPUs; it needs at least one");
  }
  for (const NodeWiring::Pair& pair : wiring.pairs) {
    const std::string name = "the link of GPUs " + std::to_string(pair.a) + " and " + std::to_string(pair.b);
    if (pair.a < 0 || pair.b <= pair.a || pair.b >= wiring.gpus) {
      problem(name + " must join two of GPUs 0 to " + std::to_string(wiring.gpus - 1) + ", the lower one first");
    } else if (!(pair.rate.raw() > 0.0)) {
      problem(name + " has no rate; give per_pair or take the link out");
    }
  }
  if (wiring.planes.planes > 0 && !(wiring.planes.rate.raw() > 0.0)) {
    problem("the links into its NVSwitches have no rate; give per_gpu");
  }
  if (wiring.planes.planes > 0 && (wiring.planes.domain < wiring.gpus || wiring.planes.domain % wiring.gpus != 0)) {
    problem("a switched domain of " + std::to_string(wiring.planes.domain) + " GPUs does not hold whole hosts of " +
            std::to_string(wiring.gpus));
  }
  for (std::size_t i = 0; i < wiring.nics.size(); ++i) {
    if (!(wiring.nics[i].rate.raw() > 0.0)) {
      problem("NIC " + std::to_string(i) + " has no rate; give [nics] rate");
    }
  }
}

void check_network(const NodeWiring& wiring, std::int64_t nodes, const NetworkTiers& network, Diagnostics& problems) {
  const auto problem = [&](const std::string& message) { problems.add("", {}, wiring.name + ": " + message); };
  if (nodes < 1) {
    problem("a fabric of " + std::to_string(nodes) + " hosts; it needs at least one");
  }
  if (nodes <= 1 || (wiring.planes.planes > 0 && nodes * wiring.gpus <= wiring.planes.domain)) {
    return;
  }
  if (wiring.nics.empty()) {
    problem(counted(nodes, "host") + " without NICs cannot reach each other; give [nics] or use one host");
  }
  if (network.tiers.empty()) {
    problem(counted(nodes, "host") + " need at least one [[tier]] of switches");
    return;
  }
  for (std::size_t i = 0; i < network.tiers.size(); ++i) {
    const ClusterTier& tier = network.tiers[i];
    if (tier.nodes < 1 || !(tier.oversubscription >= 1.0)) {
      problem("tier '" + tier.name + "' must hold at least one host at an oversubscription of 1 or more");
    } else if (i > 0 && network.tiers[i - 1].nodes > 0 && tier.nodes % network.tiers[i - 1].nodes != 0) {
      problem("tier '" + tier.name + "' of " + counted(tier.nodes, "host") + " does not hold whole blocks of tier '" +
              network.tiers[i - 1].name + "' (" + std::to_string(network.tiers[i - 1].nodes) + ")");
    }
  }
  if (network.tiers.back().nodes < nodes) {
    problem(counted(nodes, "host") + " (" + std::to_string(nodes * wiring.gpus) +
            " GPUs) are more than its last tier '" + network.tiers.back().name + "' holds (" +
            std::to_string(network.tiers.back().nodes) + "); add a [[tier]] or ask for fewer");
  }
}

/// Distance class: 0 the accelerator's own port, 1 below the same PCIe switch, 2 at the same socket, 3 across sockets,
/// 4 another accelerator's port.
int nic_distance(const NodeWiring& wiring, std::int64_t gpu, const NodeWiring::Nic& nic) {
  const auto g = static_cast<std::size_t>(gpu);
  if (nic.gpu >= 0) {
    return nic.gpu == gpu ? 0 : 4;
  }
  if (nic.pcie_switch >= 0 && nic.pcie_switch == wiring.gpu_switch[g]) {
    return 1;
  }
  return nic.socket == wiring.gpu_socket[g] ? 2 : 3;
}

std::vector<std::vector<std::int32_t>> nearest_nics(const NodeWiring& wiring) {
  std::vector<std::vector<std::int32_t>> nearest(static_cast<std::size_t>(wiring.gpus));
  for (std::int64_t gpu = 0; gpu < wiring.gpus; ++gpu) {
    int best = std::numeric_limits<int>::max();
    for (const NodeWiring::Nic& nic : wiring.nics) {
      best = std::min(best, nic_distance(wiring, gpu, nic));
    }
    for (std::size_t i = 0; i < wiring.nics.size(); ++i) {
      if (nic_distance(wiring, gpu, wiring.nics[i]) == best) {
        nearest[static_cast<std::size_t>(gpu)].push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  return nearest;
}

/// Divides NICs among the GPUs that have the same nearest ones: in equal parts, or shared where there are too few.
std::vector<std::vector<std::int32_t>> deal_nics(const NodeWiring& wiring) {
  const std::vector<std::vector<std::int32_t>> nearest = nearest_nics(wiring);
  std::vector<std::vector<std::int32_t>> dealt(nearest.size());
  for (std::size_t gpu = 0; gpu < nearest.size(); ++gpu) {
    const std::vector<std::int32_t>& set = nearest[gpu];
    const auto sharers = static_cast<std::size_t>(std::count(nearest.begin(), nearest.end(), set));
    const auto turn =
        static_cast<std::size_t>(std::count(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(gpu), set));
    if (set.size() >= sharers) {
      dealt[gpu].assign(set.begin() + static_cast<std::ptrdiff_t>(turn * set.size() / sharers),
                        set.begin() + static_cast<std::ptrdiff_t>((turn + 1) * set.size() / sharers));
    } else if (!set.empty()) {
      dealt[gpu].push_back(set[turn * set.size() / sharers]);
    }
  }
  return dealt;
}

}  // namespace

NetworkTiers NetworkTiers::non_blocking(std::int64_t nodes) {
  return {{{"network", std::max<std::int64_t>(nodes, 1), 1.0, std::nullopt}}, false};
}

/// Lays out vertices and links in the order that route() relies on.
struct FabricGraph::Builder {
  FabricGraph& graph;
  const NodeWiring& wiring = graph.wiring_;
  std::int32_t gpus = static_cast<std::int32_t>(wiring.gpus);
  std::int32_t switches = static_cast<std::int32_t>(wiring.switch_socket.size());
  std::int32_t sockets = wiring.gpu_pcie.raw() > 0.0 ? static_cast<std::int32_t>(wiring.sockets) : 0;
  std::int32_t nics = static_cast<std::int32_t>(wiring.nics.size());
  std::int32_t planes = static_cast<std::int32_t>(wiring.planes.planes);
  std::int32_t per_host = gpus + switches + sockets + nics;
  std::int32_t first_plane = 0;
  std::vector<std::int32_t> first_switch{};  ///< first vertex of each network tier, from the lowest

  void link(std::int32_t from, std::int32_t to, LinkKind kind, BytesPerSecond rate, Seconds there, Seconds back) {
    graph.links_.push_back({from, to, kind, rate, there});
    graph.links_.push_back({to, from, kind, rate, back});
  }

  void count_families() {
    Families& f = graph.family_;
    const bool pcie = sockets > 0;
    f.pairs = 0;
    f.planes = f.pairs + 2 * static_cast<std::int32_t>(wiring.pairs.size());
    f.gpu_pcie = f.planes + 2 * gpus * planes;
    f.switches = f.gpu_pcie + (pcie ? 2 * gpus : 0);
    f.sockets = f.switches + (pcie ? 2 * switches : 0);
    f.nics = f.sockets + (pcie ? 2 * (sockets - 1) : 0);
    f.network = f.nics + 2 * nics;
    f.size = f.network + (networked() ? 2 * nics : 0);
  }

  [[nodiscard]] bool networked() const { return graph.nodes_ > 1 && !graph.network_.tiers.empty() && nics > 0; }

  void add_elements() {
    const auto add = [&](ElementKind kind, std::int64_t place, std::int32_t count, std::int32_t tier = 0) {
      for (std::int32_t i = 0; i < count; ++i) {
        graph.elements_.push_back({kind, static_cast<std::int32_t>(place), i, tier});
      }
    };
    for (std::int64_t node = 0; node < graph.laid_out_; ++node) {
      add(ElementKind::gpu, node, gpus);
      add(ElementKind::pcie_switch, node, switches);
      add(ElementKind::socket, node, sockets);
      add(ElementKind::nic, node, nics);
    }
    first_plane = static_cast<std::int32_t>(graph.elements_.size());
    for (std::int64_t domain = 0; planes > 0 && domain < blocks(graph.laid_out_ * wiring.gpus, graph.domain_);
         ++domain) {
      add(ElementKind::nvswitch, domain, planes);
    }
    for (std::size_t tier = 0; networked() && tier < graph.network_.tiers.size(); ++tier) {
      first_switch.push_back(static_cast<std::int32_t>(graph.elements_.size()));
      const std::int64_t count = blocks(graph.laid_out_, graph.network_.tiers[tier].nodes);
      const auto rails = static_cast<std::int32_t>(tier == 0 ? graph.rails_ : 1);
      for (std::int64_t block = 0; block < count; ++block) {
        add(ElementKind::network_switch, block, rails, static_cast<std::int32_t>(tier) + 1);
      }
    }
  }

  [[nodiscard]] std::int32_t parent(std::int32_t host, std::int64_t pcie_switch, std::int64_t socket) const {
    return pcie_switch >= 0 ? host + gpus + static_cast<std::int32_t>(pcie_switch)
                            : host + gpus + switches + static_cast<std::int32_t>(socket);
  }

  void add_scale_up_links(std::int64_t node, std::int32_t host) {
    for (const NodeWiring::Pair& pair : wiring.pairs) {
      link(host + static_cast<std::int32_t>(pair.a), host + static_cast<std::int32_t>(pair.b), pair.kind, pair.rate, {},
           {});
    }
    const auto domain = static_cast<std::int32_t>(node * gpus / graph.domain_);
    for (std::int32_t gpu = 0; gpu < gpus; ++gpu) {
      for (std::int32_t plane = 0; plane < planes; ++plane) {
        link(host + gpu, first_plane + domain * planes + plane, wiring.planes.kind, wiring.planes.rate, {}, {});
      }
    }
  }

  void add_pcie_links(std::int32_t host) {
    if (sockets == 0) {
      return;
    }
    for (std::int32_t gpu = 0; gpu < gpus; ++gpu) {
      const auto g = static_cast<std::size_t>(gpu);
      link(host + gpu, parent(host, wiring.gpu_switch[g], wiring.gpu_socket[g]), wiring.host_link, wiring.gpu_pcie, {},
           {});
    }
    for (std::int32_t s = 0; s < switches; ++s) {
      link(host + gpus + s, parent(host, -1, wiring.switch_socket[static_cast<std::size_t>(s)]), LinkKind::pcie,
           wiring.switch_pcie, {}, {});
    }
    for (std::int32_t s = 0; s + 1 < sockets; ++s) {
      link(parent(host, -1, s), parent(host, -1, s + 1), LinkKind::socket, wiring.socket_link, {}, {});
    }
  }

  void add_nic_links(std::int64_t node, std::int32_t host) {
    for (std::int32_t i = 0; i < nics; ++i) {
      const NodeWiring::Nic& nic = wiring.nics[static_cast<std::size_t>(i)];
      const std::int32_t vertex = host + gpus + switches + sockets + i;
      if (nic.gpu >= 0 || sockets == 0) {
        link(host + static_cast<std::int32_t>(std::max<std::int64_t>(nic.gpu, 0)), vertex, LinkKind::network, nic.rate,
             {}, {});
      } else {
        link(parent(host, nic.pcie_switch, nic.socket), vertex, LinkKind::pcie, wiring.gpu_pcie, {}, {});
      }
    }
    for (std::int32_t i = 0; networked() && i < nics; ++i) {
      const ClusterTier& tier = graph.network_.tiers.front();
      const auto block = static_cast<std::int32_t>(node / tier.nodes);
      const auto rails = static_cast<std::int32_t>(graph.rails_);
      link(host + gpus + switches + sockets + i, first_switch[0] + block * rails + i % rails, LinkKind::network,
           wiring.nics[static_cast<std::size_t>(i)].rate / tier.oversubscription, hop(0), {});
    }
  }

  [[nodiscard]] Seconds hop(std::size_t tier) const {
    const auto& latency = graph.network_.tiers[tier].hop_latency;
    return latency ? latency->value : Seconds{};
  }

  /// Rate of the links up from one switch of `tier` (from 0): its hosts' NICs over all oversubscriptions.
  [[nodiscard]] BytesPerSecond uplink(std::size_t tier) const {
    BytesPerSecond rate{};
    for (const NodeWiring::Nic& nic : wiring.nics) {
      rate = rate + nic.rate;
    }
    const auto& tiers = graph.network_.tiers;
    auto share = static_cast<double>(tiers[tier].nodes);
    for (std::size_t t = 0; t <= tier + 1; ++t) {
      share /= tiers[t].oversubscription;
    }
    if (tier == 0) {
      share /= static_cast<double>(graph.rails_);
    }
    return share * rate;
  }

  void add_tier_links() {
    const auto& tiers = graph.network_.tiers;
    for (std::size_t tier = 1; networked() && tier < tiers.size(); ++tier) {
      graph.tier_links_.push_back(static_cast<std::int32_t>(graph.links_.size()));
      const std::int64_t children = blocks(graph.laid_out_, tiers[tier - 1].nodes);
      const auto rails = static_cast<std::int32_t>(tier == 1 ? graph.rails_ : 1);
      for (std::int64_t child = 0; child < children; ++child) {
        const auto block = static_cast<std::int32_t>(child * tiers[tier - 1].nodes / tiers[tier].nodes);
        for (std::int32_t rail = 0; rail < rails; ++rail) {
          link(first_switch[tier - 1] + static_cast<std::int32_t>(child) * rails + rail, first_switch[tier] + block,
               LinkKind::network, uplink(tier - 1), hop(tier), hop(tier - 1));
        }
      }
    }
  }

  void build() {
    count_families();
    add_elements();
    graph.links_.reserve(static_cast<std::size_t>(graph.laid_out_) * static_cast<std::size_t>(graph.family_.size) +
                         1024);
    for (std::int64_t node = 0; node < graph.laid_out_; ++node) {
      const auto host = static_cast<std::int32_t>(node) * per_host;
      add_scale_up_links(node, host);
      add_pcie_links(host);
      add_nic_links(node, host);
    }
    add_tier_links();
  }

  void check_links(Diagnostics& problems) const {
    for (std::size_t i = 0; i < graph.links_.size() && i < static_cast<std::size_t>(graph.family_.size); i += 2) {
      const FabricLink& link = graph.links_[i];
      if (!(link.rate.raw() > 0.0)) {
        problems.add("", {},
                     wiring.name + ": a " + std::string{name_of(link.kind)} + " link from " + word(link.from) + " to " +
                         word(link.to) + " has no rate");
      }
    }
  }

  [[nodiscard]] std::string word(std::int32_t vertex) const {
    const FabricElement& e = graph.elements_[static_cast<std::size_t>(vertex)];
    return std::string{element_kind_names[static_cast<std::size_t>(e.kind)]} + " " + std::to_string(e.index);
  }

  /// Reports the first GPU that is not connected to GPU 0; since hosts are wired alike, one report is enough.
  void check_connected(Diagnostics& problems) const {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> whole(graph.elements_.size());
    for (std::size_t i = 0; i < graph.links_.size(); i += 2) {
      boost::add_edge(static_cast<std::size_t>(graph.links_[i].from), static_cast<std::size_t>(graph.links_[i].to),
                      whole);
    }
    std::vector<int> part(graph.elements_.size());
    boost::connected_components(whole, part.data());
    for (std::size_t i = 0; i < part.size(); ++i) {
      const FabricElement& e = graph.elements_[i];
      if (e.kind == ElementKind::gpu && part[i] != part[0]) {
        problems.add("", {},
                     wiring.name + ": no link joins GPU " + std::to_string(e.index) + " of host " +
                         std::to_string(e.place) + " to GPU 0 of host 0; add the pair, a switch or [pcie]");
        return;
      }
    }
  }
};

FabricGraph::FabricGraph(NodeWiring wiring, std::int64_t nodes, NetworkTiers network, FabricPart part)
    : wiring_(std::move(wiring)),
      network_(std::move(network)),
      nodes_(nodes),
      domain_(wiring_.planes.planes > 0 ? wiring_.planes.domain : wiring_.gpus) {
  Diagnostics problems;
  check_wiring(wiring_, problems);
  check_network(wiring_, nodes_, network_, problems);
  problems.throw_if_any();
  laid_out_ = part == FabricPart::whole ? nodes_ : std::min(nodes_, 2 * domain_ / wiring_.gpus);
  rails_ = network_.rail_optimised ? std::max<std::int64_t>(1, static_cast<std::int64_t>(wiring_.nics.size())) : 1;
  nics_of_ = deal_nics(wiring_);
  Builder builder{*this};
  builder.build();
  builder.check_links(problems);
  builder.check_connected(problems);
  problems.throw_if_any();
}

std::int32_t FabricGraph::gpu(std::int64_t rank) const noexcept {
  const auto per_host =
      static_cast<std::int64_t>(wiring_.gpus) + static_cast<std::int64_t>(wiring_.switch_socket.size()) +
      (wiring_.gpu_pcie.raw() > 0.0 ? wiring_.sockets : 0) + static_cast<std::int64_t>(wiring_.nics.size());
  return static_cast<std::int32_t>(rank / wiring_.gpus * per_host + rank % wiring_.gpus);
}

std::span<const std::int32_t> FabricGraph::nics_of(std::int64_t local_gpu) const noexcept {
  return nics_of_[static_cast<std::size_t>(local_gpu)];
}

std::int32_t FabricGraph::rail_of(std::int64_t local_gpu) const noexcept {
  const std::span<const std::int32_t> nics = nics_of(local_gpu);
  return rails_ > 1 && !nics.empty() ? nics.front() : 0;
}

BytesPerSecond FabricGraph::uplink(std::int64_t tier) const noexcept {
  if (tier < 1 || tier > static_cast<std::int64_t>(tier_links_.size())) {
    return BytesPerSecond{};
  }
  const auto first = static_cast<std::size_t>(tier_links_[static_cast<std::size_t>(tier - 1)]);
  return (tier == 1 ? static_cast<double>(rails_) : 1.0) * links_[first].rate;
}

BytesPerSecond FabricGraph::bisection() const {
  assert(laid_out_ == nodes_);
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Edge = Traits::edge_descriptor;
  using Flow = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS,
      boost::property<boost::vertex_index_t, long,
                      boost::property<boost::vertex_color_t, boost::default_color_type,
                                      boost::property<boost::vertex_distance_t, long,
                                                      boost::property<boost::vertex_predecessor_t, Edge>>>>,
      boost::property<
          boost::edge_capacity_t, double,
          boost::property<boost::edge_residual_capacity_t, double, boost::property<boost::edge_reverse_t, Edge>>>>;
  // All that sends is the source and all that receives the sink: GPUs of one host, or whole hosts, so that only traffic
  // that leaves a host counts.
  const bool whole = nodes_ == 1;
  const auto half = whole ? wiring_.gpus / 2 : nodes_ / 2;
  if (half == 0) {
    return {};
  }
  const std::size_t source = elements_.size(), sink = source + 1;
  const auto vertex = [&](std::int32_t v) {
    const FabricElement& e = elements_[static_cast<std::size_t>(v)];
    const bool in_host = e.kind != ElementKind::nvswitch && e.kind != ElementKind::network_switch;
    const bool end = whole ? e.kind == ElementKind::gpu : in_host;
    return !end ? static_cast<std::size_t>(v) : (whole ? e.index : e.place) < half ? source : sink;
  };
  std::map<std::pair<std::size_t, std::size_t>, std::array<double, 2>> joined;  // rates there and back
  for (std::size_t i = 0; i < links_.size(); i += 2) {
    const std::size_t from = vertex(links_[i].from), to = vertex(links_[i].to);
    if (from != to) {
      std::array<double, 2>& rates = joined[{from, to}];
      rates[0] += links_[i].rate.raw();
      rates[1] += links_[i + 1].rate.raw();
    }
  }
  Flow flow(elements_.size() + 2);
  auto reverse = boost::get(boost::edge_reverse, flow);
  for (const auto& [ends, rates] : joined) {
    const Edge out = boost::add_edge(ends.first, ends.second, flow).first;
    const Edge in = boost::add_edge(ends.second, ends.first, flow).first;
    boost::put(boost::edge_capacity, flow, out, rates[0]);
    boost::put(boost::edge_capacity, flow, in, rates[1]);
    reverse[out] = in;
    reverse[in] = out;
  }
  return BytesPerSecond{boost::boykov_kolmogorov_max_flow(flow, source, sink)};
}

}  // namespace headroom
