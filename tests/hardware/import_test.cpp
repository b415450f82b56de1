// SPDX-License-Identifier: Apache-2.0
// One host told three ways (catalog file, nvidia-smi's matrix, NCCL's XML) is one wiring; what is broken in a text is
// told at its place.
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/import/import_nccl_xml.hpp>
#include <headroom/hardware/import/import_topo.hpp>

#include <doctest/doctest.h>

#include <string>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog() noexcept;
}

using namespace headroom;

namespace {

const Catalog& catalog() {
  static const Catalog embedded{DataStore{embedded::embedded_catalog(), {}}};
  return embedded;
}

NodeWiring wired(const std::string& id) {
  const Node& node = catalog().node(id);
  return wire(node, catalog().device(node.gpu));
}

std::string host_text(const std::string& name) {
  return read_file(std::string{HEADROOM_SOURCE_DIR} + "/tests/hardware/hosts/" + name).text;
}

using Importer = NodeWiring (*)(std::string_view, const std::string&, const Device&, const HostFacts&);

std::string refused(Importer import, const std::string& text, const std::string& node = "dgx-h100") {
  try {
    static_cast<void>(import(text, "host", catalog().device(catalog().node(node).gpu), facts_of(wired(node))));
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

void check_says(const std::string& said, const std::string& part) {
  CHECK_MESSAGE(said.find(part) != std::string::npos, part, "\nnot in\n", said);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// A matrix of two PCIe cards, with the place of every word at hand.
const std::string two_cards =
    "        GPU0  GPU1  NIC0  CPU Affinity  NUMA Affinity\n"
    "GPU0     X    PHB   PIX   0-15          0\n"
    "GPU1    PHB    X    PHB   0-15          0\n"
    "NIC0    PIX   PHB    X\n";

}  // namespace

TEST_CASE("the catalog's file, nvidia-smi's matrix and NCCL's XML of a host are one wiring") {
  for (const std::string id : {"dgx-1v", "dgx-a100", "dgx-h100", "l40s-pcie-8"}) {
    CAPTURE(id);
    const NodeWiring node = wired(id);
    const Device& device = catalog().device(catalog().node(id).gpu);
    const HostFacts facts = facts_of(node);
    CHECK(import_topo(host_text(id + ".topo.txt"), id, device, facts).same_as(node));
    CHECK(import_nccl_xml(host_text(id + ".nccl.xml"), id, device, facts).same_as(node));
  }
}

TEST_CASE("the XML alone tells NIC rates, PCIe rates, switch planes and how the sockets are joined") {
  HostFacts facts;
  facts.sockets = 2;  // the host shows four NUMA nodes
  const NodeWiring w = import_nccl_xml(host_text("dgx-a100.nccl.xml"), "x", catalog().device("a100-sxm-80gb"), facts);
  CHECK(w.same_as(wired("dgx-a100")));
  const NodeWiring h = import_nccl_xml(host_text("dgx-h100.nccl.xml"), "x", catalog().device("h100-sxm-80gb"), {});
  CHECK(h.socket_link == BytesPerSecond{22e9});
  CHECK(h.planes.planes == 4);
  CHECK(h.nics.front().name == "mlx5_0");
  const NodeWiring v = import_nccl_xml(host_text("dgx-1v.nccl.xml"), "x", catalog().device("v100-sxm2-32gb"), {});
  CHECK(v.socket_link == BytesPerSecond{6e9});
}

TEST_CASE("without facts a NUMA node is a socket, and what the matrix hides must be stated") {
  const Device& a100 = catalog().device("a100-sxm-80gb");
  HostFacts facts;
  try {
    static_cast<void>(import_topo(host_text("dgx-a100.topo.txt"), "host", a100, facts));
    FAIL("rates were invented");
  } catch (const ConfigError& error) {
    check_says(error.what(), "the text does not say how fast its 4 sockets are joined");
    check_says(error.what(), "host:10:1: error: the text does not say the rate of mlx5_0");
  }
  facts.socket_link = BytesPerSecond{16e9};
  facts.nic_rate = BytesPerSecond{25e9};
  const NodeWiring w = import_topo(host_text("dgx-a100.topo.txt"), "host", a100, facts);
  CHECK(w.sockets == 4);
  CHECK(w.planes.planes == 1);
  CHECK(w.planes.rate == BytesPerSecond{300e9});
  CHECK(w.assumed.size() == 1);
}

TEST_CASE("a terminal's escape sequences and blanks for tabs change nothing") {
  std::string text = host_text("dgx-h100.topo.txt");
  text = replaced(text, "\tGPU0", "\t\x1b[4mGPU0");
  text = replaced(text, "NUMA Affinity", "NUMA Affinity\x1b[0m");
  std::string blanks;
  for (const char c : text) {
    blanks += c == '\t' ? std::string(5, ' ') : std::string{c};
  }
  const NodeWiring node = wired("dgx-h100");
  CHECK(import_topo(blanks, "host", catalog().device("h100-sxm-80gb"), facts_of(node)).same_as(node));
}

TEST_CASE("broken matrices are refused with every place") {
  const auto said = [](const std::string& text) { return refused(import_topo, text, "l40s-pcie-8"); };
  CHECK(said(two_cards) == "");
  check_says(said("hello\n"), "host: error: no line names GPU0, GPU1, ...");
  check_says(said(""), "this is no output of 'nvidia-smi topo -m'");
  const std::string words =
      replaced(replaced(two_cards, "PHB   PIX   0-15", "PHP   PIX   0-15"), "PHB    X    PHB", "NV0    X    PHB");
  check_says(said(words), "host:2:15: error: 'PHP' is none of X, NV#, PIX, PXB, PHB, NODE, SYS; did you mean 'PHB'?");
  check_says(said(words), "host:3:9: error: 'NV0' is none of");
  check_says(said(replaced(two_cards, "NIC0    PIX   PHB    X", "NIC0    PIX   SYS    X")),
             "host:4:15: error: NIC0 to GPU1 is SYS here and PHB in line 3");
  check_says(said(replaced(two_cards, "GPU0     X ", "GPU0    SYS")), "host:2:9: error: GPU0 to itself is SYS, not X");
  check_says(said(replaced(two_cards, "NIC0    PIX   PHB    X\n", "NIC0    PIX\n")),
             "host:4:9: error: row NIC0 has 1 cells; the header names 3 devices: is the line cut?");
  check_says(said(replaced(two_cards, "NIC0    PIX   PHB    X\n", "")),
             "host:1:21: error: no row for NIC0: copy the whole table");
  check_says(said(two_cards + "GPU7 X X X 0-15 0\n"), "host:5:1: error: row 'GPU7' has no column of that name");
  check_says(said(two_cards + "NIC0 PIX PHB X\n"), "host:5:1: error: row NIC0 stands twice");
  check_says(said(replaced(two_cards, "CPU Affinity  NUMA Affinity", "")),
             "the columns 'CPU Affinity' and 'NUMA "
             "Affinity' are missing");
  check_says(said(replaced(two_cards, "PHB   0-15          0", "PHB   0-15          1")),
             "host:3:9: error: GPU1 and GPU0 are PHB, on one NUMA node, but their affinities differ");
  check_says(said(replaced(two_cards, "PHB   0-15          0", "PHB   0-15          x")),
             "host:3:1: error: GPU1 has NUMA affinity 'x'; it must be a number or N/A");
}

TEST_CASE("links that are down, too many or of another SKU are refused") {
  const std::string text = host_text("dgx-h100.topo.txt");
  std::string down = text;
  for (const std::size_t row : {1, 8}) {  // GPU7 in the row of GPU0 and the other way round
    std::size_t at = 0;
    for (std::size_t line = 0; line < row; ++line) {
      at = down.find('\n', at) + 1;
    }
    at = down.find(row == 1 ? "NV18\tPXB" : "NV18", at);
    down.replace(at, 4, "NV17");
  }
  check_says(refused(import_topo, down), "GPU7 and GPU0 share 17 NVLinks where the switches give 18");
  check_says(refused(import_topo, text, "dgx-a100"), "GPU0 has 18 links; a100-sxm-80gb has 12: another SKU?");
  check_says(refused(import_topo, text, "l40s-pcie-8"), "l40s states no link_rate in [scale_up]");
  std::string alone = two_cards;
  alone =
      "        GPU0  GPU1  GPU2  CPU Affinity\nGPU0     X    NV6   SYS  0-7\nGPU1    NV6    X    SYS  0-7\n"
      "GPU2    SYS   SYS    X   8-15\n";
  check_says(refused(import_topo, alone), "host:4:1: error: GPU2 has no link where other GPUs have some");
}

TEST_CASE("broken XML is refused with every place") {
  const auto said = [](const std::string& text) { return refused(import_nccl_xml, text); };
  const std::string good = host_text("dgx-h100.nccl.xml");
  CHECK(said(good) == "");
  check_says(said("<system version=\"1\">\n  <cpu numaid=\"0\">\n</system>\n"), "host:3:3: error: broken XML: ");
  check_says(said(""), "broken XML: no document element found");
  check_says(said("<graphs version=\"1\"/>"), "no <system>: this is no dump of NCCL_TOPO_DUMP_FILE");
  check_says(said(replaced(good, "version=\"1\"", "version=\"3\"")),
             "host:1:2: error: version '3' of the form is unknown");
  std::string several = replaced(good, "<gpu dev=\"0\"", "<gpu dev=\"zero\"");
  several = replaced(several, "count=\"5\"", "count=\"-5\"");
  several = replaced(several, "link_speed=\"32.0 GT/s PCIe\"", "link_speed=\"33 GT/s\"");
  several = replaced(several, "<nic>", "<nik>");
  several = replaced(several, "</nic>", "</nik>");
  const std::string all = said(several);
  check_says(all, "host:3:6: error: link_speed='33 GT/s' with link_width='16' is no PCIe link");
  check_says(all, "host:6:12: error: <gpu> dev='zero' must be a whole number from 0 to 1023");
  check_says(all, "<nik> does not belong into <pci>; did you mean 'nic'?");
}

TEST_CASE("links of the XML that lead nowhere, one way or to another SKU are refused") {
  const auto said = [](const std::string& text, const std::string& node) {
    return refused(import_nccl_xml, text, node);
  };
  const std::string mesh = host_text("dgx-1v.nccl.xml");
  check_says(
      said(replaced(mesh, "target=\"0000:17:00.0\" count=\"1\"", "target=\"0000:18:00.0\" count=\"1\""), "dgx-1v"),
      "a link of GPU 0 leads to GPU '0000:18:00.0', which is not in the file");
  check_says(
      said(replaced(mesh, "target=\"0000:17:00.0\" count=\"1\"", "target=\"0000:17:00.0\" count=\"2\""), "dgx-1v"),
      "GPU 0 has 2 links to GPU 1, which has 1 back");
  check_says(said(replaced(mesh, "tclass=\"0x030200\"", "tclass=\"0x068001\""), "dgx-1v"),
             "leads to tclass='0x068001'; GPUs (0x03....) and NVSwitches (0x068000) are known");
  check_says(said(mesh, "dgx-a100"), "GPU 0 has sm='70', a100-sxm-80gb is of compute capability 8.0: another SKU?");
  check_says(said(replaced(mesh, "dev=\"1\" sm", "dev=\"0\" sm"), "dgx-1v"), "dev 0 stands twice");
  const std::string switched = host_text("dgx-h100.nccl.xml");
  check_says(said(replaced(switched, "count=\"5\"", "count=\"4\""), "dgx-h100"),
             "GPU 1 has 18 links to switches, GPU 0 has 17: a link that is down?");
}

TEST_CASE("a host that hides its switches keeps the sum of its links, and a superchip its C2C") {
  const std::string text =
      "<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\"><pci busid=\"0008:01:00.0\" class=\"0x030200\" "
      "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"0\" sm=\"100\" rank=\"0\"><nvlink "
      "target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/><c2c bw=\"45000\" count=\"10\"/></gpu></pci>"
      "</cpu></system>";
  HostFacts facts;
  facts.domain = 72;
  const NodeWiring w = import_nccl_xml(text, "host", catalog().device("gb200-nvl72"), facts);
  CHECK(w.planes.planes == 1);
  CHECK(w.planes.rate == BytesPerSecond{900e9});
  CHECK(w.planes.domain == 72);
  CHECK(w.host_link == LinkKind::c2c);
  CHECK(w.gpu_pcie == BytesPerSecond{450e9});
  // One GPU that does not see the switches which the others see adds no plane.
  const NodeWiring seven = import_nccl_xml(replaced(host_text("dgx-h100.nccl.xml"), "0000:86:00.0", "fffffff:ffff:ff"),
                                           "host", catalog().device("h100-sxm-80gb"), {});
  CHECK(seven.planes.planes == 4);
}

TEST_CASE("RCCL's XML tells xGMI links") {
  const auto gpu = [](int dev, const std::string& peer) {
    const std::string n = std::to_string(dev);
    return "<pci busid=\"" + n + "\" class=\"0x038000\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"" +
           n + "\" sm=\"94\" gcn=\"942\" rank=\"" + n + "\"><xgmi target=\"" + peer +
           "\" count=\"1\" tclass=\"0x038000\"/></gpu></pci>";
  };
  const std::string text = "<system version=\"2\"><cpu numaid=\"0\">" + gpu(0, "1") + gpu(1, "0") + "</cpu></system>";
  const NodeWiring w = import_nccl_xml(text, "host", catalog().device("mi300x"), {});
  REQUIRE(w.pairs.size() == 1);
  CHECK(w.pairs[0].kind == LinkKind::xgmi);
  CHECK(w.pairs[0].rate == BytesPerSecond{64e9});
}

TEST_CASE("the outermost bridge is the switch of all below it, and bridges without GPUs are none") {
  const auto pci = [](const std::string& bus, const std::string& inside) {
    return "<pci busid=\"" + bus + "\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">" + inside +
           "</pci>";
  };
  const std::string gpu = "<gpu dev=\"0\" sm=\"89\"/>";
  const std::string nic = "<nic><net name=\"a\" dev=\"0\" speed=\"100000\"/></nic>";
  const std::string far = "<nic><net name=\"b\" dev=\"1\" speed=\"100000\"/></nic>";
  const std::string text = "<system version=\"1\"><cpu numaid=\"0\">" +
                           pci("0", pci("1", pci("2", gpu)) + pci("3", pci("4", nic))) + pci("5", pci("6", far)) +
                           "</cpu></system>";
  const NodeWiring w = import_nccl_xml(text, "host", catalog().device("l40s"), {});
  CHECK(w.switch_socket.size() == 1);
  CHECK(w.gpu_switch == std::vector<std::int64_t>{0});
  REQUIRE(w.nics.size() == 2);
  CHECK(w.nics[0].pcie_switch == 0);
  CHECK(w.nics[1].pcie_switch == -1);
}

TEST_CASE("NICs that collectives do not use are left out by name, and peer access is told as taken") {
  HostFacts facts = facts_of(wired("dgx-h100"));
  const Device& h100 = catalog().device("h100-sxm-80gb");
  facts.nics = {"mlx5_0", "mlx5_7"};
  const NodeWiring w = import_topo(host_text("dgx-h100.topo.txt"), "host", h100, facts);
  REQUIRE(w.nics.size() == 2);
  CHECK(w.nics[1].pcie_switch == w.gpu_switch[7]);
  facts.nics = {"mlx5_O"};
  try {
    static_cast<void>(import_nccl_xml(host_text("dgx-h100.nccl.xml"), "host", h100, facts));
    FAIL("an unknown name was taken");
  } catch (const ConfigError& error) {
    check_says(error.what(), "host: error: no NIC is called 'mlx5_O'; did you mean 'mlx5_0'?");
  }
  HostFacts nothing;
  nothing.nic_rate = BytesPerSecond{12.5e9};
  const NodeWiring cards = import_topo(two_cards, "host", catalog().device("l40s"), nothing);
  CHECK(cards.peer_access);
  REQUIRE(cards.assumed.size() == 1);
  nothing.peer_access = false;
  CHECK_FALSE(import_topo(two_cards, "host", catalog().device("l40s"), nothing).peer_access);
}

TEST_CASE("a host like another takes its slots and its C2C from there, where the text has none") {
  HostFacts facts;
  facts.nic_rate = BytesPerSecond{12.5e9};
  const Device& l40s = catalog().device("l40s");
  CHECK(import_topo(two_cards, "host", l40s, facts).gpu_pcie == BytesPerSecond{31.5e9});
  facts.gpu_pcie = BytesPerSecond{15.75e9};
  CHECK(import_topo(two_cards, "host", l40s, facts).gpu_pcie == BytesPerSecond{15.75e9});
  const NodeWiring tray =
      import_topo(two_cards, "host", catalog().device("gb200-nvl72"), facts_of(wired("gb200-nvl72-tray")));
  CHECK(tray.host_link == LinkKind::c2c);
  CHECK(tray.gpu_pcie == BytesPerSecond{450e9});
}
