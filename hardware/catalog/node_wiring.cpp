// SPDX-License-Identifier: Apache-2.0
// Checks the tree that a node file states, then builds the wiring from it and the SKU.
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace headroom {
namespace {

using Indices = std::optional<Sourced<std::vector<std::int64_t>>>;

std::string text_of(std::int64_t count) {
  return std::to_string(count);
}

std::int64_t sockets_of(const Node& node) {
  return node.sockets ? node.sockets->value : 1;
}

std::int64_t pcie_switches_of(const Node& node) {
  return node.pcie_switches ? node.pcie_switches->value : 0;
}

/// The value of a number that check_rates() has ensured.
template <class T>
T sure(const std::optional<Sourced<T>>& number) {
  return number ? number->value : T{};
}

/// Index of the holder of item `index`, with `count` items spread over `holders` in equal consecutive blocks; if there
/// are more holders than items, one item is at every n-th holder.
std::int64_t holder_of(std::int64_t index, std::int64_t count, std::int64_t holders) {
  return count >= holders ? index / (count / holders) : index * (holders / count);
}
bool spreads_evenly(std::int64_t count, std::int64_t holders) {
  return count >= holders ? count % holders == 0 : holders % count == 0;
}

/// Collects contradictions, each at the number that states it.
class Checks {
 public:
  Checks(const Node& node, Diagnostics& diagnostics) : node_{&node}, diagnostics_{&diagnostics} {}

  template <class T>
  void at(const Sourced<T>& number, std::string message) {
    diagnostics_->add(number.file, number.at, std::move(message));
  }
  void at_file(std::string message) { diagnostics_->add(node_->file, {}, std::move(message)); }

  /// Checks a list of one index for each of `count` things; indices are in [lowest, most).
  void indices(const Indices& list,
               std::string_view key,
               std::int64_t count,
               std::string_view things,
               std::int64_t lowest,
               std::int64_t most,
               std::string_view of_what) {
    if (!list) {
      return;
    }
    if (std::ssize(list->value) != count) {
      at(*list, "'" + std::string{key} + "' has " + text_of(std::ssize(list->value)) + " entries; the node has " +
                    text_of(count) + " " + std::string{things});
    }
    for (const std::int64_t index : list->value) {
      if (index < lowest || index >= most) {
        at(*list, "'" + std::string{key} + "' names " + std::string{of_what} + " " + text_of(index) +
                      (most == 0 ? "; the node states none: say how many in 'switches'"
                                 : "; they count from " + text_of(lowest) + " to " + text_of(most - 1)));
        return;
      }
    }
  }

 private:
  const Node* node_;
  Diagnostics* diagnostics_;
};

void check_pairs(const Node& node, Diagnostics& diagnostics) {
  if (!node.pairs) {
    return;
  }
  const std::string& file = node.pairs->file;
  if (node.topology != LinkTopology::cube_mesh && node.topology != LinkTopology::direct &&
      node.topology != LinkTopology::bridge) {
    diagnostics.add(file, node.pairs->at,
                    "'pairs' goes with topology \"cube-mesh\", \"direct\" or \"bridge\"; this one joins every GPU "
                    "alike, with per_gpu and per_pair");
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> seen;
  for (const NodePair& pair : node.pairs->value) {
    const auto [low, high] = std::minmax(pair.a, pair.b);
    const std::string name = text_of(low) + "-" + text_of(high);
    for (const std::int64_t gpu : {low, high}) {
      if (gpu < 0 || gpu >= node.gpus) {
        diagnostics.add(
            file, pair.at,
            "pair " + name + " names GPU " + text_of(gpu) + "; the node has GPUs 0 to " + text_of(node.gpus - 1));
      }
    }
    if (low == high) {
      diagnostics.add(file, pair.at, "pair " + name + " joins a GPU to itself");
    }
    if (pair.links < 1) {
      diagnostics.add(file, pair.at,
                      "pair " + name + " has " + text_of(pair.links) + " links; leave out pairs that nothing joins");
    }
    const auto [place, fresh] = seen.emplace(std::pair{low, high}, pair.links);
    if (!fresh) {
      diagnostics.add(file, pair.at,
                      "pair " + name + " is listed twice, with " + text_of(place->second) + " and " +
                          text_of(pair.links) + " links; state it once with all its links");
    }
  }
}

void check_switches(const Node& node, Checks& checks) {
  const std::int64_t switches = pcie_switches_of(node);
  const std::int64_t sockets = sockets_of(node);
  if (node.pcie_switches && !node.gpu_switch) {
    const std::int64_t each = node.gpus_per_pcie_switch;
    if (each > 0 ? each * switches != node.gpus : node.gpus % switches != 0) {
      checks.at(*node.pcie_switches, text_of(node.gpus) + " GPUs do not fill " + text_of(switches) + " PCIe switches" +
                                         (each > 0 ? " with " + text_of(each) + " each" : "") +
                                         "; state the switch of every GPU, gpu_switch = { value = [0, 0, 1, ...], "
                                         "source = \"TAG\" }");
    }
  }
  if (node.pcie_switches && !node.switch_socket && !spreads_evenly(switches, sockets)) {
    checks.at(*node.pcie_switches, text_of(switches) + " PCIe switches do not divide over " + text_of(sockets) +
                                       " sockets; state the socket of every switch, switch_socket = { value = [0, "
                                       "...], source = \"TAG\" }");
  }
  if (switches == 0 && !node.gpu_socket && node.sockets && node.gpus >= sockets && node.gpus % sockets != 0) {
    checks.at(*node.sockets, text_of(node.gpus) + " GPUs do not divide over " + text_of(sockets) +
                                 " sockets; state the socket of every GPU, gpu_socket = { value = [0, ...], source = "
                                 "\"TAG\" }");
  }
}

void check_nics(const Node& node, Checks& checks) {
  if (!node.nics) {
    return;
  }
  const std::int64_t nics = node.nics->value;
  if (node.nics_on_gpus) {
    if (nics % node.gpus != 0) {
      checks.at(*node.nics, text_of(nics) + " ports do not divide over " + text_of(node.gpus) +
                                " accelerators; count those of the whole node");
    }
    return;
  }
  const std::int64_t switches = pcie_switches_of(node);
  if (switches > 0 && !node.nic_switch && !node.nic_socket && !spreads_evenly(nics, switches)) {
    checks.at(*node.nics, text_of(nics) + " NICs do not divide over " + text_of(switches) +
                              " PCIe switches; state the switch of every NIC, switch = { value = [0, ...], source = "
                              "\"TAG\" }, -1 for one at its socket");
  }
  if (switches == 0 && !node.nic_socket && !spreads_evenly(nics, sockets_of(node))) {
    checks.at(*node.nics, text_of(nics) + " NICs do not divide over " + text_of(sockets_of(node)) +
                              " sockets; state the socket of every NIC, socket = { value = [0, ...], source = "
                              "\"TAG\" }");
  }
}

/// Reports every rate that is not stated, with the key that would state it.
void check_rates(const Node& node, const Device& device, Checks& checks) {
  const bool scaled_up = node.topology != LinkTopology::pcie && node.topology != LinkTopology::none;
  if (scaled_up && !node.per_gpu && !device.scale_up.per_gpu) {
    checks.at_file("no rate of the links: neither [fabric] of the node nor [scale_up] of " + device.id +
                   " states per_gpu");
  }
  if (scaled_up && !scale_up_kind(device)) {
    checks.at_file(device.id + " has " +
                   (device.scale_up.link.empty() ? "no [scale_up] links"
                                                 : "links of unknown kind " + quoted(device.scale_up.link)) +
                   "; the node's topology needs NVLink, xGMI or Ethernet ports");
  }
  if (node.topology == LinkTopology::none && node.gpus > 1) {
    checks.at_file("nothing joins the " + text_of(node.gpus) +
                   " GPUs; add [fabric] with a topology, \"pcie\" for a "
                   "box without links");
  }
  const bool meshed = scaled_up && node.topology != LinkTopology::fabric_switch;
  if (meshed && !node.pairs && !node.per_pair && !device.scale_up.per_pair) {
    checks.at_file("no rate of one pair of GPUs: state per_pair or pairs in [fabric]");
  }
  if (node.topology == LinkTopology::cube_mesh && !node.pairs) {
    checks.at_file(
        "a cube mesh is not the same for every pair; list them, pairs = { value = [[0, 1, 1], [0, 3, 2]], "
        "source = \"TAG\" } in [fabric]");
  }
  if (meshed && node.pairs && !device.scale_up.link_rate) {
    checks.at(*node.pairs, "'pairs' counts links, and " + device.id + " states no link_rate in [scale_up]");
  }
  const std::int64_t generation = node.pcie_generation > 0 ? node.pcie_generation : device.pcie.generation;
  if (!node.c2c && !pcie_rate(generation, device.pcie.lanes > 0 ? device.pcie.lanes : 16)) {
    checks.at_file("no PCIe rate: state [pcie] generation, 1 to 6");
  }
  if (node.sockets && node.sockets->value > 1 && !node.socket_link) {
    checks.at(*node.sockets, text_of(node.sockets->value) +
                                 " sockets without the rate between them; state socket_link in [host], e.g. { value "
                                 "= \"22 GB/s\", source = \"TAG\" }");
  }
  if (node.nics && !node.nic_rate) {
    checks.at(*node.nics, text_of(node.nics->value) + " NICs without a rate; state 'rate' in [nics]");
  }
}

/// A GPU cannot have more links in 'pairs' than its injection rate allows.
void check_injection(const Node& node, const Device& device, Diagnostics& diagnostics) {
  if (!node.pairs || !device.scale_up.link_rate) {
    return;
  }
  const auto& stated = node.per_gpu ? node.per_gpu : device.scale_up.per_gpu;
  std::vector<std::int64_t> links(static_cast<std::size_t>(node.gpus), 0);
  for (const NodePair& pair : node.pairs->value) {
    for (const std::int64_t gpu : {pair.a, pair.b}) {
      if (gpu >= 0 && gpu < node.gpus) {
        links[static_cast<std::size_t>(gpu)] += pair.links;
      }
    }
  }
  for (std::size_t gpu = 0; gpu < links.size(); ++gpu) {
    const BytesPerSecond sum = static_cast<double>(links[gpu]) * device.scale_up.link_rate->value;
    if (stated && sum > 1.02 * stated->value) {
      diagnostics.add(node.pairs->file, node.pairs->at,
                      "GPU " + std::to_string(gpu) + " has " + text_of(links[gpu]) + " links of " +
                          format(device.scale_up.link_rate->value) + " in 'pairs', more than its per_gpu of " +
                          format(stated->value));
    }
  }
}

void add_mesh(NodeWiring& w, std::int64_t block, LinkKind kind, BytesPerSecond rate, const Device& device) {
  const auto& link = device.scale_up.link_rate;
  const auto links = link ? static_cast<std::int64_t>(std::llround(rate / link->value)) : std::int64_t{1};
  for (std::int64_t first = 0; first < w.gpus; first += block) {
    const std::int64_t end = std::min(first + block, w.gpus);
    for (std::int64_t a = first; a < end; ++a) {
      for (std::int64_t b = a + 1; b < end; ++b) {
        w.pairs.push_back({a, b, kind, std::max<std::int64_t>(links, 1), rate});
      }
    }
  }
}

void wire_scale_up(const Node& node, const Device& device, NodeWiring& w) {
  if (node.topology == LinkTopology::pcie || node.topology == LinkTopology::none) {
    return;
  }
  const LinkKind kind = scale_up_kind(device).value_or(LinkKind::nvlink);
  if (node.topology == LinkTopology::fabric_switch) {
    const BytesPerSecond per_gpu = sure(node.per_gpu ? node.per_gpu : device.scale_up.per_gpu);
    const auto& planes = node.planes ? node.planes : node.switches;
    // Links may divide unevenly: the 18 links of an H100 go 5, 4, 4 and 5 to its four switches. Equal shares are close
    // enough because traffic is striped over all links.
    w.planes = {planes ? planes->value : 1, kind, {}, node.domain ? node.domain->value : node.gpus};
    w.planes.rate = per_gpu / static_cast<double>(w.planes.planes);
    if (!planes) {
      w.assumed.emplace_back("one switch plane: the node's file does not say how many");
    }
    return;
  }
  if (node.pairs) {
    for (const NodePair& pair : node.pairs->value) {
      w.pairs.push_back({std::min(pair.a, pair.b), std::max(pair.a, pair.b), kind, pair.links,
                         static_cast<double>(pair.links) * sure(device.scale_up.link_rate)});
    }
    return;
  }
  const BytesPerSecond per_pair = sure(node.per_pair ? node.per_pair : device.scale_up.per_pair);
  const bool bridged = node.topology == LinkTopology::bridge;
  if (bridged) {
    w.assumed.emplace_back("bridges join neighbouring GPUs: the node's file lists no pairs");
  }
  add_mesh(w, bridged ? std::max<std::int64_t>(device.scale_up.domain, 2) : w.gpus, kind, per_pair, device);
}

void wire_tree(const Node& node, const Device& device, NodeWiring& w) {
  const std::int64_t switches = pcie_switches_of(node);
  w.sockets = sockets_of(node);
  for (std::int64_t i = 0; i < switches; ++i) {
    w.switch_socket.push_back(node.switch_socket ? node.switch_socket->value[static_cast<std::size_t>(i)]
                                                 : holder_of(i, switches, w.sockets));
  }
  for (std::int64_t i = 0; i < w.gpus; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t below = node.gpu_switch ? node.gpu_switch->value[at]
                               : switches > 0  ? i / (w.gpus / switches)
                                               : -1;
    w.gpu_switch.push_back(below);
    w.gpu_socket.push_back(below >= 0        ? w.switch_socket[static_cast<std::size_t>(below)]
                           : node.gpu_socket ? node.gpu_socket->value[at]
                                             : holder_of(i, w.gpus, w.sockets));
  }
  const std::int64_t of_node = node.pcie_generation > 0 ? node.pcie_generation : device.pcie.generation;
  const std::int64_t of_slot = device.pcie.generation > 0 ? std::min(of_node, device.pcie.generation) : of_node;
  if (node.c2c) {
    w.host_link = LinkKind::c2c;
    w.gpu_pcie = node.c2c->value;
  } else {
    w.gpu_pcie = pcie_rate(of_slot, device.pcie.lanes > 0 ? device.pcie.lanes : 16).value_or(BytesPerSecond{});
  }
  w.switch_pcie = switches > 0 ? pcie_rate(of_node).value_or(w.gpu_pcie) : BytesPerSecond{};
  w.socket_link = w.sockets > 1 ? sure(node.socket_link) : BytesPerSecond{};
  if (!node.sockets) {
    w.assumed.emplace_back("one socket: the node's file does not say how many");
  }
  if (switches == 0 && !node.gpu_socket && w.gpus > 1) {
    w.assumed.emplace_back(
        "GPUs in equal blocks at the root complexes of the sockets: the node's file has no PCIe "
        "switches");
  } else if (switches > 0 && !node.gpu_switch && node.gpus_per_pcie_switch == 0) {
    w.assumed.emplace_back("GPUs in equal blocks below the PCIe switches");
  }
}

void wire_nics(const Node& node, NodeWiring& w) {
  const std::int64_t nics = node.nics ? node.nics->value : 0;
  const std::int64_t switches = pcie_switches_of(node);
  for (std::int64_t i = 0; i < nics; ++i) {
    const auto at = static_cast<std::size_t>(i);
    NodeWiring::Nic nic;
    nic.name = "nic" + text_of(i);
    nic.rate = sure(node.nic_rate);
    if (node.nics_on_gpus) {
      nic.gpu = i / (nics / w.gpus);
      nic.socket = w.gpu_socket[static_cast<std::size_t>(nic.gpu)];
    } else {
      if (node.nic_switch) {
        nic.pcie_switch = node.nic_switch->value[at];
      } else if (switches > 0 && !node.nic_socket) {
        nic.pcie_switch = holder_of(i, nics, switches);
      }
      nic.socket = nic.pcie_switch >= 0 ? w.switch_socket[static_cast<std::size_t>(nic.pcie_switch)]
                   : node.nic_socket    ? node.nic_socket->value[at]
                                        : holder_of(i, nics, w.sockets);
    }
    w.nics.push_back(std::move(nic));
  }
  if (nics > 0 && !node.nics_on_gpus && !node.nic_switch && !node.nic_socket) {
    w.assumed.emplace_back(switches > 0 ? "NICs spread evenly below the PCIe switches"
                                        : "NICs spread evenly over the sockets");
  }
}

}  // namespace

std::optional<BytesPerSecond> pcie_rate(std::int64_t generation, std::int64_t lanes) noexcept {
  constexpr std::array sixteen_lanes{4.0, 8.0, 15.75, 31.5, 63.0, 121.0};  // GB/s
  constexpr std::array<std::int64_t, 6> widths{1, 2, 4, 8, 16, 32};
  if (generation < 1 || generation > std::ssize(sixteen_lanes) ||
      std::find(widths.begin(), widths.end(), lanes) == widths.end()) {
    return std::nullopt;
  }
  return BytesPerSecond{sixteen_lanes[static_cast<std::size_t>(generation - 1)] * 1e9 * static_cast<double>(lanes) /
                        16.0};
}

std::optional<LinkKind> scale_up_kind(const Device& device) noexcept {
  constexpr std::array<std::pair<std::string_view, LinkKind>, 3> words{
      {{"NVLink", LinkKind::nvlink}, {"xGMI", LinkKind::xgmi}, {"RoCE", LinkKind::ethernet}}};
  for (const auto& [word, kind] : words) {
    if (device.scale_up.link.starts_with(word)) {
      return kind;
    }
  }
  return std::nullopt;
}

void check_wiring(const Node& node, Diagnostics& diagnostics) {
  Checks checks{node, diagnostics};
  const std::int64_t switches = pcie_switches_of(node);
  const std::int64_t sockets = sockets_of(node);
  const std::int64_t nics = node.nics ? node.nics->value : 0;
  check_pairs(node, diagnostics);
  check_switches(node, checks);
  check_nics(node, checks);
  checks.indices(node.gpu_switch, "gpu_switch", node.gpus, "GPUs", -1, switches, "switch");
  checks.indices(node.gpu_socket, "gpu_socket", node.gpus, "GPUs", 0, sockets, "socket");
  checks.indices(node.switch_socket, "switch_socket", switches, "PCIe switches", 0, sockets, "socket");
  checks.indices(node.nic_switch, "switch", nics, "NICs", -1, switches, "switch");
  checks.indices(node.nic_socket, "socket", nics, "NICs", 0, sockets, "socket");
  if (node.domain && (node.domain->value < node.gpus || node.domain->value % node.gpus != 0)) {
    checks.at(*node.domain,
              "a domain of " + text_of(node.domain->value) + " GPUs is no number of nodes with " + text_of(node.gpus));
  }
  if (node.switches && node.planes && node.switches->value % node.planes->value != 0) {
    checks.at(*node.planes, text_of(node.switches->value) + " switches do not divide into " +
                                text_of(node.planes->value) + " planes");
  }
}

NodeWiring wire(const Node& node, const Device& device) {
  Diagnostics problems;
  Checks checks{node, problems};
  check_wiring(node, problems);
  check_rates(node, device, checks);
  check_injection(node, device, problems);
  problems.throw_if_any();

  NodeWiring w;
  w.name = node.id;
  w.gpus = node.gpus;
  w.peer_access = node.peer_access;
  wire_scale_up(node, device, w);
  wire_tree(node, device, w);
  wire_nics(node, w);
  return w;
}

}  // namespace headroom
