// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/kernels/curve_reader.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 4> generation_names{"volta", "ampere", "hopper", "blackwell"};
/// Measured servers without NVLink: with peer access between all GPUs, and with peer access only within a pair.
constexpr std::string_view peer_box = "rtx-pro-6000-server";
constexpr std::string_view staged_box = "l40s";

NcclGraphs read_graphs(ConfigTable table, std::string& source) {
  NcclGraphs g;
  g.generation = static_cast<nccl::Generation>(table.choice("generation", generation_names));
  g.ring_channels = static_cast<int>(table.integer("ring_channels", {1, 64}));
  g.ring_channel = table.quantity<BytesPerSecond>("ring_channel");
  g.nvls_ranks = table.maybe_integer("nvls_ranks", {2, 1024}).value_or(0);
  if (g.nvls_ranks > 0) {
    g.nvls_channels = static_cast<int>(table.integer("nvls_channels", {2, 64}));
    g.nvls_channel = table.quantity<BytesPerSecond>("nvls_channel");
    g.net_channel = table.maybe_quantity<BytesPerSecond>("net_channel").value_or(g.nvls_channel);
  }
  g.ll128 = table.boolean("ll128");
  source = table.text("source");
  table.finish();
  return g;
}

/// The curve of an op, of `version` if it was measured, else the first one.
template <class Curve>
const Curve* curve_of(const std::vector<Curve>& curves, std::string_view op, std::string_view version = {}) {
  const Curve* found = nullptr;
  for (const Curve& curve : curves) {
    const CurveProvenance& p = curve.provenance;
    if (p.format == op && (found == nullptr || (p.version == version && found->provenance.version != version))) {
      found = &curve;
    }
  }
  return found;
}

CollectiveSet read_entry(const DataStore::Entry& entry) {
  Diagnostics diagnostics;
  CollectiveSet set = read_collective_set(parse_toml(entry.text, entry.file), entry.file, diagnostics);
  diagnostics.throw_if_any();
  return set;
}

/// Appends the curves of a base after the set's own, so that the own ones are found first, and takes from the base what
/// the set does not state.
void append(CollectiveSet& set, CollectiveSet&& base) {
  const auto add = [](auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
  add(set.ring, base.ring);
  add(set.all_to_all, base.all_to_all);
  add(set.custom, base.custom);
  add(set.moe, base.moe);
  if (set.graphs_source.empty()) {
    set.graphs = base.graphs;
    set.graphs_source = std::move(base.graphs_source);
    set.staged_shares = base.staged_shares;
  }
  if (!set.clock) {
    set.clock = std::move(base.clock);
  }
  if (set.eager_source.empty()) {
    set.eager_launch = base.eager_launch;
    set.eager_source = std::move(base.eager_source);
  }
}

}  // namespace

CollectiveCurves CollectiveSet::curves(std::string_view version) const {
  CollectiveCurves c;
  c.graphs = graphs;
  c.staged_shares = staged_shares;
  std::string missing;
  const auto take = [&](const auto& fitted, std::string_view op, auto& to) {
    if (const auto* found = curve_of(fitted, op, version); found != nullptr) {
      to = found->values;
    } else {
      missing += (missing.empty() ? "" : ", ") + std::string{op};
    }
  };
  take(ring, "all_reduce", c.all_reduce);
  take(ring, "all_gather", c.all_gather);
  take(ring, "reduce_scatter", c.reduce_scatter);
  take(all_to_all, "alltoall", c.all_to_all);
  if (!missing.empty()) {
    throw ConfigError{"the collectives of " + id + " lack a curve for " + missing +
                      "; fit it with 'headroom fit FILE "
                      "--kind nccl --gpu " +
                      id + "'"};
  }
  return c;
}

CollectiveCurves ChosenCollectives::curves(std::string_view version) const {
  CollectiveCurves c = set.curves(version);
  c.link = link;
  return c;
}

CollectiveSet read_collective_set(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  CollectiveSet set;
  set.id = root.text("id");
  set.file = file;
  set.base = root.maybe_text("base").value_or("");
  set.staged_shares = root.maybe_boolean("staged_shares").value_or(false);
  if (set.base.empty() || root.has("graphs")) {
    set.graphs = read_graphs(root.table("graphs"), set.graphs_source);
  }
  if (set.base.empty() || root.has("eager")) {
    ConfigTable eager = root.table("eager");
    set.eager_launch = eager.quantity<Seconds>("launch");
    set.eager_source = eager.text("source");
    eager.finish();
  }
  if (std::optional<ConfigTable> clock = root.maybe_table("clock")) {
    set.clock = MeasuredClock{clock->text("generation"), clock->quantity<Hertz>("highest"), clock->text("source")};
    clock->finish();
  }
  set.ring = read_curves(root, "ring", ring_parameters());
  set.all_to_all = read_curves(root, "all-to-all", pair_parameters());
  set.custom = read_curves(root, "custom-all-reduce", custom_parameters());
  set.moe = read_curves(root, "moe-all-to-all", moe_exchange_parameters());
  for (FittedExchange& curve : set.moe) {
    curve.provenance.sku = set.id;
  }
  root.finish();
  return set;
}

Transport read_transport(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics) {
  constexpr Range<double> share{0.01, 1.0};
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  Transport t;
  t.file = file;
  t.id = root.text("id");
  t.name = root.text("name");
  static_cast<void>(root.texts("aliases"));
  t.source = root.text("source");
  t.fitted = root.text("fitted");
  t.p90 = root.number("p90", {0.0, 10.0});
  ConfigTable hop = root.table("hop");
  t.curve.hop = {hop.quantity<Seconds>("ll"), hop.quantity<Seconds>("ll128"), hop.quantity<Seconds>("simple")};
  hop.finish();
  t.curve.ring_share = root.number("ring_share", share);
  t.curve.tree_share = root.number("tree_share", share);
  t.curve.pair_share = root.number("pair_share", share);
  t.curve.pipeline = root.quantity<Seconds>("pipeline", true);
  root.finish();
  return t;
}

namespace {

CollectiveSet load_collective_set(const DataStore& files, std::string_view id) {
  const std::optional<DataStore::Entry> entry = files.find("collectives", id);
  if (!entry) {
    const std::vector<std::string> ids = files.ids("collectives");
    const std::vector<std::string_view> known{ids.begin(), ids.end()};
    throw ConfigError{"no collectives of " + quoted(std::string{id}) + " were measured" + suggestion(id, known) +
                      "; measured are " + joined(ids)};
  }
  std::optional<CollectiveSet> set;
  files.follow_bases("collectives", *entry, "set of measured collectives", [&](const DataStore::Entry& each) {
    CollectiveSet read = read_entry(each);
    std::string base = read.base;
    set ? append(*set, std::move(read)) : static_cast<void>(set = std::move(read));
    return base;
  });
  return std::move(*set);
}

}  // namespace

double clock_ratio(const CollectiveSet& set, const Device& device) noexcept {
  if (set.id == device.id || !set.clock || !device.compute.clock || set.clock->generation == device.generation) {
    return 1.0;
  }
  return set.clock->highest / device.compute.clock->value;
}

CollectiveSet at_clock_of(CollectiveSet set, const Device& device) {
  const double ratio = clock_ratio(set, device);
  const bool over_pcie = !set.graphs.ll128;  // NCCL uses LL128 only over NVLink
  const auto scale = [&](auto& curves, auto... parameters) {
    for (auto& curve : curves) {
      ((curve.values[static_cast<std::size_t>(parameters)] *= ratio), ...);
    }
  };
  if (ratio == 1.0) {
    return set;
  }
  scale(set.ring, RingParameter::launch);
  scale(set.all_to_all, PairParameter::launch);
  scale(set.custom, CustomParameter::launch);
  if (!over_pcie) {
    scale(set.ring, RingParameter::ll_hop, RingParameter::ll128_hop, RingParameter::simple_hop, RingParameter::pipeline,
          RingParameter::nvls_latency, RingParameter::nvls_pipeline);
    scale(set.all_to_all, PairParameter::ll_hop, PairParameter::chunk, PairParameter::simple_latency,
          PairParameter::simple_hop, PairParameter::pipeline);
    scale(set.custom, CustomParameter::hop, CustomParameter::barrier);
  }
  return set;
}

const CollectiveSet& find_collective_set(const ModelData& data, std::string_view id) {
  return data.once(id, [&] { return load_collective_set(data.files(), id); });
}

ChosenCollectives choose_collectives(const ModelData& data, const Device& device, const GroupView& view) {
  if (view.ranks > 1 && view.inside != LinkKind::nvlink && view.inside != LinkKind::c2c &&
      view.inside != LinkKind::pcie && view.inside != LinkKind::socket) {
    throw ConfigError{"nobody measured collectives over " + std::string{name_of(view.inside)} + " (" + device.id +
                      "); measure them and fit them with 'headroom fit FILE --kind nccl --gpu " + device.id + "'"};
  }
  if (device.curves.empty()) {
    throw ConfigError{device.id + " names no measured collectives of its generation (" + device.generation +
                      "); borrow a set with curves = \"ID\" in an overlay of the SKU"};
  }
  const bool pcie = view.inside == LinkKind::pcie || view.inside == LinkKind::socket;
  ChosenCollectives chosen;
  chosen.set = find_collective_set(data, device.curves);
  const bool measured_over_pcie = !chosen.set.graphs.ll128;  // NCCL uses LL128 only over NVLink
  if (!pcie && measured_over_pcie) {
    throw ConfigError{device.id + " borrows the collectives of " + chosen.set.id +
                      ", which has no NVLink; nobody measured NVLink on this generation"};
  }
  if (pcie && device.pcie.rate) {
    chosen.link = device.pcie.rate->value;
  }
  if (pcie && (!measured_over_pcie || (view.staged && !chosen.set.staged_shares))) {
    chosen.set = find_collective_set(data, view.staged ? staged_box : peer_box);
    chosen.why = std::string{"measured over PCIe "} +
                 (view.staged ? "without peer access beyond a pair" : "with peer access") + ": ";
  }
  chosen.why += "NCCL " +
                (chosen.set.ring.empty() ? std::string{"curves"} : chosen.set.ring.front().provenance.version) +
                " on " + chosen.set.id;
  if (chosen.set.id != device.id) {
    chosen.why += " with the links of " + device.id;
    if (const double ratio = clock_ratio(chosen.set, device); ratio != 1.0) {
      chosen.why += ", what SMs run " + format_number(ratio) + " times as long by their clocks";
    }
    chosen.set = at_clock_of(std::move(chosen.set), device);
  }
  return chosen;
}

namespace {

/// The first curve of a transport that was measured across at least `hosts` hosts; nullptr if there is none.
const FittedExchange* exchange_across(const CollectiveSet& set, std::string_view transport, std::int64_t hosts) {
  const auto found = std::find_if(set.moe.begin(), set.moe.end(), [&](const FittedExchange& curve) {
    return curve.provenance.format == transport && curve.provenance.hosts >= hosts;
  });
  return found == set.moe.end() ? nullptr : &*found;
}

/// The first such curve in any set of a generation.
std::optional<FittedExchange> exchange_of_generation(const ModelData& data,
                                                     nccl::Generation generation,
                                                     std::string_view transport,
                                                     std::int64_t hosts) {
  for (const std::string& id : data.files().ids("collectives")) {
    const CollectiveSet& set = find_collective_set(data, id);
    const FittedExchange* const across =
        set.graphs.generation == generation ? exchange_across(set, transport, hosts) : nullptr;
    if (across != nullptr) {
      return *across;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChosenExchange> choose_exchange(const ModelData& data,
                                              const Device& device,
                                              const GroupView& view,
                                              std::string_view transport) {
  const MoeTransport* const known = find_moe_transport(transport);
  const bool nvlink = view.inside == LinkKind::nvlink || view.inside == LinkKind::c2c;
  if (known == nullptr || device.curves.empty() || !nvlink) {
    return std::nullopt;
  }
  const CollectiveSet& set = find_collective_set(data, device.curves);
  const FittedExchange* const measured_here = exchange_across(set, transport, 1);
  const std::optional<FittedExchange> own = measured_here != nullptr
                                                ? std::optional{*measured_here}
                                                : exchange_of_generation(data, set.graphs.generation, transport, 1);
  if (!own) {
    return std::nullopt;
  }
  FittedExchange curve = *own;
  const bool hosts = view.domains > 1;
  if (hosts) {
    const FittedExchange* const across = exchange_across(set, transport, 2);
    const auto other =
        across == nullptr ? exchange_of_generation(data, set.graphs.generation, transport, 2) : std::nullopt;
    curve = across != nullptr ? *across : other.value_or(curve);
  }
  const CurveProvenance& p = curve.provenance;
  const bool measured = !hosts || p.hosts > 1;
  return ChosenExchange{MoeExchangeModel{curve.values, *known, kernel_device(device, Rate::bf16).units},
                        std::string{transport} + ", " + p.engine + " " + p.version + " on " + p.sku +
                            (measured ? "" : ", which nobody measured between hosts"),
                        measured};
}

namespace {

Transport load_transport(const DataStore& files, std::string_view spelling) {
  const std::optional<DataStore::Entry> entry = files.find("transports", spelling);
  if (!entry) {
    const std::vector<std::string> spellings = files.spellings("transports");
    const std::vector<std::string_view> known{spellings.begin(), spellings.end()};
    throw ConfigError{"network " + quoted(std::string{spelling}) + " is not known" + suggestion(spelling, known) +
                      "; known are " + joined(files.ids("transports"))};
  }
  Diagnostics diagnostics;
  Transport transport = read_transport(parse_toml(entry->text, entry->file), entry->file, diagnostics);
  diagnostics.throw_if_any();
  return transport;
}

}  // namespace

const Transport& find_transport(const ModelData& data, std::string_view spelling) {
  return data.once(spelling, [&] { return load_transport(data.files(), spelling); });
}

GroupView hosts_view(const Device& device, const Node* node, std::int64_t ranks, std::int64_t nodes) {
  const std::int64_t each = (ranks + nodes - 1) / nodes;
  const LinkTopology topology = node != nullptr ? node->topology : device.scale_up.topology;
  const std::int64_t hosted = node != nullptr && topology != LinkTopology::bridge ? node->gpus : 1;
  const std::int64_t domain = std::max(device.scale_up.domain, hosted);
  if (each > domain) {
    throw ConfigError{std::to_string(each) + " GPUs do not fit one domain of " + device.id + ", which joins " +
                      std::to_string(domain)};
  }
  GroupView view;
  view.ranks = ranks;
  view.domains = nodes;
  view.nodes = nodes;
  view.per_domain = each;
  view.tier = nodes > 1 ? 1 : 0;
  const bool pcie = topology == LinkTopology::pcie || topology == LinkTopology::none;
  view.inside = pcie                        ? LinkKind::pcie
                : device.vendor == "amd"    ? LinkKind::xgmi
                : device.vendor == "nvidia" ? LinkKind::nvlink
                                            : LinkKind::ethernet;
  view.in_switch = topology == LinkTopology::fabric_switch;
  // Two GPUs share a PCIe switch or socket, where even servers without peer access between sockets have it.
  view.staged = pcie && node != nullptr && !node->peer_access && each > 2;
  const auto rate = node != nullptr && node->per_gpu ? node->per_gpu
                    : device.scale_up.per_gpu        ? device.scale_up.per_gpu
                                                     : device.pcie.rate;
  if (!rate && each > 1) {
    throw ConfigError{device.id + " has no rate of a link in the catalog (scale_up.per_gpu or pcie.rate)"};
  }
  const BytesPerSecond link = rate ? rate->value : BytesPerSecond{};
  view.inside_ring = view.inside_all = view.inside_pair = link;
  if (nodes > 1) {
    const auto nics = node != nullptr ? node->scale_out_per_gpu() : std::nullopt;
    if (!nics) {
      throw ConfigError{(node != nullptr ? node->id : device.id) + " has no NICs in the catalog"};
    }
    view.outside_ring = view.outside_all = view.outside_pair = *nics;
  }
  return view;
}

}  // namespace headroom
