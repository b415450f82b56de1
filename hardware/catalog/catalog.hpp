// SPDX-License-Identifier: Apache-2.0
// The catalog: SKUs, node types, clusters and price lists, embedded in the binary and extended by the user's folders.
#pragma once

#include <headroom/core/embedded.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// GPUs of a node that links join without a switch.
struct NodePair {
  std::int64_t a = 0, b = 0;
  std::int64_t links = 1;
  Position at;
};

/// A server as bought: GPUs, the fabric between them, compute NICs.
struct Node {
  std::string id, name, file, notes;
  std::vector<std::string> aliases;
  std::string gpu;                ///< catalog id of the reference SKU
  std::vector<std::string> also;  ///< other SKUs sold in the same board
  std::int64_t gpus = 1;
  LinkTopology topology = LinkTopology::none;
  std::optional<Sourced<std::int64_t>> switches;
  std::optional<Sourced<BytesPerSecond>> per_gpu;
  std::optional<Sourced<BytesPerSecond>> per_pair;
  std::optional<Sourced<std::vector<NodePair>>> pairs;
  std::optional<Sourced<std::int64_t>> planes;  ///< of switches, where a plane is more than one of them
  std::optional<Sourced<std::int64_t>> domain;  ///< GPUs that the switches join, where they are more than the node's
  bool peer_access = true;
  std::int64_t pcie_generation = 0;
  std::optional<Sourced<std::int64_t>> pcie_switches;
  std::int64_t gpus_per_pcie_switch = 0;
  std::optional<Sourced<std::vector<std::int64_t>>> gpu_switch;     ///< by GPU; -1: at its socket
  std::optional<Sourced<std::vector<std::int64_t>>> gpu_socket;     ///< by GPU
  std::optional<Sourced<std::vector<std::int64_t>>> switch_socket;  ///< by PCIe switch
  std::string nic_kind;
  std::optional<Sourced<std::int64_t>> nics;
  std::optional<Sourced<BytesPerSecond>> nic_rate;
  bool nics_on_gpus = false;                                     ///< ports of the accelerators themselves
  std::optional<Sourced<std::vector<std::int64_t>>> nic_switch;  ///< by NIC; -1: at its socket
  std::optional<Sourced<std::vector<std::int64_t>>> nic_socket;  ///< by NIC
  std::string cpu;
  std::optional<Sourced<std::int64_t>> sockets;
  std::optional<Sourced<BytesPerSecond>> socket_link;
  std::optional<Sourced<BytesPerSecond>> c2c;  ///< of a GPU to the CPU of its module
  std::optional<Sourced<Bytes>> host_memory;
  std::optional<Sourced<Watts>> power;
  std::vector<std::string> unused_sources;

  /// Scale-out rate of one GPU in one direction: NICs x rate / GPUs; nullopt for a node without NICs.
  [[nodiscard]] std::optional<BytesPerSecond> scale_out_per_gpu() const;
};

/// One switching level above the nodes, from the node outward.
struct ClusterTier {
  std::string name;
  std::int64_t nodes = 1;  ///< under one element of this tier
  double oversubscription = 1.0;
  std::optional<Sourced<Seconds>> hop_latency;
};

struct Cluster {
  std::string id, name, file, notes;
  std::vector<std::string> aliases;
  std::string node;
  std::optional<Sourced<std::int64_t>> nodes;
  bool rail_optimised = false;
  std::string transport;
  std::vector<ClusterTier> tiers;
  std::vector<std::string> unused_sources;
};

enum class Market : std::uint8_t { on_demand, spot, reserved };
inline constexpr std::array<std::string_view, 3> market_names{"on-demand", "spot", "reserved"};

/// Classes of regions: a provider's own names are too many and too short-lived. "any": the same price everywhere, or a
/// source that does not say where.
inline constexpr std::array<std::string_view, 5> region_names{"any", "us", "eu", "asia-pacific", "other"};

struct PriceOffer {
  std::string gpu;
  Market market = Market::on_demand;
  std::string region;               ///< one of region_names
  Sourced<DollarsPerSecond> price;  ///< per GPU
};

/// Bytes kept, by service: "object-standard".
struct StorageOffer {
  std::string service, region;
  Sourced<DollarsPerByteSecond> price;
};

/// Bytes that leave the provider: to the internet.
struct EgressOffer {
  std::string region;
  Sourced<DollarsPerByte> price;
};

struct PriceList {
  std::string id, name, file, notes;
  std::vector<std::string> aliases;
  std::string provider, date;
  std::vector<PriceOffer> offers;
  std::vector<StorageOffer> storage;
  std::vector<EgressOffer> egress;
  std::vector<std::string> unused_sources;
};

/// Spellings that many SKUs share or that no plan can be made for, with the reason to print.
struct RefusedSpelling {
  std::string_view spelling;  ///< normalised; a trailing '*' matches any rest
  std::string_view reason;
};
[[nodiscard]] std::span<const RefusedSpelling> refused_gpus() noexcept;

/// Looks entries up by id or alias; parsed at first use and kept. Safe to call from several threads.
class Catalog {
 public:
  explicit Catalog(DataStore store);
  /// The embedded catalog with the user's folders on top.
  [[nodiscard]] static Catalog standard();

  /// Each throws ConfigError: unknown (with the nearest spelling), refused (with the reason), or a broken file.
  [[nodiscard]] const Device& device(std::string_view spelling) const;
  [[nodiscard]] const Node& node(std::string_view spelling) const;
  [[nodiscard]] const Cluster& cluster(std::string_view spelling) const;
  [[nodiscard]] const PriceList& prices(std::string_view spelling) const;

  /// The reason why a SKU spelling cannot be used; nullopt when it resolves.
  [[nodiscard]] std::optional<std::string> why_no_device(std::string_view spelling) const;
  /// The node type a SKU is usually sold in: a vendor's board made for it, else one also sold with it, else a cloud's
  /// or a site's build that names it, else a vendor's board of its generation and fabric; among equals the larger, then
  /// the lower id. nullptr when there is none.
  [[nodiscard]] const Node* reference_node(const Device& device) const;

  [[nodiscard]] const DataStore& store() const noexcept { return store_; }

 private:
  struct Cache;
  DataStore store_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace headroom
