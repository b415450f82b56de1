// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/date.hpp>
#include <headroom/hardware/catalog/catalog_reader.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/catalog/sourced_reader.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 6> transports{"infiniband", "roce", "efa", "tcpx", "omni-path", "nvlink"};

template <class T>
T with_heading(ConfigTable& root, const std::string& file) {
  EntryHeading heading = read_heading(root, file);
  T entry;
  entry.id = std::move(heading.id);
  entry.name = std::move(heading.name);
  entry.notes = std::move(heading.notes);
  entry.aliases = std::move(heading.aliases);
  entry.file = file;
  return entry;
}

/// Reads [[0, 1, 1], [0, 3, 2]]: two GPUs and their number of links.
std::optional<std::vector<NodePair>> read_pairs(ConfigTable& table) {
  const ConfigValue* list = table.value("value");
  if (list == nullptr) {
    return std::nullopt;
  }
  const auto is_pair = [](const ConfigValue& item) {
    return item.kind == ConfigValue::Kind::array && item.items.size() == 3 &&
           std::all_of(item.items.begin(), item.items.end(),
                       [](const ConfigValue& v) { return v.kind == ConfigValue::Kind::integer; });
  };
  std::vector<NodePair> pairs;
  for (const ConfigValue& item : list->items) {
    if (is_pair(item)) {
      pairs.push_back({item.items[0].integer, item.items[1].integer, item.items[2].integer, item.at});
    } else {
      table.diagnostics().add(table.file(), item.at, "one of 'pairs' is [GPU, GPU, links], e.g. [0, 3, 2]");
    }
  }
  if (list->items.empty()) {
    table.problem("value", "'pairs' is a list of [GPU, GPU, links], e.g. [[0, 1, 1], [0, 3, 2]]");
  }
  return pairs;
}

void read_fabric(ConfigTable table, SourceTags& tags, Node& node) {
  // All topologies except "none": a server without links is "pcie".
  const auto names = std::span{link_topology_names}.subspan(1);
  node.topology = static_cast<LinkTopology>(table.choice("topology", names) + 1);
  node.switches = tags.count(table, "switches");
  node.per_gpu = tags.quantity<BytesPerSecond>(table, "per_gpu");
  node.per_pair = tags.quantity<BytesPerSecond>(table, "per_pair");
  node.pairs = tags.other(table, "pairs", read_pairs);
  node.planes = tags.count(table, "planes");
  node.domain = tags.count(table, "domain");
  node.peer_access = table.maybe_boolean("peer_access").value_or(true);
  table.finish();
}

void read_node_pcie(ConfigTable table, SourceTags& tags, Node& node) {
  node.pcie_generation = table.integer("generation", {1, 8});
  node.pcie_switches = tags.count(table, "switches");
  node.gpus_per_pcie_switch = table.maybe_integer("gpus_per_switch").value_or(0);
  node.gpu_switch = tags.counts(table, "gpu_switch");
  node.gpu_socket = tags.counts(table, "gpu_socket");
  node.switch_socket = tags.counts(table, "switch_socket");
  table.finish();
}

void read_nics(ConfigTable table, SourceTags& tags, Node& node) {
  node.nic_kind = table.maybe_text("kind").value_or("");
  node.nics = tags.count(table, "count");
  node.nic_rate = tags.quantity<BytesPerSecond>(table, "rate");
  node.nics_on_gpus = table.maybe_boolean("on_gpus").value_or(false);
  node.nic_switch = tags.counts(table, "switch");
  node.nic_socket = tags.counts(table, "socket");
  table.finish();
}

void read_host(ConfigTable table, SourceTags& tags, Node& node) {
  node.cpu = table.maybe_text("cpu").value_or("");
  node.host_memory = tags.quantity<Bytes>(table, "memory");
  node.host_bandwidth = tags.quantity<BytesPerSecond>(table, "memory_bandwidth");
  node.sockets = tags.count(table, "sockets");
  node.socket_link = tags.quantity<BytesPerSecond>(table, "socket_link");
  node.c2c = tags.quantity<BytesPerSecond>(table, "c2c");
  table.finish();
}

void read_node_power(ConfigTable table, SourceTags& tags, Node& node) {
  node.power = tags.quantity<Watts>(table, "node");
  table.finish();
}

ClusterTier read_tier(ConfigTable& table, SourceTags& tags) {
  ClusterTier tier;
  tier.name = table.text("name");
  tier.nodes = table.integer("nodes");
  tier.oversubscription = table.number("oversubscription", {1.0, 1000.0});
  tier.hop_latency = tags.quantity<Seconds>(table, "hop_latency");
  table.finish();
  return tier;
}

std::string region_of(ConfigTable& table) {
  return std::string{region_names[table.choice("region", region_names)]};
}

/// Reads a price; a missing or broken one is reported and replaced by a neutral one.
template <class Q>
Sourced<Q> price_of(ConfigTable& table, SourceTags& tags, const std::string& example) {
  const std::optional<Sourced<Q>> price = tags.quantity<Q>(table, "price");
  if (!table.has("price")) {
    table.problem("price", "missing key 'price' in [" + table.path() + "], e.g. { value = \"" + example +
                               "\", source = \"TAG\" }");
  }
  return price.value_or(Sourced<Q>{});
}

PriceOffer read_offer(ConfigTable& table, SourceTags& tags) {
  PriceOffer offer;
  offer.gpu = table.text("gpu");
  offer.market = static_cast<Market>(table.choice("market", market_names));
  offer.region = region_of(table);
  offer.price = price_of<DollarsPerSecond>(table, tags, "2.99 $/h");
  table.finish();
  return offer;
}

StorageOffer read_storage(ConfigTable& table, SourceTags& tags) {
  StorageOffer offer;
  offer.service = table.text("service");
  offer.region = region_of(table);
  offer.price = price_of<DollarsPerByteSecond>(table, tags, "0.023 $/GB/month");
  table.finish();
  return offer;
}

EgressOffer read_egress(ConfigTable& table, SourceTags& tags) {
  EgressOffer offer;
  offer.region = region_of(table);
  offer.price = price_of<DollarsPerByte>(table, tags, "0.09 $/GB");
  table.finish();
  return offer;
}

/// A date is required because prices of GPUs halve within two years.
std::string read_price_date(ConfigTable& root) {
  if (!root.has("date")) {
    root.problem("date", "a price list needs the date of its prices: date = \"2026-08\" or \"2026-08-15\"");
    return {};
  }
  std::string date = root.text("date");
  if (!date.empty() && !is_date_or_month(date)) {
    root.problem("date", "'date' is " + quoted(date) + "; it must look like \"2026-08\" or \"2026-08-15\"");
  }
  return date;
}

}  // namespace

Node read_node(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  Node node = with_heading<Node>(root, file);
  SourceTags tags{root};
  node.gpu = root.text("gpu");
  node.also = root.texts("also");
  node.gpus = root.integer("gpus", {1, 4096});

  const auto section = [&](std::string_view name, auto read) {
    if (const std::optional<ConfigTable> table = root.maybe_table(name)) {
      read(*table, tags, node);
    }
  };
  section("fabric", read_fabric);
  section("pcie", read_node_pcie);
  section("nics", read_nics);
  section("host", read_host);
  section("power", read_node_power);
  node.unused_sources = tags.unused();
  root.finish();
  check_wiring(node, diagnostics);
  return node;
}

Cluster read_cluster(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  auto cluster = with_heading<Cluster>(root, file);
  SourceTags tags{root};
  cluster.node = root.text("node");
  cluster.nodes = tags.count(root, "nodes");
  cluster.rail_optimised = root.boolean("rail_optimised");
  cluster.transport = transports[root.choice("transport", transports)];
  cluster.nic_reach = tags.other(root, "nic_reach", [](ConfigTable& stated) {
    return stated.maybe_number("value", {0.05, 1.5});
  });
  for (ConfigTable& table : root.tables("tier")) {
    cluster.tiers.push_back(read_tier(table, tags));
  }
  cluster.unused_sources = tags.unused();
  root.finish();
  return cluster;
}

PriceList read_prices(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  auto prices = with_heading<PriceList>(root, file);
  SourceTags tags{root};
  prices.provider = root.text("provider");
  prices.date = read_price_date(root);
  for (ConfigTable& table : root.tables("offer")) {
    prices.offers.push_back(read_offer(table, tags));
  }
  for (ConfigTable& table : root.tables("storage")) {
    prices.storage.push_back(read_storage(table, tags));
  }
  for (ConfigTable& table : root.tables("egress")) {
    prices.egress.push_back(read_egress(table, tags));
  }
  prices.unused_sources = tags.unused();
  root.finish();
  return prices;
}

}  // namespace headroom
