// SPDX-License-Identifier: Apache-2.0
// Hosts in their plainest form, for tests of the graph alone.
#pragma once

#include <headroom/hardware/fabric/fabric_graph.hpp>

#include <string>

namespace headroom::test {

inline constexpr BytesPerSecond gigabytes_per_second(double value) {
  return BytesPerSecond{value * 1e9};
}

/// GPUs in equal blocks over two sockets, each block of two below a PCIe switch where `switches` is set.
inline NodeWiring pcie_host(std::int64_t gpus, bool switches, double nic_rate, std::int64_t nics) {
  NodeWiring host;
  host.name = "test host";
  host.gpus = gpus;
  host.sockets = 2;
  host.gpu_pcie = host.switch_pcie = gigabytes_per_second(63.0);
  host.socket_link = gigabytes_per_second(40.0);
  for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
    host.gpu_socket.push_back(2 * gpu / gpus);
    host.gpu_switch.push_back(switches ? gpu / 2 : -1);
    if (switches && gpu % 2 == 0) {
      host.switch_socket.push_back(2 * gpu / gpus);
    }
  }
  for (std::int64_t nic = 0; nic < nics; ++nic) {
    NodeWiring::Nic port;
    port.name = "nic" + std::to_string(nic);
    port.socket = 2 * nic / nics;
    port.pcie_switch = switches ? nic * static_cast<std::int64_t>(host.switch_socket.size()) / nics : -1;
    port.rate = gigabytes_per_second(nic_rate);
    host.nics.push_back(port);
  }
  return host;
}

/// The same with NVSwitch planes that give each GPU 450 GB/s.
inline NodeWiring switched_host(std::int64_t gpus = 8, double nic_rate = 50.0, std::int64_t nics = 8) {
  NodeWiring host = pcie_host(gpus, gpus >= 4, nic_rate, nics);
  host.planes = {4, LinkKind::nvlink, gigabytes_per_second(112.5), gpus};
  return host;
}

/// DGX-1V: 25 GB/s a link, as `nvidia-smi topo -m` prints them (NVIDIA DGX-1 whitepaper WP-08437-002, figure 4).
inline NodeWiring cube_mesh_host() {
  NodeWiring host = pcie_host(8, true, 12.5, 4);
  constexpr int links[][3] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
                              {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
  for (const auto& link : links) {
    host.pairs.push_back({link[0], link[1], LinkKind::nvlink, link[2], gigabytes_per_second(25.0 * link[2])});
  }
  return host;
}

/// Every pair joined by one link, as on an MI300X board.
inline NodeWiring full_mesh_host(std::int64_t gpus = 8, double pair_rate = 64.0) {
  NodeWiring host = pcie_host(gpus, true, 50.0, gpus);
  for (std::int64_t a = 0; a < gpus; ++a) {
    for (std::int64_t b = a + 1; b < gpus; ++b) {
      host.pairs.push_back({a, b, LinkKind::xgmi, 1, gigabytes_per_second(pair_rate)});
    }
  }
  return host;
}

inline ClusterTier tier(std::string name, std::int64_t nodes, double oversubscription) {
  return {std::move(name), nodes, oversubscription, std::nullopt};
}

}  // namespace headroom::test
