// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/import/found_host.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace headroom {
namespace {

/// Sockets in the order of their NUMA nodes. A host may split a socket into several consecutive NUMA nodes.
class Sockets {
 public:
  Sockets(const FoundHost& found, const std::optional<std::int64_t>& stated) {
    std::set<std::int64_t> seen;
    for (const FoundHost::Gpu& gpu : found.gpus) {
      seen.insert(gpu.numa);
    }
    for (const FoundHost::Switch& pcie_switch : found.switches) {
      seen.insert(pcie_switch.numa);
    }
    for (const FoundHost::Nic& nic : found.nics) {
      if (nic.numa) {
        seen.insert(*nic.numa);
      }
    }
    const std::int64_t highest = seen.empty() ? 0 : *seen.rbegin();
    const std::int64_t nodes = std::max<std::int64_t>(highest + 1, stated.value_or(1));
    if (stated && std::ssize(seen) > *stated && nodes % *stated == 0) {
      for (const std::int64_t numa : seen) {
        number_.emplace(numa, numa / (nodes / *stated));
      }
      count_ = *stated;
      return;
    }
    for (const std::int64_t numa : seen) {
      number_.emplace(numa, static_cast<std::int64_t>(number_.size()));
    }
    // A socket without GPUs and NICs appears in no matrix.
    count_ = std::max<std::int64_t>(std::ssize(number_), stated.value_or(1));
  }
  [[nodiscard]] std::int64_t of(std::int64_t numa) const { return number_.at(numa); }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  std::map<std::int64_t, std::int64_t> number_;
  std::int64_t count_ = 1;
};

class Assembly {
 public:
  Assembly(const FoundHost& found, const Device& device, const HostFacts& facts, Diagnostics& diagnostics)
      : found_{&found}, device_{&device}, facts_{&facts}, diagnostics_{&diagnostics}, sockets_{found, facts.sockets} {}

  NodeWiring take() {
    w_.name = found_->name;
    w_.gpus = std::ssize(found_->gpus);
    w_.peer_access = facts_->peer_access.value_or(true);
    if (found_->gpus.empty()) {
      problem({}, "no GPU is in it");
      return w_;
    }
    put_links();
    put_planes();
    put_tree();
    put_nics();
    if (!facts_->peer_access && w_.planes.planes == 0 && w_.pairs.empty() && w_.gpus > 1) {
      w_.assumed.emplace_back("GPUs reach each other's memory over PCIe: 'nvidia-smi topo -p2p r' tells");
    }
    return w_;
  }

 private:
  void problem(Position at, std::string message) { diagnostics_->add(found_->file, at, std::move(message)); }

  std::optional<BytesPerSecond> link_rate() {
    if (!device_->scale_up.link_rate) {
      if (!said_no_rate_) {
        problem({},
                device_->id + " states no link_rate in [scale_up], so that its links cannot be priced: another SKU?");
      }
      said_no_rate_ = true;
      return std::nullopt;
    }
    return device_->scale_up.link_rate->value;
  }

  void put_links() {
    std::vector<std::int64_t> of_gpu(found_->gpus.size(), 0);
    for (const FoundHost::Link& link : found_->links) {
      of_gpu[static_cast<std::size_t>(link.a)] += link.links;
      of_gpu[static_cast<std::size_t>(link.b)] += link.links;
      if (const auto rate = link_rate()) {
        w_.pairs.push_back({std::min(link.a, link.b), std::max(link.a, link.b), link.kind, link.links,
                            static_cast<double>(link.links) * *rate});
      }
    }
    const bool bridged = device_->scale_up.topology == LinkTopology::bridge;
    for (std::size_t i = 0; i < of_gpu.size(); ++i) {
      const FoundHost::Gpu& gpu = found_->gpus[i];
      const std::int64_t links = of_gpu[i] + gpu.switch_links;
      const auto& most = device_->scale_up.links;
      if (most && links > most->value) {
        problem(gpu.at, gpu.name + " has " + std::to_string(links) + " links; " + device_->id + " has " +
                            std::to_string(most->value) + ": another SKU?");
      }
      const bool others = !found_->links.empty() || total_switch_links() > 0;
      if (links == 0 && others && !bridged) {
        problem(gpu.at,
                gpu.name + " has no link where other GPUs have some: see 'nvidia-smi nvlink -s', or leave it out");
      }
    }
  }

  [[nodiscard]] std::int64_t total_switch_links() const {
    std::int64_t sum = 0;
    for (const FoundHost::Gpu& gpu : found_->gpus) {
      sum += gpu.switch_links;
    }
    return sum;
  }

  void put_planes() {
    const std::int64_t each = found_->gpus.front().switch_links;
    for (const FoundHost::Gpu& gpu : found_->gpus) {
      if (gpu.switch_links != each && gpu.switch_links > 0) {
        problem(gpu.at, gpu.name + " has " + std::to_string(gpu.switch_links) + " links to switches, " +
                            found_->gpus.front().name + " has " + std::to_string(each) +
                            ": a link that is down? see 'nvidia-smi nvlink -s'");
      }
    }
    const auto rate = total_switch_links() > 0 ? link_rate() : std::nullopt;
    if (!rate) {
      return;
    }
    const std::int64_t told = found_->planes > 0 ? found_->planes : facts_->planes.value_or(0);
    w_.planes = {std::max<std::int64_t>(told, 1), LinkKind::nvlink, {}, facts_->domain.value_or(w_.gpus)};
    w_.planes.rate = static_cast<double>(each) * *rate / static_cast<double>(w_.planes.planes);
    if (told == 0) {
      w_.assumed.emplace_back("one switch plane: the text does not tell NVSwitches apart");
    }
  }

  void put_tree() {
    w_.sockets = sockets_.count();
    const auto of_sku = pcie_rate(device_->pcie.generation, device_->pcie.lanes > 0 ? device_->pcie.lanes : 16);
    for (const FoundHost::Gpu& gpu : found_->gpus) {
      w_.gpu_socket.push_back(sockets_.of(gpu.numa));
      w_.gpu_switch.push_back(gpu.pcie_switch);
      const auto& c2c = gpu.c2c ? gpu.c2c : facts_->c2c;
      const auto& slot = gpu.pcie ? gpu.pcie : facts_->gpu_pcie ? facts_->gpu_pcie : of_sku;
      const auto& rate = c2c ? c2c : slot;
      if (!rate) {
        problem(gpu.at, "no PCIe rate of " + gpu.name + ": neither the text nor " + device_->id +
                            " has a generation from 1 to 6");
        continue;
      }
      w_.host_link = c2c ? LinkKind::c2c : LinkKind::pcie;
      w_.gpu_pcie = slowest(w_.gpu_pcie, *rate, "GPUs");
    }
    const BytesPerSecond up = facts_->switch_pcie ? *facts_->switch_pcie : of_sku.value_or(w_.gpu_pcie);
    for (const FoundHost::Switch& pcie_switch : found_->switches) {
      w_.switch_socket.push_back(sockets_.of(pcie_switch.numa));
      w_.switch_pcie = slowest(w_.switch_pcie, pcie_switch.pcie.value_or(up), "switches");
    }
    if (w_.sockets > 1) {
      const std::optional<BytesPerSecond>& rate = facts_->socket_link ? facts_->socket_link : found_->socket_link;
      if (!rate) {
        problem({}, "the text does not say how fast its " + std::to_string(w_.sockets) +
                        " sockets are joined: state it, e.g. --socket-link \"22 GB/s\" (Sapphire Rapids; Skylake 10, "
                        "EPYC 16), or --like NODE");
      }
      w_.socket_link = rate.value_or(BytesPerSecond{});
    }
  }

  /// The wiring has one rate for all; if rates differ, collectives wait for the slowest.
  BytesPerSecond slowest(BytesPerSecond so_far, BytesPerSecond rate, const char* of) {
    if (so_far > BytesPerSecond{} && so_far != rate) {
      w_.assumed.push_back(std::string{of} + " have PCIe links of different rates; all are taken as the slowest");
      w_.assumed.erase(std::unique(w_.assumed.begin(), w_.assumed.end()), w_.assumed.end());
    }
    return so_far > BytesPerSecond{} ? std::min(so_far, rate) : rate;
  }

  void check_names() {
    std::vector<std::string_view> known;
    known.reserve(found_->nics.size());
    for (const FoundHost::Nic& nic : found_->nics) {
      known.push_back(nic.name);
    }
    for (const std::string& name : facts_->nics) {
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        problem({}, "no NIC is called " + quoted(name) + suggestion(name, known));
      }
    }
  }

  void put_nics() {
    check_names();
    for (const FoundHost::Nic& nic : found_->nics) {
      if (!facts_->nics.empty() &&
          std::find(facts_->nics.begin(), facts_->nics.end(), nic.name) == facts_->nics.end()) {
        continue;
      }
      const std::optional<BytesPerSecond>& rate = nic.rate ? nic.rate : facts_->nic_rate;
      if (!rate) {
        problem(nic.at, "the text does not say the rate of " + nic.name +
                            ": state it, e.g. --nic-rate \"400 Gb/s\", or --like NODE");
      }
      if (!nic.numa) {
        w_.assumed.push_back(nic.name + " is near no GPU: it is taken to hang off socket 0");
      }
      const std::int64_t socket = nic.numa ? sockets_.of(*nic.numa) : 0;
      w_.nics.push_back({nic.name, nic.pcie_switch, socket, -1, rate.value_or(BytesPerSecond{})});
    }
  }

  const FoundHost* found_;
  const Device* device_;
  const HostFacts* facts_;
  Diagnostics* diagnostics_;
  Sockets sockets_;
  NodeWiring w_;
  bool said_no_rate_ = false;
};

}  // namespace

HostFacts facts_of(const NodeWiring& like) {
  HostFacts facts;
  facts.sockets = like.sockets;
  facts.peer_access = like.peer_access;
  (like.host_link == LinkKind::c2c ? facts.c2c : facts.gpu_pcie) = like.gpu_pcie;
  if (!like.switch_socket.empty()) {
    facts.switch_pcie = like.switch_pcie;
  }
  if (like.planes.planes > 0) {
    facts.planes = like.planes.planes;
    facts.domain = like.planes.domain;
  }
  if (like.socket_link > BytesPerSecond{}) {
    facts.socket_link = like.socket_link;
  }
  if (!like.nics.empty()) {
    facts.nic_rate = like.nics.front().rate;
  }
  return facts;
}

NodeWiring wire(const FoundHost& found, const Device& device, const HostFacts& facts, Diagnostics& diagnostics) {
  return Assembly{found, device, facts, diagnostics}.take();
}

}  // namespace headroom
