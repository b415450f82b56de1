// SPDX-License-Identifier: Apache-2.0
// `headroom fabric show`: links and rates of a host or cluster, and what each axis of a strategy sees.
#include <headroom/cli/frame/command.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/render/render_fabric.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/import/import_nccl_xml.hpp>
#include <headroom/hardware/import/import_topo.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::cli {

extern const Verb fabric_verb;

namespace fabric_parts {
namespace {

enum class Asks : std::uint8_t { entry, host, drawn_entry, drawn_host };
constexpr std::array forms{
    Form{"a node type or a cluster of the catalog", "a node type or a cluster", formats_in<"text|{}">},
    Form{"a host from a file", "--topo or --nccl-xml", formats_in<"text|{}">},
    Form{"a drawing of one host (--format dot)", "", "dot"},
    Form{"a drawing of one host (--format dot)", "", "dot"},
};

constexpr std::array options{
    Option{"--gpus", OptionKind::one, "N", "GPUs of the job; default those of the strategy, else all"}.of(Asks::entry,
                                                                                                          Asks::host),
    Option{"--strategy", OptionKind::one, "AXES", "\"tp=8,pp=4,dp=16\", also cp, ep, etp; dp follows from --gpus"}.of(
        Asks::entry, Asks::host),
    Option{"--order", OptionKind::one, "ORDER", "axes from neighbouring ranks outward; default tp-cp-ep-dp-pp"}
        .of(Asks::entry, Asks::host)
        .with("--strategy"),
    Option{"--topo", OptionKind::one, "FILE", "the host as 'nvidia-smi topo -m' prints it; needs --gpu"}.that(
        FileUse::reads),
    Option{"--nccl-xml", OptionKind::one, "FILE", "the host as NCCL_TOPO_DUMP_FILE has it; needs --gpu"}.that(
        FileUse::reads),
    Option{"--gpu", OptionKind::one, "ID", "SKU of the catalog; default the node type's own"},
    Option{"--like", OptionKind::one, "NODE", "with a file: what it does not say is as in this node type"}.of(
        Asks::host, Asks::drawn_host),
    Option{"--nic-rate", OptionKind::one, "RATE", "with a file: of one NIC, e.g. \"400 Gb/s\""}.of(Asks::host,
                                                                                                   Asks::drawn_host),
    Option{"--socket-link", OptionKind::one, "RATE", "with a file: between sockets, e.g. \"22 GB/s\""}.of(
        Asks::host, Asks::drawn_host),
    Option{"--nics", OptionKind::one, "NAMES",
           "with a file: those that collectives use, \"mlx5_0,mlx5_3\"; default all"}
        .of(Asks::host, Asks::drawn_host),
    Option{"--no-peer-access", OptionKind::flag, "", "with a file: GPUs do not reach each other's memory over PCIe"}.of(
        Asks::host, Asks::drawn_host),
    Option{"--format", OptionKind::one, formats_in<"text|{}|dot">,
           meanings_in<"text (default), {}, dot (one host, for Graphviz)">},
};

constexpr std::array<std::string_view, 1> actions{"show"};
constexpr std::array<std::string_view, 6> degree_names{"tp", "cp", "dp", "pp", "ep", "etp"};
constexpr std::int64_t most_ranks = std::int64_t{1} << 22;

std::int64_t whole(std::string_view what, const std::string& text) {
  const std::optional<std::int64_t> value = integer_of(text);
  if (!value || *value < 1 || *value > most_ranks) {
    throw ConfigError{std::string{what} + " " + quoted(text) + " must be a whole number from 1 to " +
                      std::to_string(most_ranks)};
  }
  return *value;
}

std::optional<BytesPerSecond> rate_of(const Arguments& arguments, std::string_view option) {
  if (!arguments.has(option)) {
    return std::nullopt;
  }
  const std::string text = arguments.one(option);
  const auto parsed = parse_quantity(text, dimension_of<BytesPerSecond>);
  if (const auto* error = std::get_if<TextError>(&parsed)) {
    throw ConfigError{std::string{option} + " " + error->message};
  }
  const double value = std::get<double>(parsed);
  if (value <= 0.0) {
    throw ConfigError{std::string{option} + " " + quoted(text) + " must be above zero"};
  }
  return BytesPerSecond{value};
}

/// Degrees of "tp=8,dp=16", with every problem reported.
struct Asked {
  Degrees degrees;
  bool dp = false;
};
Asked read_strategy(const std::string& text) {
  Asked asked;
  Degrees& d = asked.degrees;
  const std::array<std::int64_t*, degree_names.size()> fields{&d.tp, &d.cp, &d.dp, &d.pp, &d.ep, &d.etp};
  std::array<bool, degree_names.size()> seen{};
  Diagnostics problems;
  const auto problem = [&](std::string message) { problems.add("--strategy", {}, std::move(message)); };
  std::string_view rest{text};
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const auto* const found = std::find(degree_names.begin(), degree_names.end(), name);
    const auto value = equals == std::string_view::npos ? std::nullopt : integer_of(part.substr(equals + 1));
    if (found == degree_names.end()) {
      problem(quoted(name) + " is none of tp, cp, dp, pp, ep, etp" + suggestion(name, degree_names));
    } else if (!value || *value < 1 || *value > most_ranks) {
      problem(quoted(part) + " must be " + std::string{name} + "=N, N a whole number from 1");
    } else if (std::exchange(seen[static_cast<std::size_t>(found - degree_names.begin())], true)) {
      problem(quoted(name) + " stands twice");
    } else {
      *fields[static_cast<std::size_t>(found - degree_names.begin())] = *value;
    }
  }
  for (const auto& [product, factors] : {std::pair{"tp x cp x dp x pp", std::array{d.tp, d.cp, d.dp, d.pp}},
                                         {"ep x etp", std::array<std::int64_t, 4>{d.ep, d.etp, 1, 1}}}) {
    std::int64_t ranks = 1;
    for (const std::int64_t factor : factors) {
      ranks *= ranks > most_ranks ? 1 : factor;  // both are at most most_ranks: no overflow
    }
    if (ranks > most_ranks) {
      problem(std::string{product} + " is more than " + std::to_string(most_ranks) + " ranks");
    }
  }
  problems.throw_if_any();
  asked.dp = seen[2];
  return asked;
}

/// The job: requested degrees, with dp filled up to --gpus; nullopt when none was requested.
struct Job {
  Degrees degrees;
  bool with_axes = false;
};
std::optional<Job> job_of(const Arguments& arguments) {
  if (!arguments.has("--strategy") && !arguments.has("--gpus")) {
    return std::nullopt;
  }
  Asked asked = arguments.has("--strategy") ? read_strategy(arguments.one("--strategy")) : Asked{};
  Degrees& d = asked.degrees;
  if (arguments.has("--gpus")) {
    const std::int64_t gpus = whole("--gpus", arguments.one("--gpus"));
    const std::int64_t others = d.tp * d.cp * d.pp;
    if (asked.dp ? others * d.dp != gpus : gpus % others != 0) {
      throw ConfigError{"--gpus " + std::to_string(gpus) + " is not tp x cp x pp" + (asked.dp ? " x dp = " : " = ") +
                        std::to_string(asked.dp ? others * d.dp : others) + (asked.dp ? "" : " times a whole dp")};
    }
    d.dp = gpus / others;
  }
  return Job{d, arguments.has("--strategy")};
}

HostFacts facts_of(const Arguments& arguments, const Catalog& catalog, const Device& device) {
  HostFacts facts;
  if (arguments.has("--like")) {
    facts = headroom::facts_of(wire(catalog.node(arguments.one("--like")), device));
  }
  facts.nic_rate = arguments.has("--nic-rate") ? rate_of(arguments, "--nic-rate") : facts.nic_rate;
  facts.socket_link = arguments.has("--socket-link") ? rate_of(arguments, "--socket-link") : facts.socket_link;
  facts.peer_access = arguments.has("--no-peer-access") ? false : facts.peer_access;
  const std::string names = arguments.one("--nics");
  for (std::size_t start = 0; start < names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    facts.nics.push_back(names.substr(start, end - start));
    start = end + 1;
  }
  return facts;
}

/// Reads a host from a user's file.
void import_host(const Arguments& arguments, const Catalog& catalog, FabricReport& r) {
  const bool matrix = arguments.has("--topo");
  const std::string_view option = matrix ? "--topo" : "--nccl-xml";
  if (matrix && arguments.has("--nccl-xml")) {
    throw ConfigError{"--topo and --nccl-xml are two descriptions of one host: give one"};
  }
  if (!arguments.has("--gpu")) {
    throw ConfigError{std::string{option} + " needs --gpu: the file does not say which SKU its GPUs are"};
  }
  const Device& device = catalog.device(arguments.one("--gpu"));
  const ConfigSource source = read_file(arguments.one(option));
  r.wiring =
      (matrix ? import_topo : import_nccl_xml)(source.text, source.file, device, facts_of(arguments, catalog, device));
  r.id = r.name = source.file;
  r.gpu = device.id;
  if (arguments.has("--like")) {
    r.assumed.push_back("what the file does not say is as in " + catalog.node(arguments.one("--like")).id);
  }
}

void take_node(const Arguments& arguments, const Catalog& catalog, const Node& node, FabricReport& r) {
  const Device& device = catalog.device(arguments.one("--gpu", node.gpu));
  r.wiring = wire(node, device);
  r.gpu = device.id;
}

/// Entry that the command names (a cluster before a node type of the same name), and its network, if stated.
void take_entry(const Arguments& arguments, const Catalog& catalog, const std::string& spelling, FabricReport& r) {
  if (catalog.store().find("clusters", spelling)) {
    const Cluster& cluster = catalog.cluster(spelling);
    const Node& node = catalog.node(cluster.node);
    take_node(arguments, catalog, node, r);
    r.id = cluster.id, r.name = cluster.name, r.node = node.id;
    r.network = {cluster.tiers, cluster.rail_optimised};
    r.nodes = cluster.nodes ? cluster.nodes->value : cluster.tiers.empty() ? 1 : cluster.tiers.back().nodes;
    return;
  }
  if (!catalog.store().find("nodes", spelling)) {
    std::vector<std::string> known = catalog.store().spellings("nodes");
    const std::vector<std::string> clusters = catalog.store().spellings("clusters");
    known.insert(known.end(), clusters.begin(), clusters.end());
    const std::vector<std::string_view> candidates{known.begin(), known.end()};
    throw ConfigError{"unknown node type or cluster " + quoted(spelling) + suggestion(spelling, candidates) +
                      " (see 'headroom catalog list nodes' and 'headroom catalog list clusters')"};
  }
  const Node& node = catalog.node(spelling);
  take_node(arguments, catalog, node, r);
  r.id = node.id, r.name = node.name;
}

std::vector<GpuPorts> ports_of(const FabricGraph& graph) {
  const NodeWiring& w = graph.wiring();
  std::vector<GpuPorts> ports(static_cast<std::size_t>(w.gpus));
  std::vector<std::int64_t> users(w.nics.size(), 0);
  for (std::size_t gpu = 0; gpu < ports.size(); ++gpu) {
    const auto nics = graph.nics_of(static_cast<std::int64_t>(gpu));
    ports[gpu].nics.assign(nics.begin(), nics.end());
    ports[gpu].links = static_cast<double>(w.planes.planes) * w.planes.rate;
    if (graph.rails() > 1 && !nics.empty()) {
      ports[gpu].rail = graph.rail_of(static_cast<std::int64_t>(gpu));
    }
    for (const std::int32_t nic : nics) {
      ++users[static_cast<std::size_t>(nic)];
    }
  }
  for (GpuPorts& port : ports) {
    for (const std::int32_t nic : port.nics) {
      const auto at = static_cast<std::size_t>(nic);
      port.out += w.nics[at].rate / static_cast<double>(users[at]);
    }
  }
  for (const NodeWiring::Pair& pair : w.pairs) {
    ports[static_cast<std::size_t>(pair.a)].links += pair.rate;
    ports[static_cast<std::size_t>(pair.b)].links += pair.rate;
  }
  return ports;
}

std::vector<FabricTier> tiers_of(const FabricGraph& graph, const std::vector<GpuPorts>& ports) {
  std::vector<FabricTier> tiers;
  if (!graph.networked()) {
    return tiers;
  }
  BytesPerSecond beyond = ports.front().out;
  for (const GpuPorts& port : ports) {
    beyond = std::min(beyond, port.out);
  }
  for (std::size_t i = 0; i < graph.network().tiers.size(); ++i) {
    const ClusterTier& tier = graph.network().tiers[i];
    const BytesPerSecond uplink = graph.uplink(static_cast<std::int64_t>(i) + 1);
    tiers.push_back({tier, uplink, beyond});
    if (uplink > BytesPerSecond{}) {
      beyond = std::min(beyond, uplink / static_cast<double>(tier.nodes * graph.wiring().gpus));
    }
  }
  return tiers;
}

/// Rows of the axes that split the job, with the experts' axes if there are experts.
std::vector<AxisView> axes_of(const Fabric& fabric, const AxisOrder& order, const Job& job) {
  std::vector<AxisView> rows;
  if (job.with_axes) {
    const Placement placement = place(order, job.degrees);
    const bool experts = job.degrees.ep > 1 || job.degrees.etp > 1;
    for (std::size_t i = 0; i < axis_count; ++i) {
      const auto axis = static_cast<Axis>(i);
      const bool of_experts = axis == Axis::ep || axis == Axis::etp || axis == Axis::edp;
      const bool same_as_dp = axis == Axis::dp_cp && job.degrees.cp == 1;
      if (placement[i].ranks > 1 && (experts || !of_experts) && !same_as_dp) {
        rows.push_back({std::string{name_of(axis)}, fabric.view(placement[i].ranks, placement[i].stride)});
      }
    }
  }
  rows.push_back({"all", fabric.view(fabric.ranks(), 1)});
  return rows;
}

/// Remarks, such as on tensor parallelism beyond one server (Narayanan et al. 2021, takeaway 1).
void add_remarks(const FabricGraph& graph, const Degrees& degrees, FabricReport& r) {
  for (const AxisView& row : r.axes) {
    if (row.axis == "tp" && row.leaves_domain()) {
      const std::string domain = std::to_string(graph.domain_gpus());
      r.remarks.push_back(
          "tp = " + std::to_string(degrees.tp) + " spans " + std::to_string(row.view.domains) +
          " domains: every layer's all-reduce crosses the network; " +
          (degrees.tp > graph.domain_gpus() ? "split what exceeds " + domain + " with pp" : "put tp first in --order"));
    }
  }
}

/// Rate between the halves of hosts below one switch that never binds. Two scale-up domains, one in each half, add the
/// same wherever they are added, so that few hosts are laid out whatever their number.
BytesPerSecond non_blocking_bisection(const NodeWiring& wiring, std::int64_t nodes) {
  const auto of = [&](std::int64_t hosts) {
    return FabricGraph{wiring, hosts, NetworkTiers::non_blocking(hosts)}.bisection();
  };
  const std::int64_t two_domains = 2 * FabricGraph{wiring, 1, {}}.domain_gpus() / wiring.gpus;
  const std::int64_t added = nodes / two_domains - 1;
  return added < 1
             ? of(nodes)
             : of(nodes - added * two_domains) + static_cast<double>(added) * (of(2 * two_domains) - of(two_domains));
}

void fill(const Arguments& arguments, FabricReport& r) {
  const std::optional<Job> job = job_of(arguments);
  const AxisOrder order = parse_axis_order(arguments.one("--order", to_text(AxisOrder{})));
  const bool named_network = !r.network.tiers.empty();
  if (job) {
    const std::int64_t hosts = hosts_for(r.wiring, job->degrees.ranks());
    if (named_network && hosts > r.nodes) {
      throw ConfigError{std::to_string(job->degrees.ranks()) + " GPUs fill " + std::to_string(hosts) + " hosts; " +
                        r.id + " has " + std::to_string(r.nodes)};
    }
    r.nodes = hosts;
  }
  if (!named_network && r.nodes > 1) {
    r.network = NetworkTiers::non_blocking(r.nodes);
    r.assumed.emplace_back("one switch without oversubscription joins the hosts; name a cluster for its tiers");
  }
  r.assumed.insert(r.assumed.begin(), r.wiring.assumed.begin(), r.wiring.assumed.end());
  const FabricGraph host{r.wiring, 1, {}};
  const FabricGraph graph{r.wiring, r.nodes, r.network, named_network ? FabricPart::whole : FabricPart::two_domains};
  r.host_bisection = host.bisection();
  if (r.nodes > 1) {
    r.bisection = named_network ? graph.bisection() : non_blocking_bisection(r.wiring, r.nodes);
  }
  r.gpus = ports_of(graph);
  r.tiers = tiers_of(graph, r.gpus);
  if (job) {
    const Fabric fabric{graph, job->degrees.ranks()};
    r.ranks = fabric.ranks();
    r.ranks_per_domain = fabric.ranks_per_domain();
    r.order = to_text(order);
    r.axes = axes_of(fabric, order, *job);
    add_remarks(graph, job->degrees, r);
  }
}

Outcome run(const Arguments& arguments) {
  const std::vector<std::string> words = arguments.many("");
  const bool imported = arguments.has("--topo") || arguments.has("--nccl-xml");
  if (!words.empty() && words.front() != actions.front()) {
    throw ConfigError{"fabric " + quoted(words.front()) + " is not 'show'" + suggestion(words.front(), actions)};
  }
  if (words.size() != (imported ? 1 : 2)) {
    throw ConfigError{imported ? "'headroom fabric show' takes a file or an id, not both"
                               : "name a node type or a cluster, e.g. 'headroom fabric show dgx-h100'"};
  }
  const std::string form = arguments.one("--format", "text");
  require_form(
      fabric_verb,
      form == "dot" ? (imported ? Asks::drawn_host : Asks::drawn_entry) : (imported ? Asks::host : Asks::entry),
      arguments);
  const Catalog catalog = own_catalog();
  FabricReport report;
  if (imported) {
    import_host(arguments, catalog, report);
  } else {
    take_entry(arguments, catalog, words[1], report);
  }
  fill(arguments, report);
  const DocumentFormat* const format = document_format(arguments);
  return {format != nullptr ? format->print(fabric_document(report))
          : form == "dot"   ? fabric_dot(report)
                            : fabric_text(report),
          "", 0};
}

constexpr std::string_view examples =
    "  headroom fabric show dgx-h100\n"
    "  headroom fabric show dgx-superpod-h100 --strategy \"tp=8,pp=4,dp=16\"\n"
    "  headroom fabric show llama3-roce-24k --gpus 16384 --strategy \"tp=8,cp=16,pp=16\" --order tp-cp-pp-dp-ep\n"
    "  headroom fabric show --topo topo.txt --gpu h100-sxm-80gb --like dgx-h100\n"
    "  headroom fabric show dgx-1v --format dot | dot -Tsvg > dgx-1v.svg\n";

std::vector<PositionalWord> words() {
  return {{"show", "NODE"}};
}

}  // namespace
}  // namespace fabric_parts

const Verb fabric_verb{"fabric",
                       "a host or a cluster as links and rates, and what each axis of a strategy sees",
                       "show [NODE|CLUSTER]",
                       2,
                       fabric_parts::options,
                       fabric_parts::examples,
                       fabric_parts::run,
                       fabric_parts::words,
                       fabric_parts::forms,
                       FileUse::none};

}  // namespace headroom::cli
