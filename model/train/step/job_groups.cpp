// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/train/step/job_groups.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// The set that serves a link nobody measured: NVLink of the oldest measured SKU, at the link's own rate.
constexpr std::string_view oldest_measured = "a100-sxm-80gb";

/// A host of `gpus` whose boards nobody described: one switch plane at the SKU's rate, else PCIe alone.
NodeWiring plain_host(const Device& device, std::int64_t gpus) {
  NodeWiring host;
  host.name = device.id;
  host.gpus = gpus;
  host.sockets = 1;
  host.gpu_switch.assign(static_cast<std::size_t>(gpus), -1);
  host.gpu_socket.assign(static_cast<std::size_t>(gpus), 0);
  const auto pcie = device.pcie.rate ? std::optional{device.pcie.rate->value} : std::nullopt;
  host.gpu_pcie = pcie.value_or(pcie_rate(4).value_or(BytesPerSecond{}));
  host.switch_pcie = host.gpu_pcie;
  if (device.scale_up.per_gpu && gpus > 1) {
    host.planes.planes = 1;
    host.planes.kind = scale_up_kind(device).value_or(LinkKind::nvlink);
    host.planes.rate = device.scale_up.per_gpu->value;
    host.planes.domain = std::max(gpus, device.scale_up.domain > 8 ? device.scale_up.domain : gpus);
  }
  return host;
}

std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::min(number, most);
  while (number % divisor != 0) {
    --divisor;
  }
  return divisor;
}

/// One port a GPU, next to it, at the stated rate.
void set_nics(NodeWiring& host, BytesPerSecond rate) {
  host.nics.clear();
  for (std::int64_t gpu = 0; gpu < host.gpus; ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    host.nics.push_back({"nic" + std::to_string(gpu), host.gpu_switch[at], host.gpu_socket[at], -1, rate});
  }
}

NodeWiring host_of(const Device& device, const JobHosts& hosts, std::int64_t ranks) {
  if (hosts.cluster && hosts.node) {
    return wire(*hosts.node, device);
  }
  const std::int64_t stated = hosts.gpus_per_node > 0 ? hosts.gpus_per_node : hosts.node ? hosts.node->gpus : 8;
  const bool whole = hosts.node && hosts.node->gpus == stated && (ranks % stated == 0 || ranks < stated);
  NodeWiring host = whole ? wire(*hosts.node, device) : plain_host(device, largest_divisor(ranks, stated));
  const auto nic = hosts.nic_per_gpu ? hosts.nic_per_gpu : hosts.node ? hosts.node->scale_out_per_gpu() : std::nullopt;
  if (nic && (hosts.nic_per_gpu || host.nics.empty())) {
    set_nics(host, *nic);
  }
  return host;
}

NetworkTiers network_of(const JobHosts& hosts, std::int64_t nodes) {
  if (hosts.cluster) {
    return {hosts.cluster->tiers, hosts.cluster->rail_optimised};
  }
  return nodes > 1 ? NetworkTiers::non_blocking(nodes) : NetworkTiers{};
}

/// Members of a measured set, else the oldest one's with the SKU's own rates.
CollectiveCurves curves_for(const ModelData& data, const Device& device, const GroupView& view, std::string& why) {
  try {
    const ChosenCollectives chosen = choose_collectives(data, device, view);
    why = chosen.why;
    return chosen.curves();
  } catch (const ConfigError&) {
    const CollectiveSet& set = find_collective_set(data, oldest_measured);
    why = "nobody measured collectives of " + device.id + ": those of " + set.id + " with the links of " + device.id;
    return set.curves();
  }
}

}  // namespace

std::optional<BytesPerSecond> host_link_of(const Device& device, const Node* node) noexcept {
  if (node != nullptr && node->host_link) {
    return node->host_link;
  }
  if (node != nullptr && node->c2c) {
    return node->c2c->value;
  }
  std::optional<BytesPerSecond> link;
  if (device.pcie.rate) {
    link = device.pcie.rate->value;
  }
  if (node != nullptr && node->pcie_generation > 0) {
    const auto slot = pcie_rate(node->pcie_generation, device.pcie.lanes > 0 ? device.pcie.lanes : 16);
    link = link && slot ? std::min(*link, *slot) : link ? link : slot;
  }
  return link;
}

std::string_view transport_of(const Node& node) noexcept {
  const auto is = [&](std::string_view word) { return node.nic_kind.find(word) != std::string::npos; };
  return is("EFA") ? "efa" : is("RoCE") || is("Ethernet") || is("GbE") || is("TCPX") ? "roce" : "infiniband";
}

struct JobGroups::Hosts {
  FabricGraph graph;
  Fabric fabric;
  CollectiveCurves curves;
  NetworkCurve network;

  Hosts(NodeWiring wiring, std::int64_t nodes, NetworkTiers tiers, std::int64_t ranks)
      : graph{std::move(wiring), nodes, std::move(tiers), FabricPart::two_domains}, fabric{graph, ranks} {}
};

JobGroups::JobGroups(const ModelData& data, const Device& device, const JobHosts& hosts, std::int64_t ranks)
    : data_{data}, ranks_{ranks} {
  if (ranks <= 1) {
    return;
  }
  NodeWiring host = host_of(device, hosts, ranks);
  const std::int64_t nodes = hosts_for(host, ranks);
  auto built = std::make_unique<Hosts>(std::move(host), nodes, network_of(hosts, nodes), ranks);
  built->network = find_transport(data, hosts.cluster ? std::string_view{hosts.cluster->transport}
                                        : hosts.node  ? transport_of(*hosts.node)
                                                      : "infiniband")
                       .curve;
  // Any group within a host tells the kind of link.
  const GroupView probe = built->fabric.view(ranks, 1);
  built->curves = curves_for(data, device, probe, why_);
  hosts_ = std::move(built);
}

JobGroups::~JobGroups() = default;

const GroupCollectives* JobGroups::find(const GroupForm& form) const {
  if (!hosts_ || form.size() <= 1 || form.stride < 1 || form.span() < 1 || ranks_ % form.span() != 0) {
    return nullptr;
  }
  const FormKey key{form.ranks, form.stride, form.runs, form.apart};
  {
    const std::lock_guard lock{mutex_};
    if (const auto found = groups_.find(key); found != groups_.end()) {
      return found->second.get();
    }
  }
  // Looked at without the lock, which large jobs hold up for a millisecond; of two that look at once the first stays.
  auto group = std::make_unique<const GroupCollectives>(hosts_->curves, hosts_->network, hosts_->fabric.view(form));
  const std::lock_guard lock{mutex_};
  return groups_.emplace(key, std::move(group)).first->second.get();
}

}  // namespace headroom
