// SPDX-License-Identifier: Apache-2.0
// The catalog: SKUs, their architectures, node types, clusters and price lists, embedded in the binary and extended by
// the user's folders.
#pragma once

#include <headroom/core/embedded.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/hardware/catalog/unit_limits.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Two GPUs `a` and `b` (indices from 0) of a node that links join without a switch.
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
  std::optional<Sourced<std::int64_t>> planes;  ///< number of switch planes, where a plane has more than one switch
  std::optional<Sourced<std::int64_t>> domain;  ///< GPUs of the switched domain, where it is larger than the node
  bool peer_access = true;
  std::int64_t pcie_generation = 0;
  std::optional<Sourced<std::int64_t>> pcie_switches;
  std::int64_t gpus_per_pcie_switch = 0;
  std::optional<Sourced<std::vector<std::int64_t>>> gpu_switch;     ///< switch of each GPU; -1: at its socket
  std::optional<Sourced<std::vector<std::int64_t>>> gpu_socket;     ///< socket of each GPU
  std::optional<Sourced<std::vector<std::int64_t>>> switch_socket;  ///< socket of each PCIe switch
  std::string nic_kind;
  std::optional<Sourced<std::int64_t>> nics;
  std::optional<Sourced<BytesPerSecond>> nic_rate;
  bool nics_on_gpus = false;                                     ///< the NICs are ports of the accelerators themselves
  std::optional<Sourced<std::vector<std::int64_t>>> nic_switch;  ///< switch of each NIC; -1: at its socket
  std::optional<Sourced<std::vector<std::int64_t>>> nic_socket;  ///< socket of each NIC
  std::string cpu;
  std::optional<Sourced<std::int64_t>> sockets;
  std::optional<Sourced<BytesPerSecond>> socket_link;
  std::optional<Sourced<BytesPerSecond>> c2c;  ///< rate between a GPU and the CPU of its module, one direction
  /// What a scenario states of one GPU and its host, each way, in place of what module, slot and GPU allow.
  std::optional<BytesPerSecond> host_link;
  std::optional<Sourced<Bytes>> host_memory;
  std::optional<Sourced<BytesPerSecond>> host_bandwidth;  ///< of that memory, all sockets together, at its peak
  std::optional<Sourced<Watts>> power;
  std::vector<std::string> unused_sources;

  /// Scale-out rate of one GPU in one direction: number of NICs x NIC rate / number of GPUs; nullopt without NICs.
  [[nodiscard]] std::optional<BytesPerSecond> scale_out_per_gpu() const;
};

/// One switching level of the network, counted from the nodes outward.
struct ClusterTier {
  std::string name;
  std::int64_t nodes = 1;  ///< nodes below one element of this tier
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
  /// Share of the network's measured curve that collectives of training reach; blank: the fitted one
  std::optional<Sourced<double>> nic_reach;
  std::vector<ClusterTier> tiers;
  std::vector<std::string> unused_sources;
};

enum class Market : std::uint8_t { on_demand, spot, reserved };
inline constexpr std::array<std::string_view, 3> market_names{"on-demand", "spot", "reserved"};

/// Classes of regions; the region names of providers are too many and too short-lived. "any" means the same price
/// everywhere or a source that states no region.
inline constexpr std::array<std::string_view, 5> region_names{"any", "us", "eu", "asia-pacific", "other"};

struct PriceOffer {
  std::string gpu;
  Market market = Market::on_demand;
  std::string region;               ///< one of region_names
  Sourced<DollarsPerSecond> price;  ///< price of one GPU
};

/// Price of stored data by service, such as "object-standard".
struct StorageOffer {
  std::string service, region;
  Sourced<DollarsPerByteSecond> price;
};

/// Price of data that leaves the provider to the internet.
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

/// A spelling that many SKUs share or that cannot be planned for, with the reason to print.
struct RefusedSpelling {
  std::string_view spelling;  ///< normalised; '*' stands for any part
  std::string_view reason;
};
[[nodiscard]] std::span<const RefusedSpelling> refused_gpus() noexcept;

/// Looks entries up by id or alias. Entries are parsed at first use and kept. Safe to call from several threads.
class Catalog {
 public:
  explicit Catalog(DataStore store);
  /// The embedded catalog, files of `folders` over it; earlier folders win.
  [[nodiscard]] static Catalog of(UserFolders folders);
  /// The embedded catalog, extended by the user's folders.
  [[nodiscard]] static Catalog standard();

  /// Each lookup throws ConfigError if the spelling is unknown (with the nearest one) or refused (with the reason), or
  /// if the file has errors. A slice of a card is a device too: CARD/PROFILE, "a100-sxm-80gb/1g.10gb"; where the card
  /// has no such profile the error lists those that it has.
  [[nodiscard]] const Device& device(std::string_view spelling) const;
  [[nodiscard]] const Node& node(std::string_view spelling) const;
  [[nodiscard]] const Cluster& cluster(std::string_view spelling) const;
  [[nodiscard]] const PriceList& prices(std::string_view spelling) const;
  /// An architecture by its id, "sm-80", or its compute capability, "8.0".
  [[nodiscard]] const UnitLimits& architecture(std::string_view spelling) const;
  /// How a card can be cut into slices, or, of a slice, how its card was; nullptr where it cannot.
  [[nodiscard]] const PartitionScheme* partitions(const Device& device) const;
  /// That of a device. ConfigError, with the architectures that are known, where the catalog has none of its units.
  [[nodiscard]] const UnitLimits& unit_limits(const Device& device) const;

  /// The reason why a SKU spelling cannot be used; nullopt if it resolves.
  [[nodiscard]] std::optional<std::string> why_no_device(std::string_view spelling) const;
  /// The node type in which a SKU is usually sold, in order of preference: a vendor's board made for the SKU, one also
  /// sold with it, a build of a cloud or site that names it, a vendor's board of its generation and fabric. Ties go to
  /// the larger board, then the lower id. nullptr if there is none. Of a slice it is the card's node, cut.
  [[nodiscard]] const Node* reference_node(const Device& device) const;
  /// A node all of whose cards are cut into the profile of a slice: its GPUs are slices, and no link joins them.
  [[nodiscard]] const Node& node_of_slices(const Node& node, const Device& slice) const;

  [[nodiscard]] const DataStore& store() const noexcept { return store_; }

 private:
  struct Cache;
  DataStore store_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace headroom
