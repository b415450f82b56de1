// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_fabric.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>

namespace headroom::cli {
namespace {

std::string count(std::int64_t value, std::string_view one, std::string_view many) {
  return format_count(static_cast<double>(value)) + " " + std::string{value == 1 ? one : many};
}

std::string rate_or_dash(BytesPerSecond rate, bool there = true) {
  return there && rate > BytesPerSecond{} ? format(rate) : "-";
}

/// "0-3, 7": runs of numbers.
std::string runs(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) {
      ++end;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]) +
            (end > i ? (end == i + 1 ? ", " : "-") + std::to_string(numbers[end]) : "");
    i = end + 1;
  }
  return text.empty() ? "-" : text;
}

std::string links_line(const NodeWiring& w, const std::vector<GpuPorts>& gpus) {
  const BytesPerSecond injection = gpus.empty() ? BytesPerSecond{} : gpus.front().links;
  if (w.planes.planes > 0) {
    return format(injection) + " per GPU over " + std::string{name_of(w.planes.kind)} + ", " +
           count(w.planes.planes, "switch plane", "switch planes") + " to any of " + std::to_string(w.planes.domain) +
           " GPUs";
  }
  if (w.pairs.empty()) {
    return "none but " + std::string{name_of(w.host_link)};
  }
  const auto [least, most] =
      std::minmax_element(w.pairs.begin(), w.pairs.end(), [](const auto& a, const auto& b) { return a.rate < b.rate; });
  const bool mesh = std::ssize(w.pairs) == w.gpus * (w.gpus - 1) / 2;
  return format(injection) + " per GPU over " + std::string{name_of(w.pairs.front().kind)} + ", " +
         format(least->rate) + (least->rate == most->rate ? "" : " to " + format(most->rate)) + " a pair, " +
         (mesh ? "every pair joined" : std::to_string(w.pairs.size()) + " pairs joined, others by way of a GPU");
}

std::string tree_line(const NodeWiring& w) {
  const auto switches = std::ssize(w.switch_socket);
  return format(w.gpu_pcie) + " per GPU over " + std::string{name_of(w.host_link)} + "; " +
         (switches > 0 ? count(switches, "PCIe switch", "PCIe switches") + ", " + format(w.switch_pcie) + " up; "
                       : "") +
         count(w.sockets, "socket", "sockets") + (w.sockets > 1 ? ", " + format(w.socket_link) + " between" : "");
}

std::string nics_line(const FabricReport& r) {
  if (r.wiring.nics.empty()) {
    return "none";
  }
  BytesPerSecond sum{};
  for (const NodeWiring::Nic& nic : r.wiring.nics) {
    sum += nic.rate;
  }
  return count(std::ssize(r.wiring.nics), "NIC", "NICs") + (r.wiring.nics.front().gpu >= 0 ? " on the GPUs" : "") +
         ", " + format(sum) + " a host, " + format(sum / static_cast<double>(r.wiring.gpus)) + " per GPU" +
         (r.network.rail_optimised ? "; NIC i to leaf i: " + count(std::ssize(r.wiring.nics), "rail", "rails") : "");
}

/// Direct links as counts, in the form of nvidia-smi's matrix.
std::string pair_table(const NodeWiring& w) {
  std::vector<std::string> header{"links to GPU"};
  for (std::int64_t gpu = 0; gpu < w.gpus; ++gpu) {
    header.push_back(std::to_string(gpu));
  }
  Table table{header};
  for (std::int64_t a = 0; a < w.gpus; ++a) {
    std::vector<std::string> row{std::to_string(a)};
    for (std::int64_t b = 0; b < w.gpus; ++b) {
      const auto found = std::find_if(w.pairs.begin(), w.pairs.end(), [&](const NodeWiring::Pair& p) {
        return p.a == std::min(a, b) && p.b == std::max(a, b);
      });
      row.push_back(found == w.pairs.end() ? "-" : std::to_string(found->links));
    }
    table.row(std::move(row));
  }
  return table.text();
}

std::string gpu_table(const FabricReport& r) {
  const bool railed = std::any_of(r.gpus.begin(), r.gpus.end(), [](const GpuPorts& g) { return g.rail.has_value(); });
  std::vector<std::string> header{"GPU", "links", "PCIe switch", "socket", "NICs", "out of host"};
  if (railed) {
    header.emplace_back("rail");
  }
  Table table{header};
  for (std::size_t i = 0; i < r.gpus.size(); ++i) {
    const GpuPorts& gpu = r.gpus[i];
    const std::int64_t below = r.wiring.gpu_switch[i];
    std::vector<std::string> row{std::to_string(i),
                                 rate_or_dash(gpu.links),
                                 below < 0 ? "-" : std::to_string(below),
                                 std::to_string(r.wiring.gpu_socket[i]),
                                 runs(gpu.nics),
                                 rate_or_dash(gpu.out)};
    if (railed) {
      row.push_back(gpu.rail ? std::to_string(*gpu.rail) : "-");
    }
    table.row(std::move(row));
  }
  return table.text();
}

std::string tier_table(const FabricReport& r) {
  Table table{{"tier", "hosts", "GPUs", "oversubscription", "up from a block", "per GPU through it", "hop"}};
  for (const FabricTier& t : r.tiers) {
    table.row({t.tier.name, format_count(static_cast<double>(t.tier.nodes)),
               format_count(static_cast<double>(t.tier.nodes * r.wiring.gpus)),
               format_number(t.tier.oversubscription) + ":1", rate_or_dash(t.uplink), rate_or_dash(t.per_gpu),
               t.tier.hop_latency ? format(t.tier.hop_latency->value) : "-"});
  }
  return table.text();
}

std::string tier_name(const FabricReport& r, std::int64_t tier) {
  return tier > 0 && tier <= std::ssize(r.network.tiers) ? r.network.tiers[static_cast<std::size_t>(tier - 1)].name
                                                         : "-";
}

std::string ring_bottleneck(const FabricReport& r, const AxisView& a) {
  if (!a.bound_outside()) {
    return a.view.staged ? "host memory" : std::string{name_of(a.view.inside)};
  }
  if (a.view.binding_tier > 0) {
    return "uplinks of " + tier_name(r, a.view.binding_tier);
  }
  return a.view.outside == LinkKind::network ? "NICs" : std::string{name_of(a.view.outside)};
}

std::string axis_table(const FabricReport& r) {
  Table table{{"axis", "ranks", "stride", "domains", "hosts", "tier", "ring in", "all in", "ring out", "all out",
               "next out", "ring bound by"}};
  table.left(5), table.left(11);
  for (const AxisView& a : r.axes) {
    const bool inside = a.view.per_domain > 1;
    table.row({a.axis, std::to_string(a.view.ranks), std::to_string(a.view.stride), std::to_string(a.view.domains),
               std::to_string(a.view.nodes), tier_name(r, a.view.tier), rate_or_dash(a.view.inside_ring, inside),
               rate_or_dash(a.view.inside_all, inside), rate_or_dash(a.view.outside_ring, a.leaves_domain()),
               rate_or_dash(a.view.outside_all, a.leaves_domain()),
               rate_or_dash(a.view.outside_pair, a.leaves_domain()), ring_bottleneck(r, a)});
  }
  return table.text();
}

void write_host(JsonWriter& json, const FabricReport& r) {
  const NodeWiring& w = r.wiring;
  json.key("host");
  json.begin_object();
  json.member("gpus", w.gpus);
  json.member("planes", w.planes.planes);
  json.member("plane_bytes_per_s", w.planes.rate.raw());
  json.member("domain", w.planes.planes > 0 ? w.planes.domain : w.gpus);
  json.member("host_link", name_of(w.host_link));
  json.member("gpu_pcie_bytes_per_s", w.gpu_pcie.raw());
  json.member("switch_pcie_bytes_per_s", w.switch_pcie.raw());
  json.member("sockets", w.sockets);
  json.member("socket_link_bytes_per_s", w.socket_link.raw());
  json.member("peer_access", w.peer_access);
  json.member("bisection_bytes_per_s", r.host_bisection.raw());
  json.key("pairs");
  json.begin_array();
  for (const NodeWiring::Pair& pair : w.pairs) {
    json.compact_next();
    json.begin_object();
    json.member("a", pair.a), json.member("b", pair.b), json.member("kind", name_of(pair.kind));
    json.member("links", pair.links), json.member("bytes_per_s", pair.rate.raw());
    json.end_object();
  }
  json.end_array();
  json.key("pcie_switches");
  json.begin_array();
  for (const std::int64_t socket : w.switch_socket) {
    json.compact_next();
    json.begin_object();
    json.member("socket", socket);
    json.end_object();
  }
  json.end_array();
  json.key("nics");
  json.begin_array();
  for (const NodeWiring::Nic& nic : w.nics) {
    json.compact_next();
    json.begin_object();
    json.member("name", nic.name), json.member("pcie_switch", nic.pcie_switch), json.member("socket", nic.socket);
    json.member("gpu", nic.gpu), json.member("bytes_per_s", nic.rate.raw());
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_gpus(JsonWriter& json, const FabricReport& r) {
  json.key("gpus");
  json.begin_array();
  for (std::size_t i = 0; i < r.gpus.size(); ++i) {
    const GpuPorts& gpu = r.gpus[i];
    json.compact_next();
    json.begin_object();
    json.member("gpu", static_cast<std::int64_t>(i));
    json.member("links_bytes_per_s", gpu.links.raw());
    json.member("pcie_switch", r.wiring.gpu_switch[i]);
    json.member("socket", r.wiring.gpu_socket[i]);
    json.key("nics");
    json.begin_array();
    for (const std::int32_t nic : gpu.nics) {
      json.integer(nic);
    }
    json.end_array();
    json.member("out_bytes_per_s", gpu.out.raw());
    json.key("rail");
    gpu.rail ? json.integer(*gpu.rail) : json.null();
    json.end_object();
  }
  json.end_array();
}

void write_tiers(JsonWriter& json, const FabricReport& r) {
  json.key("tiers");
  json.begin_array();
  for (const FabricTier& t : r.tiers) {
    json.compact_next();
    json.begin_object();
    json.member("name", t.tier.name), json.member("nodes", t.tier.nodes);
    json.member("oversubscription", t.tier.oversubscription), json.member("uplink_bytes_per_s", t.uplink.raw());
    json.member("per_gpu_bytes_per_s", t.per_gpu.raw());
    json.key("hop_latency_s");
    t.tier.hop_latency ? json.number(t.tier.hop_latency->value.raw()) : json.null();
    json.end_object();
  }
  json.end_array();
}

void write_axes(JsonWriter& json, const FabricReport& r) {
  json.key("axes");
  json.begin_array();
  for (const AxisView& a : r.axes) {
    const GroupView& v = a.view;
    json.compact_next();
    json.begin_object();
    json.member("axis", a.axis), json.member("ranks", v.ranks), json.member("stride", v.stride);
    json.member("domains", v.domains), json.member("per_domain", v.per_domain), json.member("nodes", v.nodes);
    json.member("tier", v.tier), json.member("one_rail", v.one_rail), json.member("in_switch", v.in_switch);
    json.member("staged", v.staged), json.member("inside", name_of(v.inside)),
        json.member("outside", name_of(v.outside));
    json.member("inside_ring_bytes_per_s", v.inside_ring.raw());
    json.member("inside_all_bytes_per_s", v.inside_all.raw());
    json.member("inside_pair_bytes_per_s", v.inside_pair.raw());
    json.member("outside_ring_bytes_per_s", v.outside_ring.raw());
    json.member("outside_all_bytes_per_s", v.outside_all.raw());
    json.member("outside_pair_bytes_per_s", v.outside_pair.raw());
    json.member("inside_latency_s", v.inside_latency.raw());
    json.member("outside_latency_s", v.outside_latency.raw());
    json.member("ring_bottleneck", ring_bottleneck(r, a));
    json.end_object();
  }
  json.end_array();
}

void write_lines(JsonWriter& json, std::string_view key, const std::vector<std::string>& lines) {
  json.key(key);
  json.begin_array();
  for (const std::string& line : lines) {
    json.text(line);
  }
  json.end_array();
}

/// Names of NICs come from texts that users bring.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    safe += (c == '"' || c == '\\' ? "\\" : "") + std::string{c};
  }
  return safe;
}

std::string edge(const std::string& from, const std::string& to, BytesPerSecond rate, std::string_view colour) {
  return "  " + from + " -- " + to + " [label=\"" + format(rate) + "\", color=\"" + std::string{colour} + "\"];\n";
}

std::string parent(std::int64_t pcie_switch, std::int64_t socket) {
  return pcie_switch >= 0 ? "switch" + std::to_string(pcie_switch) : "socket" + std::to_string(socket);
}

}  // namespace

std::string fabric_text(const FabricReport& r) {
  const std::int64_t gpus = r.nodes * r.wiring.gpus;
  std::string text = r.name + (r.id == r.name ? "" : " (" + r.id + ")") + ": " +
                     (r.nodes > 1 ? format_count(static_cast<double>(r.nodes)) + " hosts" +
                                        (r.node.empty() ? "" : " of " + r.node) + ", "
                                  : "") +
                     format_count(static_cast<double>(gpus)) + " x " + r.gpu + "\n";
  Table facts{{"", ""}};
  facts.left(1);
  facts.row({"between GPUs", links_line(r.wiring, r.gpus)});
  facts.row({"to the host", tree_line(r.wiring)});
  facts.row({"peer access", r.wiring.peer_access ? "yes" : "no: copies between GPUs are staged in host memory"});
  facts.row({"out of a host", nics_line(r)});
  facts.row({"bisection", format(r.host_bisection) + " of a host" +
                              (r.nodes > 1 ? ", " + format(r.bisection) + " between halves of the hosts" : "")});
  text += facts.text() + "\n" + gpu_table(r);
  if (!r.wiring.pairs.empty()) {
    text += "\n" + pair_table(r.wiring);
  }
  if (!r.tiers.empty()) {
    text += "\n" + tier_table(r);
  }
  if (r.ranks > 0) {
    text += "\n" + count(r.ranks, "rank", "ranks") + " in the order " + r.order + ", " +
            std::to_string(r.ranks_per_domain) +
            " in a domain\nrates of one rank, in one direction, inside and outside a domain, while all groups of the "
            "axis move\n" +
            axis_table(r);
  }
  for (const std::string& line : r.remarks) {
    text += "note: " + line + "\n";
  }
  if (!r.assumed.empty()) {
    text += "\nassumed\n";
    for (const std::string& line : r.assumed) {
      text += "  " + line + "\n";
    }
  }
  return text;
}

std::string fabric_json(const FabricReport& r) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.fabric/1");
  json.member("id", r.id), json.member("name", r.name), json.member("gpu", r.gpu);
  json.member("nodes", r.nodes), json.member("gpus_total", r.nodes * r.wiring.gpus);
  json.member("rail_optimised", r.network.rail_optimised);
  json.key("bisection_bytes_per_s");
  r.nodes > 1 ? json.number(r.bisection.raw()) : json.null();
  write_host(json, r);
  write_gpus(json, r);
  write_tiers(json, r);
  json.member("ranks", r.ranks), json.member("ranks_per_domain", r.ranks_per_domain), json.member("order", r.order);
  write_axes(json, r);
  write_lines(json, "remarks", r.remarks);
  write_lines(json, "assumed", r.assumed);
  json.end_object();
  return json.take();
}

std::string fabric_dot(const FabricReport& r) {
  constexpr std::string_view link_colour = "#2ca02c", host_colour = "#1f77b4", net_colour = "#d62728";
  const NodeWiring& w = r.wiring;
  std::string text = "graph \"" + escaped(w.name) + "\" {\n  layout=dot; node [shape=box]; edge [fontsize=9];\n";
  for (std::int64_t i = 0; i < w.gpus; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string gpu = "gpu" + std::to_string(i);
    text += "  " + gpu + " [label=\"GPU " + std::to_string(i) + "\", style=filled, fillcolor=\"#d5e8d4\"];\n";
    for (std::int64_t p = 0; p < w.planes.planes; ++p) {
      text += edge("plane" + std::to_string(p), gpu, w.planes.rate, link_colour);
    }
    text += edge(gpu, parent(w.gpu_switch[at], w.gpu_socket[at]), w.gpu_pcie, host_colour);
  }
  for (const NodeWiring::Pair& pair : w.pairs) {
    text += edge("gpu" + std::to_string(pair.a), "gpu" + std::to_string(pair.b), pair.rate, link_colour);
  }
  for (std::size_t s = 0; s < w.switch_socket.size(); ++s) {
    text +=
        edge("switch" + std::to_string(s), "socket" + std::to_string(w.switch_socket[s]), w.switch_pcie, host_colour);
  }
  for (std::int64_t s = 0; s + 1 < w.sockets; ++s) {
    text += edge("socket" + std::to_string(s), "socket" + std::to_string(s + 1), w.socket_link, host_colour);
  }
  for (std::size_t i = 0; i < w.nics.size(); ++i) {
    const NodeWiring::Nic& nic = w.nics[i];
    const std::string vertex = "nic" + std::to_string(i);
    text += "  " + vertex + " [label=\"" + escaped(nic.name) + "\", style=rounded];\n";
    text += edge(nic.gpu >= 0 ? "gpu" + std::to_string(nic.gpu) : parent(nic.pcie_switch, nic.socket), vertex, nic.rate,
                 net_colour);
  }
  return text + "}\n";
}

}  // namespace headroom::cli
