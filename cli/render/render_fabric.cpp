// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_fabric.hpp>
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
  Table table{{"axis", "ranks", "stride", "domains", "hosts", "<tier", "ring in", "all in", "ring out", "all out",
               "next out", "<ring bound by"}};
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

Value host_value(const FabricReport& r) {
  const NodeWiring& w = r.wiring;
  return object("gpus"_m = w.gpus, "planes"_m = w.planes.planes, "plane_bytes_per_s"_m = w.planes.rate,
                "domain"_m = w.planes.planes > 0 ? w.planes.domain : w.gpus, "host_link"_m = name_of(w.host_link),
                "gpu_pcie_bytes_per_s"_m = w.gpu_pcie, "switch_pcie_bytes_per_s"_m = w.switch_pcie,
                "sockets"_m = w.sockets, "socket_link_bytes_per_s"_m = w.socket_link, "peer_access"_m = w.peer_access,
                "bisection_bytes_per_s"_m = r.host_bisection,
                "pairs"_m = list(w.pairs,
                                 [](const NodeWiring::Pair& p) {
                                   return row("a"_m = p.a, "b"_m = p.b, "kind"_m = name_of(p.kind), "links"_m = p.links,
                                              "bytes_per_s"_m = p.rate);
                                 }),
                "pcie_switches"_m = list(w.switch_socket, [](auto socket) { return row("socket"_m = socket); }),
                "nics"_m = list(w.nics, [](const NodeWiring::Nic& nic) {
                  return row("name"_m = nic.name, "pcie_switch"_m = nic.pcie_switch, "socket"_m = nic.socket,
                             "gpu"_m = nic.gpu, "bytes_per_s"_m = nic.rate);
                }));
}

Value gpus_value(const FabricReport& r) {
  Value gpus = Value::empty_list();
  for (std::size_t i = 0; i < r.gpus.size(); ++i) {
    const GpuPorts& gpu = r.gpus[i];
    gpus.push(row("gpu"_m = i, "links_bytes_per_s"_m = gpu.links, "pcie_switch"_m = r.wiring.gpu_switch[i],
                  "socket"_m = r.wiring.gpu_socket[i], "nics"_m = gpu.nics, "out_bytes_per_s"_m = gpu.out,
                  "rail"_m = or_null(gpu.rail)));
  }
  return gpus;
}

Value tier_value(const FabricTier& t) {
  return row("name"_m = t.tier.name, "nodes"_m = t.tier.nodes, "oversubscription"_m = t.tier.oversubscription,
             "uplink_bytes_per_s"_m = t.uplink, "per_gpu_bytes_per_s"_m = t.per_gpu,
             "hop_latency_s"_m = t.tier.hop_latency ? Value{t.tier.hop_latency->value} : Value{nullptr});
}

Value axis_value(const FabricReport& r, const AxisView& a) {
  const GroupView& v = a.view;
  return row("axis"_m = a.axis, "ranks"_m = v.ranks, "stride"_m = v.stride, "domains"_m = v.domains,
             "per_domain"_m = v.per_domain, "nodes"_m = v.nodes, "tier"_m = v.tier, "one_rail"_m = v.one_rail,
             "in_switch"_m = v.in_switch, "staged"_m = v.staged, "inside"_m = name_of(v.inside),
             "outside"_m = name_of(v.outside), "inside_ring_bytes_per_s"_m = v.inside_ring,
             "inside_all_bytes_per_s"_m = v.inside_all, "inside_pair_bytes_per_s"_m = v.inside_pair,
             "outside_ring_bytes_per_s"_m = v.outside_ring, "outside_all_bytes_per_s"_m = v.outside_all,
             "outside_pair_bytes_per_s"_m = v.outside_pair, "inside_latency_s"_m = v.inside_latency,
             "outside_latency_s"_m = v.outside_latency, "ring_bottleneck"_m = ring_bottleneck(r, a));
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
  Table facts{{"", "<"}};
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

Value fabric_document(const FabricReport& r) {
  return object("schema"_m = "headroom.fabric/1", "id"_m = r.id, "name"_m = r.name, "gpu"_m = r.gpu,
                "nodes"_m = r.nodes, "gpus_total"_m = r.nodes * r.wiring.gpus,
                "rail_optimised"_m = r.network.rail_optimised,
                "bisection_bytes_per_s"_m = r.nodes > 1 ? Value{r.bisection} : Value{nullptr}, "host"_m = host_value(r),
                "gpus"_m = gpus_value(r), "tiers"_m = list(r.tiers, tier_value), "ranks"_m = r.ranks,
                "ranks_per_domain"_m = r.ranks_per_domain, "order"_m = r.order,
                "axes"_m = list(r.axes, [&](const AxisView& a) { return axis_value(r, a); }), "remarks"_m = r.remarks,
                "assumed"_m = r.assumed);
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
