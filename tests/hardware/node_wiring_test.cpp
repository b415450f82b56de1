// SPDX-License-Identifier: Apache-2.0
// Every node type of the catalog becomes a wiring that carries what its file says, and files that contradict
// themselves are refused with every place.
#include <headroom/hardware/catalog/catalog_reader.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

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

BytesPerSecond injection(const NodeWiring& w, std::int64_t gpu) {
  BytesPerSecond sum = static_cast<double>(w.planes.planes) * w.planes.rate;
  for (const NodeWiring::Pair& pair : w.pairs) {
    if (pair.a == gpu || pair.b == gpu) {
      sum += pair.rate;
    }
  }
  return sum;
}

const NodeWiring::Pair* pair_of(const NodeWiring& w, std::int64_t a, std::int64_t b) {
  const auto found =
      std::find_if(w.pairs.begin(), w.pairs.end(), [&](const NodeWiring::Pair& p) { return p.a == a && p.b == b; });
  return found == w.pairs.end() ? nullptr : &*found;
}

std::string heading(const std::string& gpus) {
  return "schema = 1\nid = \"n\"\nname = \"N\"\ngpu = \"h100-sxm-80gb\"\ngpus = " + gpus + "\n[sources]\nS = \"s\"\n";
}

/// All problems of a node's text, read and wired with `gpu`, one a line.
std::string problems_of(const std::string& text, const std::string& gpu = "h100-sxm-80gb") {
  try {
    Diagnostics diagnostics;
    const ConfigValue root = parse_toml(text, "n.toml");
    const Node node = read_node(root, "n.toml", diagnostics);
    diagnostics.throw_if_any();
    static_cast<void>(wire(node, catalog().device(gpu)));
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("every node type is wired with each of its SKUs, at the rate its file states") {
  for (const std::string& id : catalog().store().ids("nodes")) {
    CAPTURE(id);
    const Node& node = catalog().node(id);
    std::vector<std::string> skus{node.gpu};
    skus.insert(skus.end(), node.also.begin(), node.also.end());
    for (const std::string& sku : skus) {
      CAPTURE(sku);
      const NodeWiring w = wire(node, catalog().device(sku));
      REQUIRE(w.gpus == node.gpus);
      REQUIRE(w.gpu_socket.size() == static_cast<std::size_t>(w.gpus));
      REQUIRE(w.gpu_switch.size() == static_cast<std::size_t>(w.gpus));
      for (std::int64_t gpu = 0; gpu < w.gpus; ++gpu) {
        const auto at = static_cast<std::size_t>(gpu);
        CHECK((w.gpu_socket[at] >= 0 && w.gpu_socket[at] < w.sockets));
        CHECK((w.gpu_switch[at] >= -1 && w.gpu_switch[at] < std::ssize(w.switch_socket)));
        if (node.topology == LinkTopology::pcie) {
          CHECK(injection(w, gpu) == BytesPerSecond{});
        } else {
          CHECK(injection(w, gpu).raw() == doctest::Approx(node.per_gpu->value.raw()).epsilon(1e-9));
        }
      }
      BytesPerSecond out{};
      for (const NodeWiring::Nic& nic : w.nics) {
        out += nic.rate;
        CHECK((nic.socket >= 0 && nic.socket < w.sockets));
      }
      CHECK(out.raw() == doctest::Approx(static_cast<double>(w.gpus) * node.scale_out_per_gpu()->raw()));
      CHECK(w.gpu_pcie > BytesPerSecond{});
      CHECK((w.socket_link > BytesPerSecond{}) == (w.sockets > 1));
      CHECK(w.same_as(w));
    }
  }
}

TEST_CASE("the cube mesh of a DGX-1V has its doubled links and its gaps") {
  const NodeWiring w = wired("dgx-1v");
  CHECK(w.pairs.size() == 16);
  REQUIRE(pair_of(w, 0, 3) != nullptr);
  CHECK(pair_of(w, 0, 3)->links == 2);
  CHECK(pair_of(w, 0, 3)->rate == BytesPerSecond{50e9});
  REQUIRE(pair_of(w, 0, 1) != nullptr);
  CHECK(pair_of(w, 0, 1)->rate == BytesPerSecond{25e9});
  CHECK(pair_of(w, 0, 5) == nullptr);
  CHECK(w.gpu_switch == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(w.nics[2].pcie_switch == 2);
  CHECK(w.gpu_pcie == BytesPerSecond{15.75e9});
}

TEST_CASE("direct links, meshes and ports of accelerators keep their kind and count") {
  const NodeWiring a100 = wired("hgx-a100-4");
  CHECK(a100.pairs.size() == 6);
  CHECK(pair_of(a100, 1, 2)->links == 4);
  const NodeWiring mi300x = wired("mi300x-oam-8");
  CHECK(mi300x.pairs.size() == 28);
  CHECK(pair_of(mi300x, 0, 7)->kind == LinkKind::xgmi);
  CHECK(pair_of(mi300x, 0, 7)->links == 1);
  const NodeWiring gaudi = wired("gaudi3-8");
  CHECK(pair_of(gaudi, 0, 7)->kind == LinkKind::ethernet);
  CHECK(pair_of(gaudi, 0, 7)->links == 3);
  CHECK(gaudi.nics.size() == 24);
  CHECK(gaudi.nics[5].gpu == 1);
}

TEST_CASE("a rack's tray reaches the whole domain through its planes and its CPU over C2C") {
  const NodeWiring w = wired("gb200-nvl72-tray");
  CHECK(w.planes.planes == 18);
  CHECK(w.planes.domain == 72);
  CHECK(w.planes.rate == BytesPerSecond{50e9});
  CHECK(w.host_link == LinkKind::c2c);
  CHECK(w.gpu_pcie == BytesPerSecond{450e9});
  CHECK(wired("dgx-2").planes.planes == 6);
}

TEST_CASE("boxes without links differ by peer access and switches") {
  const NodeWiring plain = wired("l40s-pcie-8");
  CHECK_FALSE(plain.peer_access);
  CHECK(plain.switch_socket.empty());
  CHECK(plain.gpu_socket == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1});
  const NodeWiring switched = wired("l40s-pcie-8-p2p");
  CHECK(switched.peer_access);
  CHECK(switched.gpu_switch == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK_FALSE(plain.same_as(switched));
}

TEST_CASE("a slot runs at the older generation of board and card") {
  const std::string text = heading("1") + "[pcie]\ngeneration = 3\n[nics]\nkind = \"x\"\n";
  Diagnostics diagnostics;
  const ConfigValue root = parse_toml(text, "n.toml");
  const Node node = read_node(root, "n.toml", diagnostics);
  CHECK(wire(node, catalog().device("h100-sxm-80gb")).gpu_pcie == BytesPerSecond{15.75e9});
  const std::string newer = heading("1") + "[pcie]\ngeneration = 5\n";
  const ConfigValue other = parse_toml(newer, "n.toml");
  CHECK(wire(read_node(other, "n.toml", diagnostics), catalog().device("l40s")).gpu_pcie == BytesPerSecond{31.5e9});
  CHECK(pcie_rate(5, 8) == BytesPerSecond{31.5e9});
  CHECK_FALSE(pcie_rate(7));
  CHECK_FALSE(pcie_rate(4, 3));
}

TEST_CASE("the numbers of switches and sockets do not matter, their members do") {
  const NodeWiring w = wired("dgx-a100");
  NodeWiring turned = w;
  std::reverse(turned.switch_socket.begin(), turned.switch_socket.end());
  for (std::int64_t& s : turned.gpu_switch) {
    s = 3 - s;
  }
  for (NodeWiring::Nic& nic : turned.nics) {
    nic.pcie_switch = 3 - nic.pcie_switch;
    nic.name += "x";
  }
  CHECK(w.same_as(turned));
  std::swap(turned.gpu_switch[0], turned.gpu_switch[2]);
  CHECK_FALSE(w.same_as(turned));
  NodeWiring faster = w;
  faster.planes.rate *= 1.001;
  CHECK_FALSE(w.same_as(faster));
  NodeWiring fewer = w;
  fewer.nics.pop_back();
  CHECK_FALSE(w.same_as(fewer));
}

TEST_CASE("pairs that contradict themselves are each told at their place") {
  const std::string text = heading("4") +
                           "[fabric]\ntopology = \"direct\"\nper_gpu = { value = \"450 GB/s\", source = \"S\" }\n"
                           "pairs = { source = \"S\", value = [\n"
                           "[0, 1, 2],\n[1, 0, 3],\n[0, 4, 1],\n[2, 2, 1],\n[2, 3, 0],\n[1, 2] ] }\n[pcie]\n"
                           "generation = 5\n";
  const std::string said = problems_of(text);
  CHECK(said.find("n.toml:13:1: error: pair 0-1 is listed twice, with 2 and 3 links; state it once") !=
        std::string::npos);
  CHECK(said.find("n.toml:14:1: error: pair 0-4 names GPU 4; the node has GPUs 0 to 3") != std::string::npos);
  CHECK(said.find("n.toml:15:1: error: pair 2-2 joins a GPU to itself") != std::string::npos);
  CHECK(said.find("n.toml:16:1: error: pair 2-3 has 0 links; leave out pairs") != std::string::npos);
  CHECK(said.find("n.toml:17:1: error: one of 'pairs' is [GPU, GPU, links]") != std::string::npos);
}

TEST_CASE("more links than a GPU injects are refused, and so are pairs of a switched node") {
  const std::string fabric = "per_gpu = { value = \"450 GB/s\", source = \"S\" }\npairs = { source = \"S\", value = ";
  const std::string direct = heading("3") + "[fabric]\ntopology = \"direct\"\n" + fabric +
                             "[[0, 1, 18], [0, 2, 18]] }\n[pcie]\ngeneration = 5\n";
  CHECK(problems_of(direct).find("n.toml:11:9: error: GPU 0 has 36 links of 25.0 GB/s in 'pairs', more than its "
                                 "per_gpu of 450 GB/s") != std::string::npos);
  const std::string switched =
      heading("2") + "[fabric]\ntopology = \"switch\"\n" + fabric + "[[0, 1, 18]] }\n[pcie]\ngeneration = 5\n";
  CHECK(problems_of(switched).find("'pairs' goes with topology") != std::string::npos);
}

TEST_CASE("counts that do not divide name the list to state instead") {
  const std::string text =
      heading("8") +
      "[fabric]\ntopology = \"switch\"\nper_gpu = { value = \"450 GB/s\", source = \"S\" }\n"
      "domain = { value = 12, source = \"S\" }\n"
      "[pcie]\ngeneration = 5\nswitches = { value = 3, source = \"S\" }\n"
      "[nics]\ncount = { value = 4, source = \"S\" }\nrate = { value = \"400 Gb/s\", source = \"S\" }\n"
      "[host]\nsockets = { value = 2, source = \"S\" }\n"
      "socket_link = { value = \"22 GB/s\", source = \"S\" }\n";
  const std::string said = problems_of(text);
  CHECK(said.find("8 GPUs do not fill 3 PCIe switches; state the switch of every GPU, gpu_switch") !=
        std::string::npos);
  CHECK(said.find("3 PCIe switches do not divide over 2 sockets; state the socket of every switch") !=
        std::string::npos);
  CHECK(said.find("4 NICs do not divide over 3 PCIe switches; state the switch of every NIC") != std::string::npos);
  CHECK(said.find("a domain of 12 GPUs is no number of nodes with 8") != std::string::npos);
}

TEST_CASE("a tree that is spelled out is taken as it stands") {
  const std::string text =
      heading("3") +
      "[fabric]\ntopology = \"pcie\"\n[pcie]\ngeneration = 4\nswitches = { value = 2, source = \"S\" }\n"
      "gpu_switch = { value = [1, -1, 0], source = \"S\" }\n"
      "gpu_socket = { value = [0, 0, 1], source = \"S\" }\n"
      "switch_socket = { value = [1, 0], source = \"S\" }\n"
      "[nics]\ncount = { value = 1, source = \"S\" }\nrate = { value = \"100 Gb/s\", source = \"S\" }\n"
      "switch = { value = [-1], source = \"S\" }\nsocket = { value = [1], source = \"S\" }\n"
      "[host]\nsockets = { value = 2, source = \"S\" }\n"
      "socket_link = { value = \"22 GB/s\", source = \"S\" }\n";
  Diagnostics diagnostics;
  const ConfigValue root = parse_toml(text, "n.toml");
  const Node node = read_node(root, "n.toml", diagnostics);
  diagnostics.throw_if_any();
  const NodeWiring w = wire(node, catalog().device("l40s"));
  CHECK(w.gpu_switch == std::vector<std::int64_t>{1, -1, 0});
  CHECK(w.gpu_socket == std::vector<std::int64_t>{0, 0, 1});
  CHECK(w.nics[0].socket == 1);
  CHECK(w.assumed.empty());
  std::string wrong = text;
  wrong.replace(wrong.find("[1, -1, 0]"), 10, "[1, 2]");
  const std::string said = problems_of(wrong, "l40s");
  CHECK(said.find("'gpu_switch' has 2 entries; the node has 3 GPUs") != std::string::npos);
  CHECK(said.find("'gpu_switch' names switch 2; they count from -1 to 1") != std::string::npos);
}

TEST_CASE("what nobody states is an error with the key to write") {
  const std::string said = problems_of(heading("8") +
                                           "[fabric]\ntopology = \"cube-mesh\"\n"
                                           "[host]\nsockets = { value = 2, source = \"S\" }\n"
                                           "[nics]\ncount = { value = 8, source = \"S\" }\n",
                                       "rtx-pro-6000-server");
  CHECK(said.find("no rate of the links: neither [fabric] of the node nor [scale_up]") != std::string::npos);
  CHECK(said.find("rtx-pro-6000-server has no [scale_up] links") != std::string::npos);
  CHECK(said.find("a cube mesh is not the same for every pair; list them") != std::string::npos);
  CHECK(said.find("2 sockets without the rate between them; state socket_link") != std::string::npos);
  CHECK(said.find("8 NICs without a rate") != std::string::npos);
  CHECK(problems_of(heading("2") + "[pcie]\ngeneration = 5\n").find("nothing joins the 2 GPUs") != std::string::npos);
}
