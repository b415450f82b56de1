// SPDX-License-Identifier: Apache-2.0
// Any text as nvidia-smi's matrix and as NCCL's XML: a wiring whose indices are in range, or refused by ConfigError.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/import/import_nccl_xml.hpp>
#include <headroom/hardware/import/import_topo.hpp>

#include "require.hpp"

using namespace headroom;
using headroom::fuzz::require;

namespace {

void check(const NodeWiring& w) {
  require(w.gpus > 0 && std::ssize(w.gpu_switch) == w.gpus && std::ssize(w.gpu_socket) == w.gpus);
  for (std::size_t i = 0; i < w.gpu_switch.size(); ++i) {
    require(w.gpu_switch[i] >= -1 && w.gpu_switch[i] < std::ssize(w.switch_socket));
    require(w.gpu_socket[i] >= 0 && w.gpu_socket[i] < w.sockets);
  }
  for (const NodeWiring::Pair& pair : w.pairs) {
    require(pair.a >= 0 && pair.a < pair.b && pair.b < w.gpus && pair.rate > BytesPerSecond{});
  }
  for (const NodeWiring::Nic& nic : w.nics) {
    require(nic.socket >= 0 && nic.socket < w.sockets && nic.pcie_switch < std::ssize(w.switch_socket));
    require(nic.rate > BytesPerSecond{});
  }
  require(w.same_as(w));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Catalog catalog = Catalog::standard();
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  HostFacts facts;
  facts.socket_link = BytesPerSecond{22e9};
  facts.nic_rate = BytesPerSecond{50e9};
  facts.sockets = 2;
  for (const auto import : {import_topo, import_nccl_xml}) {
    try {
      check(import(text, "host", catalog.device("h100-sxm-80gb"), facts));
    } catch (const ConfigError&) {
      continue;
    }
  }
  return 0;
}
