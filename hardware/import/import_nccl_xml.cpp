// SPDX-License-Identifier: Apache-2.0
// The only source that includes pugixml. Elements and attributes as read by NCCL 2.30.7, src/graph/xml.cc and topo.cc.
#include <headroom/core/csv.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/import/import_nccl_xml.hpp>

#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace headroom {
namespace {

constexpr int deepest = 64;  ///< upper bound on nested PCIe bridges; real trees have four

/// Elements allowed inside another, as in NCCL's own reader; RCCL adds xgmi.
struct Nesting {
  std::string_view parent;
  std::array<std::string_view, 5> children;
};
constexpr std::array nestings{
    Nesting{"system", {"cpu"}},
    Nesting{"cpu", {"pci", "nic"}},
    Nesting{"pci", {"pci", "gpu", "nic", "pcilink"}},
    Nesting{"gpu", {"nvlink", "xgmi", "c2c"}},
    Nesting{"nic", {"net", "gin", "rma", "coll"}},
};

struct LinkSpeed {
  std::string_view gigatransfers;
  std::int64_t generation;
};
constexpr std::array link_speeds{LinkSpeed{"2.5", 1},  LinkSpeed{"5", 2},  LinkSpeed{"5.0", 2},  LinkSpeed{"8", 3},
                                 LinkSpeed{"8.0", 3},  LinkSpeed{"16", 4}, LinkSpeed{"16.0", 4}, LinkSpeed{"32", 5},
                                 LinkSpeed{"32.0", 5}, LinkSpeed{"64", 6}, LinkSpeed{"64.0", 6}};

/// Rate between the sockets of a CPU, GB/s: NCCL 2.30.7, src/graph/topo.h and ncclTopoAddCpu of topo.cc. The first
/// matching row applies; Granite Rapids and Sierra Forest (0xAD to 0xAF) are newer than the models above them.
struct SocketRate {
  std::string_view arch, vendor;
  std::int64_t model;  ///< lowest model number, of Intel's family 6
  double rate;
};
constexpr std::array socket_rates{
    SocketRate{"x86_64", "GenuineIntel", 0xCF, 40.0},
    SocketRate{"x86_64", "GenuineIntel", 0xB0, 22.0},
    SocketRate{"x86_64", "GenuineIntel", 0xAD, 40.0},
    SocketRate{"x86_64", "GenuineIntel", 0x8F, 22.0},
    SocketRate{"x86_64", "GenuineIntel", 0x55, 10.0},
    SocketRate{"x86_64", "GenuineIntel", 0, 6.0},
    SocketRate{"x86_64", "AuthenticAMD", 0, 16.0},
    SocketRate{"arm64", "", 0, 6.0},
    SocketRate{"ppc64", "", 0, 32.0},
};

/// Text of an attribute; empty if it is absent.
std::string_view said(const pugi::xml_node& node, const char* attribute) {
  return node.attribute(attribute).value();
}

/// Converts byte offsets to lines and columns.
class Lines {
 public:
  explicit Lines(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') {
        starts_.push_back(i + 1);
      }
    }
  }
  [[nodiscard]] Position at(std::ptrdiff_t offset) const {
    const auto place = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), place);
    const std::size_t start = next == starts_.begin() ? 0 : *(next - 1);
    return {static_cast<int>(next - starts_.begin()) + 1, static_cast<int>(place - start) + 1};
  }

 private:
  std::vector<std::size_t> starts_;  ///< offsets at which the lines after the first start
};

class Reader {
 public:
  Reader(std::string_view text, const Device& device, const HostFacts& facts, Diagnostics& diagnostics, FoundHost& host)
      : lines_{text}, device_{&device}, facts_{&facts}, diagnostics_{&diagnostics}, host_{&host} {}

  void take(const pugi::xml_document& document) {
    const pugi::xml_node system = document.child("system");
    if (!system) {
      diagnostics_->add(host_->file, {}, "no <system>: this is no dump of NCCL_TOPO_DUMP_FILE");
      return;
    }
    if (const auto version = number(system, "version", 0, 1 << 20); version && *version > 2) {
      problem(system, "version " + quoted(said(system, "version")) +
                          " of the form is unknown; 1 (NCCL) and 2 (RCCL) are known");
    }
    check_children(system);
    for (const pugi::xml_node cpu : system.children("cpu")) {
      take_cpu(cpu);
    }
    order_gpus();
    take_links();
    order_nics();
  }

 private:
  void problem(const pugi::xml_node& node, std::string message) {
    diagnostics_->add(host_->file, at(node), std::move(message));
  }
  [[nodiscard]] Position at(const pugi::xml_node& node) const { return lines_.at(node.offset_debug()); }

  void check_children(const pugi::xml_node& node) {
    const auto row = std::find_if(nestings.begin(), nestings.end(),
                                  [&](const Nesting& n) { return n.parent == std::string_view{node.name()}; });
    const auto known = std::span{row->children}.first(static_cast<std::size_t>(
        std::count_if(row->children.begin(), row->children.end(), [](std::string_view c) { return !c.empty(); })));
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name{child.name()};
      if (child.type() == pugi::node_element && std::find(known.begin(), known.end(), name) == known.end()) {
        problem(child, "<" + std::string{name} + "> does not belong into <" + std::string{node.name()} + ">" +
                           suggestion(name, known));
      }
    }
  }

  /// An integer attribute in [low, high]; if it is missing or wrong, a problem and nullopt.
  std::optional<std::int64_t> number(const pugi::xml_node& node,
                                     const char* name,
                                     std::int64_t low,
                                     std::int64_t high) {
    const pugi::xml_attribute attribute = node.attribute(name);
    const auto value = !attribute.empty() ? integer_of(said(node, name)) : std::nullopt;
    if (!value || *value < low || *value > high) {
      problem(node, "<" + std::string{node.name()} + "> " +
                        (!attribute.empty()
                             ? std::string{name} + "=" + quoted(said(node, name)) + " must be a whole number from " +
                                   std::to_string(low) + " to " + std::to_string(high)
                             : "has no attribute '" + std::string{name} + "'"));
      return std::nullopt;
    }
    return value;
  }

  void take_cpu(const pugi::xml_node& cpu) {
    check_children(cpu);
    const auto numa = number(cpu, "numaid", -1, 4095);
    host_->socket_link = host_->socket_link ? host_->socket_link : socket_rate(cpu);
    const std::int64_t node = std::max<std::int64_t>(numa.value_or(0), 0);  // -1: the machine reports no NUMA nodes
    for (const pugi::xml_node child : cpu.children()) {
      const std::string_view name{child.name()};
      if (name == "pci") {
        take_pci(child, node, -1, 1);
      } else if (name == "nic") {
        take_nic(child, node, -1);
      }
    }
  }

  static std::optional<BytesPerSecond> socket_rate(const pugi::xml_node& cpu) {
    const std::string_view arch = said(cpu, "arch");
    const std::string_view vendor = said(cpu, "vendor");
    const std::int64_t family = integer_of(said(cpu, "familyid")).value_or(0);
    const std::int64_t model = family == 6 ? integer_of(said(cpu, "modelid")).value_or(0) : 0;
    for (const SocketRate& row : socket_rates) {
      if (row.arch == arch && (row.vendor.empty() || row.vendor == vendor) && model >= row.model) {
        return BytesPerSecond{row.rate * 1e9};
      }
    }
    return std::nullopt;
  }

  /// Reads "16.0 GT/s PCIe" or "16". An empty speed means that the machine does not report it, as many virtual ones.
  std::optional<BytesPerSecond> pcie_of(const pugi::xml_node& pci) {
    const std::string_view speed = said(pci, "link_speed");
    if (speed.empty() || speed.starts_with("Unknown")) {
      return std::nullopt;
    }
    const std::string_view rate = speed.substr(0, speed.find(" GT/s"));
    const auto row = std::find_if(link_speeds.begin(), link_speeds.end(),
                                  [&](const LinkSpeed& s) { return s.gigatransfers == rate; });
    const std::int64_t stated = integer_of(said(pci, "link_width")).value_or(0);
    const std::int64_t width = stated == 0 ? 16 : stated;
    const auto known = row == link_speeds.end() ? std::nullopt : pcie_rate(row->generation, width);
    if (!known) {
      problem(pci, "link_speed=" + quoted(speed) + " with link_width=" + quoted(said(pci, "link_width")) +
                       " is no PCIe link; e.g. \"16.0 GT/s PCIe\" and \"16\"");
    }
    return known;
  }

  void take_pci(const pugi::xml_node& pci, std::int64_t numa, std::int64_t pcie_switch, int depth) {
    check_children(pci);
    const std::string bus{said(pci, "busid")};
    if (bus.empty()) {
      problem(pci, "<pci> has no attribute 'busid'");
    } else if (!buses_.insert(bus).second) {
      problem(pci, "busid " + quoted(bus) + " stands twice");
    }
    if (depth > deepest) {
      problem(pci, "PCIe bridges are nested deeper than " + std::to_string(deepest));
      return;
    }
    const std::optional<BytesPerSecond> rate = pcie_of(pci);
    const bool bridge = !pci.child("pci").empty();
    if (bridge && pcie_switch < 0) {
      pcie_switch = std::ssize(host_->switches);
      host_->switches.push_back({numa, rate});
    }
    for (const pugi::xml_node child : pci.children()) {
      const std::string_view name{child.name()};
      if (name == "pci") {
        take_pci(child, numa, pcie_switch, depth + 1);
      } else if (name == "gpu") {
        take_gpu(child, bus, numa, pcie_switch, rate);
      } else if (name == "nic") {
        take_nic(child, numa, pcie_switch);
      }
    }
  }

  void take_gpu(const pugi::xml_node& node,
                const std::string& bus,
                std::int64_t numa,
                std::int64_t pcie_switch,
                std::optional<BytesPerSecond> pcie) {
    check_children(node);
    const auto dev = number(node, "dev", 0, 1023);
    if (!dev) {
      return;
    }
    FoundHost::Gpu gpu;
    gpu.name = "GPU " + std::to_string(*dev);
    gpu.at = at(node);
    gpu.numa = numa;
    gpu.pcie_switch = pcie_switch;
    gpu.pcie = pcie;
    if (const pugi::xml_node c2c = node.child("c2c")) {
      const auto count = number(c2c, "count", 1, 1024);
      const auto megabytes = number(c2c, "bw", 1, 1 << 30);
      if (count && megabytes) {
        gpu.c2c = BytesPerSecond{static_cast<double>(*count) * static_cast<double>(*megabytes) * 1e6};
      }
    }
    check_sku(node, gpu.name);
    const bool fresh = by_dev_.emplace(*dev, Seen{node, bus, gpu}).second;
    if (!fresh) {
      problem(node, "dev " + std::to_string(*dev) + " stands twice");
    }
  }

  /// Compares sm="90" with the SKU's compute capability "9.0".
  void check_sku(const pugi::xml_node& node, const std::string& name) {
    std::string has = device_->compute_capability;
    has.erase(std::remove(has.begin(), has.end(), '.'), has.end());
    const std::string_view sm = said(node, "sm");
    if (!has.empty() && !sm.empty() && sm != has) {
      problem(node, name + " has sm=" + quoted(sm) + ", " + device_->id + " is of compute capability " +
                        device_->compute_capability + ": another SKU?");
    }
  }

  void take_nic(const pugi::xml_node& nic, std::int64_t numa, std::int64_t pcie_switch) {
    check_children(nic);
    for (const pugi::xml_node net : nic.children("net")) {
      // NCCL ignores a port without "dev"; net="0" marks a port that is fused into another.
      const auto dev = integer_of(said(net, "dev"));
      if (!dev || said(net, "net") == "0") {
        continue;
      }
      FoundHost::Nic found;
      const std::string_view name = said(net, "name");
      found.name = name.empty() ? "net " + std::to_string(*dev) : std::string{name};
      found.at = at(net);
      found.numa = numa;
      found.pcie_switch = pcie_switch;
      const auto megabits = integer_of(said(net, "speed"));
      if (megabits && *megabits > 0) {
        found.rate = BytesPerSecond{static_cast<double>(*megabits) * 1e6 / 8.0};
      } else if (!facts_->nic_rate) {
        problem(net, found.name + " has speed=" + quoted(said(net, "speed")) +
                         "; it must be Mb/s above zero, or state it with --nic-rate or --like");
        found.rate = BytesPerSecond{1.0};
      }
      if (!nics_.emplace(*dev, std::move(found)).second) {
        problem(net, "dev " + std::to_string(*dev) + " of a network port stands twice");
      }
    }
  }

  void order_gpus() {
    for (auto& [dev, seen] : by_dev_) {
      number_of_[seen.bus] = std::ssize(host_->gpus);
      host_->gpus.push_back(seen.gpu);
    }
  }
  void order_nics() {
    for (auto& [dev, nic] : nics_) {
      host_->nics.push_back(std::move(nic));
    }
  }

  void take_links() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, pugi::xml_node>> sent;
    std::set<std::string> switches;
    std::int64_t index = 0;
    for (auto& [dev, seen] : by_dev_) {
      for (const pugi::xml_node link : seen.node.children()) {
        const std::string_view name{link.name()};
        if (name == "nvlink" || name == "xgmi") {
          take_link(link, index, sent, switches);
        }
      }
      ++index;
    }
    // A virtual machine hides its NVSwitches: links then lead to a bus that does not exist.
    host_->planes = std::count_if(switches.begin(), switches.end(),
                                  [](const std::string& target) { return !target.starts_with("fffffff"); });
    for (const auto& [ends, link] : sent) {
      const auto back = sent.find({ends.second, ends.first});
      const std::int64_t there = back == sent.end() ? 0 : back->second.first;
      if (there != link.first && (ends.first < ends.second || there == 0)) {
        problem(link.second, host_->gpus[static_cast<std::size_t>(ends.first)].name + " has " +
                                 std::to_string(link.first) + " links to " +
                                 host_->gpus[static_cast<std::size_t>(ends.second)].name + ", which has " +
                                 std::to_string(there) + " back");
      } else if (ends.first < ends.second) {
        const bool xgmi = std::string_view{link.second.name()} == "xgmi";
        host_->links.push_back(
            {ends.first, ends.second, xgmi ? LinkKind::xgmi : LinkKind::nvlink, link.first, at(link.second)});
      }
    }
  }

  template <class Sent>
  void take_link(const pugi::xml_node& link, std::int64_t from, Sent& sent, std::set<std::string>& switches) {
    const auto count = number(link, "count", 1, 1024);
    const std::string target{said(link, "target")};
    const std::string_view kind = said(link, "tclass");
    const std::string& name = host_->gpus[static_cast<std::size_t>(from)].name;
    if (!count) {
      return;
    }
    if (kind.starts_with("0x03")) {
      const auto peer = number_of_.find(target);
      if (peer == number_of_.end()) {
        problem(link, "a link of " + name + " leads to GPU " + quoted(target) + ", which is not in the file");
      } else if (peer->second == from) {
        problem(link, "a link of " + name + " leads to itself");
      } else {
        auto& entry = sent[{from, peer->second}];
        entry.first += *count;
        entry.second = link;
      }
    } else if (kind == "0x068000") {
      host_->gpus[static_cast<std::size_t>(from)].switch_links += *count;
      switches.insert(target);
    } else {
      problem(link, "a link of " + name + " leads to tclass=" + quoted(kind) +
                        "; GPUs (0x03....) and NVSwitches (0x068000) are known");
    }
  }

  struct Seen {
    pugi::xml_node node;
    std::string bus;
    FoundHost::Gpu gpu;
  };

  Lines lines_;
  const Device* device_;
  const HostFacts* facts_;
  Diagnostics* diagnostics_;
  FoundHost* host_;
  std::map<std::int64_t, Seen> by_dev_;
  std::map<std::int64_t, FoundHost::Nic> nics_;
  std::map<std::string, std::int64_t> number_of_;
  std::set<std::string> buses_;
};

/// Drops bridges without a GPU or NIC below them, which must not count as switches.
void drop_empty_switches(FoundHost& host) {
  std::vector<std::int64_t> number(host.switches.size(), -1);
  const auto mark = [&](std::int64_t s) {
    if (s >= 0) {
      number[static_cast<std::size_t>(s)] = 0;
    }
  };
  for (const FoundHost::Gpu& gpu : host.gpus) {
    mark(gpu.pcie_switch);
  }
  const bool with_gpus = std::any_of(number.begin(), number.end(), [](std::int64_t n) { return n == 0; });
  std::vector<FoundHost::Switch> kept;
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (with_gpus && number[i] == 0) {
      number[i] = std::ssize(kept);
      kept.push_back(host.switches[i]);
    }
  }
  const auto renumber = [&](std::int64_t& s) { s = s < 0 ? -1 : number[static_cast<std::size_t>(s)]; };
  for (FoundHost::Gpu& gpu : host.gpus) {
    renumber(gpu.pcie_switch);
  }
  for (FoundHost::Nic& nic : host.nics) {
    renumber(nic.pcie_switch);
  }
  host.switches = std::move(kept);
}

}  // namespace

NodeWiring import_nccl_xml(std::string_view text,
                           const std::string& file,
                           const Device& device,
                           const HostFacts& facts) {
  Diagnostics diagnostics;
  FoundHost host;
  host.file = file;
  host.name = file;
  pugi::xml_document document;
  // With a fixed encoding the parser's offsets are those of the text.
  const pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    std::string what{parsed.description()};
    what.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(what.front())));
    diagnostics.add(file, Lines{text}.at(parsed.offset), "broken XML: " + what);
    diagnostics.throw_if_any();
  }
  Reader{text, device, facts, diagnostics, host}.take(document);
  drop_empty_switches(host);
  NodeWiring wiring = wire(host, device, facts, diagnostics);
  diagnostics.throw_if_any();
  return wiring;
}

}  // namespace headroom
