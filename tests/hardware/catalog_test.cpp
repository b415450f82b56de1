// SPDX-License-Identifier: Apache-2.0
// Every spelling in use means a known SKU or is refused with a reason; the user's files add to the catalog.
#include <headroom/hardware/catalog/catalog.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/scratch_folder.hpp"
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog() noexcept;
}

using namespace headroom;
using headroom::test::near;
using headroom::test::ScratchFolder;

namespace {

Catalog embedded_only() {
  return Catalog{DataStore{embedded::embedded_catalog(), {}}};
}

/// A folder of the user's own.
struct UserFolder : ScratchFolder {
  [[nodiscard]] Catalog catalog_without_embedded() const { return Catalog{DataStore{{}, {path().string()}}}; }
  [[nodiscard]] Catalog catalog() const { return Catalog{DataStore{embedded::embedded_catalog(), {path().string()}}}; }
};

std::string error_of(const Catalog& catalog, std::string_view spelling) {
  return catalog.why_no_device(spelling).value_or("");
}

struct Spelling {
  std::string_view text;
  std::string_view id;  ///< empty: refused
};

// clang-format off
/// How the measured files, published tables, nvidia-smi and the clouds spell SKUs.
constexpr std::array spellings{
    Spelling{"A100", ""},                                 Spelling{"A100-PCIe-40GB", "a100-pcie-40gb"},
    Spelling{"A100-PCIe-80GB", "a100-pcie-80gb"},         Spelling{"A100-SXM4-40GB", "a100-sxm-40gb"},
    Spelling{"A100-SXM4-80GB", "a100-sxm-80gb"},          Spelling{"A2", "a2"},
    Spelling{"A30", "a30"},                               Spelling{"A40", "a40"},
    Spelling{"A6000-48GB", "rtx-a6000"},                  Spelling{"A800-SXM4-80GB", "a800-sxm-80gb"},
    Spelling{"B200-SXM", "b200-sxm-180gb"},               Spelling{"B200-SXM-180GB", "b200-sxm-180gb"},
    Spelling{"B300-SXM", "b300-sxm-288gb"},               Spelling{"GB200", "gb200-nvl72"},
    Spelling{"GB200-NVL72", "gb200-nvl72"},               Spelling{"GB300", "gb300-nvl72"},
    Spelling{"GB300-NVL72", "gb300-nvl72"},               Spelling{"GH200-144GB", "gh200-144gb"},
    Spelling{"GH200-96GB", "gh200-96gb"},                 Spelling{"H100-NVL-94GB", "h100-nvl-94gb"},
    Spelling{"H100-PCIe-80GB", "h100-pcie-80gb"},         Spelling{"H100-SXM5-80GB", "h100-sxm-80gb"},
    Spelling{"H100-SXM5-80GB-700W", "h100-sxm-80gb"},     Spelling{"H100-SXM5-96GB-HBM2e-500W", "h100-sxm-96gb-hbm2e"},
    Spelling{"H20-3e-141GB", "h20-3e-141gb"},             Spelling{"H200-NVL-141GB", "h200-nvl-141gb"},
    Spelling{"H200-NVL-PCIe", "h200-nvl-141gb"},          Spelling{"H200-SXM-141GB", "h200-sxm-141gb"},
    Spelling{"H800-SXM5-80GB", "h800-sxm-80gb"},          Spelling{"L4", "l4"},
    Spelling{"L40S", "l40s"},                             Spelling{"MI300X", "mi300x"},
    Spelling{"MI325X", "mi325x"},                         Spelling{"MI350X", "mi350x"},
    Spelling{"MI355X", "mi355x"},                         Spelling{"MIG:A100-SXM-80GB (1x1g.10gb MIG)", "a100-sxm-80gb/1g.10gb"},
    Spelling{"MIG:A30 (4x1g.6gb MIG)", "a30/1g.6gb"},     Spelling{"RTX3090-24GB", "rtx-3090"},
    Spelling{"RTX4000Ada-20GB", "rtx-4000-ada"},          Spelling{"RTX4090-24GB", "rtx-4090"},
    Spelling{"RTX4090D-24GB", "rtx-4090d"},               Spelling{"RTX5090-32GB", "rtx-5090"},
    Spelling{"RTX6000Ada-48GB", "rtx-6000-ada"},          Spelling{"RTXA6000-48GB", "rtx-a6000"},
    Spelling{"RTXPRO6000-SE", "rtx-pro-6000-server"},     Spelling{"T4", "t4"},
    Spelling{"V100-PCIe-32GB", "v100-pcie-32gb"},         Spelling{"V100-SXM2", ""},
    Spelling{"V100-SXM2-16GB", "v100-sxm2-16gb"},         Spelling{"V100-SXM2-32GB", "v100-sxm2-32gb"},
    Spelling{"V100-SXM3-32GB", "v100-sxm3-32gb"},         Spelling{"V100-SXM3-32GB-H", "v100-sxm3-32gb-h"},
    Spelling{"V100S-PCIe-32GB", "v100s-pcie-32gb"},       Spelling{"a100_sxm", "a100-sxm-80gb"},
    Spelling{"h100_sxm", "h100-sxm-80gb"},                Spelling{"h200_sxm", "h200-sxm-141gb"},
    Spelling{"b200_sxm", "b200-sxm-180gb"},               Spelling{"b300_sxm", "b300-sxm-288gb"},
    Spelling{"gb200", "gb200-nvl72"},                     Spelling{"gb300", "gb300-nvl72"},
    Spelling{"l40s", "l40s"},                             Spelling{"rtx_pro_6000_server", "rtx-pro-6000-server"},
    Spelling{"b60", "arc-pro-b60"},                       Spelling{"NVIDIA H200", "h200-sxm-141gb"},
    Spelling{"NVIDIA H100 80GB HBM3", "h100-sxm-80gb"},   Spelling{"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
    Spelling{"NVIDIA H100 PCIe", "h100-pcie-80gb"},       Spelling{"Tesla V100-SXM2-16GB", "v100-sxm2-16gb"},
    Spelling{"NVIDIA L40S", "l40s"},                      Spelling{"Tesla T4", "t4"},
    Spelling{"H100", ""},                                 Spelling{"V100", ""},
    Spelling{"4090", "rtx-4090"},                         Spelling{"geforce rtx 5090", "rtx-5090"},
    Spelling{"H100-NVL", "h100-nvl-94gb"},                Spelling{"A100-80GB-PCIe", "a100-pcie-80gb"},
    Spelling{"nvidia-l40s", "l40s"},                      Spelling{"nvidia-h100", ""},
    Spelling{"h100-mig-1g.10gb", ""},                     Spelling{"a100-sxm-80gb/1g.10gb", "a100-sxm-80gb/1g.10gb"},
    Spelling{"1g.10gb", ""},                              Spelling{"tpu-v5e", ""},
    Spelling{"v6e", ""},                                  Spelling{"cloud-tpu-v5p", ""},
    Spelling{"Trainium2", ""},                            Spelling{"aws-inferentia", ""},
    Spelling{"GH200", ""},                                Spelling{"H200", "h200-sxm-141gb"},
};
// clang-format on

}  // namespace

TEST_CASE("every spelling in use means its SKU or is refused with a reason") {
  const Catalog catalog = embedded_only();
  for (const Spelling& spelling : spellings) {
    CAPTURE(spelling.text);
    if (spelling.id.empty()) {
      CHECK(error_of(catalog, spelling.text).find("cannot be used: ") != std::string::npos);
    } else {
      REQUIRE(error_of(catalog, spelling.text) == "");
      CHECK(catalog.device(spelling.text).id == spelling.id);
    }
  }
}

TEST_CASE("an id always means its own entry, and so does every alias") {
  const Catalog catalog = embedded_only();
  for (const std::string& id : catalog.store().ids("gpus")) {
    const Device& device = catalog.device(id);
    CHECK(device.id == id);
    for (const std::string& alias : device.aliases) {
      CAPTURE(alias);
      CHECK(&catalog.device(alias) == &device);
    }
  }
}

TEST_CASE("nothing in the catalog is called by a refused spelling, and the ids that a reason names exist") {
  const Catalog catalog = embedded_only();
  for (const RefusedSpelling& row : refused_gpus()) {
    CAPTURE(row.spelling);
    CHECK_FALSE(catalog.store().find("gpus", row.spelling));
    CHECK_FALSE(row.reason.empty());
    std::string word;
    for (const char c : std::string{row.reason} + " ") {
      if (c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')) {
        word += c;
        continue;
      }
      if (word.ends_with("gb") && word.find('-') != std::string::npos) {
        CAPTURE(word);
        CHECK(catalog.store().find("gpus", word));
      }
      word.clear();
    }
  }
}

TEST_CASE("what the catalog cannot model is said to be so, and is no slip of another name") {
  const Catalog catalog = embedded_only();
  for (const std::string_view name : {"tpu-v5e", "v6e", "trainium", "trn2", "inf2", "ascend-910b"}) {
    CAPTURE(name);
    const std::string error = error_of(catalog, std::string{name});
    CHECK(error.find("not modelled") != std::string::npos);
    CHECK(error.find("did you mean") == std::string::npos);
  }
  // No name of the catalog is refused by a pattern.
  for (const std::string& name : catalog.store().spellings("gpus")) {
    CAPTURE(name);
    CHECK(error_of(catalog, name) == "");
  }
}

TEST_CASE("an unknown spelling is answered with the nearest id of its family") {
  const Catalog catalog = embedded_only();
  CHECK(error_of(catalog, "h10-sxm") ==
        "error: unknown GPU 'h10-sxm'; did you mean 'h100-sxm-80gb'? (see 'headroom catalog list')");
  // Another family is no slip of the pen.
  CHECK(error_of(catalog, "b61") ==
        "error: unknown GPU 'b61'; did you mean 'arc-pro-b60'? (see 'headroom catalog list')");
  CHECK(error_of(catalog, "q60") == "error: unknown GPU 'q60' (see 'headroom catalog list')");
  CHECK(error_of(catalog, "quantum-9000-abacus") ==
        "error: unknown GPU 'quantum-9000-abacus' (see 'headroom catalog list')");
  CHECK(error_of(catalog, "A100").find("a100-pcie-40gb") != std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(catalog.node("dgx-h10")),
                       "error: unknown node type 'dgx-h10'; did you mean 'dgx-h100'? (see 'headroom catalog list')",
                       ConfigError);
}

TEST_CASE("an entry is parsed once and stays where it is") {
  const Catalog catalog = embedded_only();
  const Catalog copy = catalog;
  const Device* first = &catalog.device("h100_sxm");
  static_cast<void>(catalog.device("a100_sxm"));
  CHECK(&catalog.device("h100-sxm-80gb") == first);
  CHECK(&copy.device("H100-SXM5-80GB") == first);
}

TEST_CASE("several threads may ask at once") {
  const Catalog catalog = embedded_only();
  std::vector<const Device*> found(4);
  std::vector<std::thread> threads;
  for (const Device*& slot : found) {
    threads.emplace_back([&catalog, &slot] {
      for (const std::string& id : catalog.store().ids("gpus")) {
        slot = &catalog.device(id);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(std::all_of(found.begin(), found.end(), [&](const Device* d) { return d != nullptr && d == found[0]; }));
}

TEST_CASE("a user's file may extend the entry it hides") {
  const UserFolder user;
  user.write("gpus/h100-sxm-80gb.toml", R"(schema = 1
base = "h100-sxm-80gb"
[sources]
MINE = "measured here"
[power]
tdp = { value = "500 W", source = "MINE" }
)");
  const Catalog catalog = user.catalog();
  const Device& device = catalog.device("h100_sxm");
  CHECK(device.power.tdp->value.raw() == doctest::Approx(500.0));
  CHECK(device.power.tdp->source == "measured here");
  CHECK(device.compute.units->value == 132);
  CHECK(device.unused_sources.empty());
  CHECK(device.aliases == embedded_only().device("h100-sxm-80gb").aliases);
}

TEST_CASE("an overlay under a new name leaves its base and the base's aliases alone") {
  const UserFolder user;
  user.write("gpus/h100-capped.toml", R"(schema = 1
base = "h100_sxm"
id = "h100-capped"
name = "H100 at 500 W"
[sources]
MINE = "set here"
[power]
tdp = { value = "500 W", source = "MINE" }
)");
  const Catalog catalog = user.catalog();
  CHECK(catalog.device("h100-capped").power.tdp->value.raw() == doctest::Approx(500.0));
  CHECK(catalog.device("h100-capped").aliases.empty());
  CHECK(catalog.device("H100-SXM5-80GB").power.tdp->value.raw() == doctest::Approx(700.0));
}

TEST_CASE("an overlay that changes a value must say where the new one comes from") {
  const UserFolder user;
  user.write("gpus/h100-sxm-80gb.toml", R"(schema = 1
base = "h100-sxm-80gb"
[power]
tdp = { value = "500 W" }
)");
  CHECK(error_of(user.catalog(), "h100-sxm-80gb").find("4:7: error: 'tdp' has no source") != std::string::npos);
}

TEST_CASE("a value stated anew is no longer recalled") {
  const UserFolder user;
  user.write("gpus/h100-sxm-80gb.toml", R"(schema = 1
base = "h100-sxm-80gb"
[sources]
MINE = "read here"
[memory]
bus_width = { value = 5120, source = "MINE" }
)");
  CHECK(embedded_only().device("h100-sxm-80gb").memory.bus_width->recalled);
  CHECK_FALSE(user.catalog().device("h100-sxm-80gb").memory.bus_width->recalled);
}

TEST_CASE("an overlay without an id of its own is told to write one") {
  const UserFolder user;
  user.write("gpus/mine.toml", "schema = 1\nbase = \"h100-sxm-80gb\"\n");
  CHECK(error_of(user.catalog(), "mine").find("write id = \"mine\"") != std::string::npos);
}

TEST_CASE("unknown and circular bases are refused") {
  const UserFolder user;
  user.write("gpus/lost.toml", "schema = 1\nbase = \"h100-sxm-81gb\"\nid = \"lost\"\n");
  user.write("gpus/a-ring.toml", "schema = 1\nbase = \"b-ring\"\nid = \"a-ring\"\n");
  user.write("gpus/b-ring.toml", "schema = 1\nbase = \"a-ring\"\nid = \"b-ring\"\n");
  user.write("gpus/self.toml", "schema = 1\nbase = \"self\"\nid = \"self\"\n");
  const Catalog catalog = user.catalog();
  CHECK(error_of(catalog, "lost").find("base 'h100-sxm-81gb' is unknown") != std::string::npos);
  CHECK(error_of(catalog, "a-ring").find("cycle") != std::string::npos);
  CHECK(error_of(catalog, "self").find("base 'self' is unknown") != std::string::npos);
}

TEST_CASE("the user's own alias decides a spelling that is otherwise refused") {
  const UserFolder user;
  user.write("gpus/our-a100.toml", "schema = 1\nbase = \"a100-sxm-40gb\"\nid = \"our-a100\"\naliases = [\"A100\"]\n");
  CHECK(user.catalog().device("a100").id == "our-a100");
}

TEST_CASE("nodes, clusters and prices are read with their numbers") {
  const UserFolder user;
  user.write("nodes/box.toml", R"(schema = 1
id = "box"
name = "Box"
gpu = "h100-sxm-80gb"
also = ["h200-sxm-141gb"]
gpus = 8
[sources]
S = "here"
[fabric]
topology = "switch"
switches = { value = 4, source = "S" }
per_gpu = { value = "450 GB/s", source = "S" }
peer_access = false
[pcie]
generation = 5
switches = { value = 4, source = "S" }
gpus_per_switch = 2
[nics]
kind = "ConnectX-7"
count = { value = 4, source = "S" }
rate = { value = "400 Gb/s", source = "S" }
[host]
cpu = "2 x Xeon"
memory = { value = "2 TB", source = "S" }
[power]
node = { value = "10.2 kW", source = "S" }
)");
  user.write("nodes/dry.toml", "schema = 1\nid = \"dry\"\nname = \"Dry\"\ngpu = \"l40s\"\ngpus = 4\n");
  user.write("clusters/hall.toml", R"(schema = 1
id = "hall"
name = "Hall"
node = "box"
nodes = { value = 64, source = "S" }
rail_optimised = true
transport = "roce"
[sources]
S = "here"
[[tier]]
name = "leaf"
nodes = 32
oversubscription = 1.0
hop_latency = { value = "0.6 us", source = "S" }
[[tier]]
name = "spine"
nodes = 64
oversubscription = 7
)");
  user.write("prices/shop.toml", R"(schema = 1
id = "shop"
name = "Shop"
provider = "shop"
date = "2026-08"
[sources]
S = "here"
[[offer]]
gpu = "h100-sxm-80gb"
market = "spot"
region = "any"
price = { value = "3.6 $/h", source = "S" }
)");
  const Catalog catalog = user.catalog();
  const Node& node = catalog.node("box");
  CHECK(node.gpus == 8);
  CHECK(node.topology == LinkTopology::fabric_switch);
  CHECK_FALSE(node.peer_access);
  CHECK(node.gpus_per_pcie_switch == 2);
  CHECK(node.scale_out_per_gpu()->raw() == doctest::Approx(25e9));
  CHECK(node.power->value.raw() == doctest::Approx(10200.0));
  CHECK(node.unused_sources.empty());
  CHECK_FALSE(catalog.node("dry").scale_out_per_gpu());
  const Cluster& cluster = catalog.cluster("hall");
  CHECK(cluster.rail_optimised);
  REQUIRE(cluster.tiers.size() == 2);
  CHECK(cluster.tiers[0].hop_latency->value.raw() == near(0.6e-6));
  CHECK(cluster.tiers[1].oversubscription == doctest::Approx(7.0));
  const PriceList& prices = catalog.prices("shop");
  REQUIRE(prices.offers.size() == 1);
  CHECK(prices.offers[0].market == Market::spot);
  CHECK(prices.offers[0].price.value.raw() == near(0.001));
}

TEST_CASE("the reference node is the vendor's own board first, then the larger, then the lower id") {
  const UserFolder user;
  const auto gpu = [&](const std::string& id, const std::string& fabric) {
    user.write("gpus/" + id + ".toml", "schema = 1\nid = \"" + id +
                                           "\"\nname = \"G\"\nvendor = \"nvidia\"\nkind = \"gpu\"\n" +
                                           "generation = \"hopper\"\nyear = 2022\n" + fabric);
  };
  const std::string board = "[scale_up]\nlink = \"NVLink4\"\ntopology = \"switch\"\ndomain = 8\n";
  const std::string pair = "[scale_up]\nlink = \"NVLink4\"\ntopology = \"bridge\"\ndomain = 2\n";
  for (const std::string id : {"own", "sister", "cousin", "cloudy", "small"}) {
    gpu(id, board);
  }
  gpu("card", "");
  gpu("bridged", pair);
  gpu("bridged-too", pair);
  const auto box = [&](const std::string& id, const std::string& sku, const std::string& also, int gpus) {
    user.write("nodes/" + id + ".toml", "schema = 1\nid = \"" + id + "\"\nname = \"N\"\ngpu = \"" + sku +
                                            "\"\nalso = [" + also + "]\ngpus = " + std::to_string(gpus) + "\n");
  };
  box("aws-big", "own", "", 16);
  box("aws-cloudy", "cloudy", "\"sister\"", 8);
  box("a-board-of-sisters", "sister", "\"own\"", 8);
  box("dgx", "own", "\"small\"", 8);
  box("hgx", "own", "", 8);
  box("hgx-4", "own", "", 4);
  box("bridge-box", "bridged", "", 8);
  user.write("nodes/broken.toml", "schema = 2\n");
  const Catalog catalog = user.catalog_without_embedded();
  const auto reference = [&](const std::string& id) {
    const Node* node = catalog.reference_node(catalog.device(id));
    return node == nullptr ? std::string{"none"} : node->id;
  };
  CHECK(reference("own") == "dgx");                    // gpu before also, before the larger cloud shape
  CHECK(reference("sister") == "a-board-of-sisters");  // gpu of a vendor's board
  CHECK(reference("small") == "dgx");                  // also of a vendor's board
  CHECK(reference("cloudy") == "aws-cloudy");          // a cloud shape that names it, before a board of its family
  CHECK(reference("cousin") == "a-board-of-sisters");  // same generation and fabric; never aws-big
  CHECK(reference("bridged") == "bridge-box");
  CHECK(reference("bridged-too") == "none");  // a bridge says nothing about the box
  CHECK(reference("card") == "none");
}

TEST_CASE("SKUs of the catalog find the board they are usually sold on") {
  const Catalog catalog = embedded_only();
  const auto reference = [&](std::string_view gpu) {
    const Node* node = catalog.reference_node(catalog.device(gpu));
    return node == nullptr ? std::string{"none"} : node->id;
  };
  CHECK(reference("a100-sxm-80gb") == "dgx-a100");
  CHECK(reference("a100-sxm-40gb") == "dgx-a100");
  CHECK(reference("h100-sxm-80gb") == "dgx-h100");
  CHECK(reference("h100-sxm-96gb-hbm2e") == "dgx-h100");
  CHECK(reference("h200-sxm-141gb") == "dgx-h200");
  CHECK(reference("b200-sxm-180gb") == "dgx-b200");
  CHECK(reference("b300-sxm-288gb") == "dgx-b300");
  CHECK(reference("gb200-nvl72") == "gb200-nvl72-tray");
  CHECK(reference("v100-sxm2-32gb") == "dgx-1v");
  CHECK(reference("v100-sxm3-32gb") == "dgx-2");
  CHECK(reference("mi325x") == "mi300x-oam-8");
  CHECK(reference("l40s") == "l40s-pcie-8");
  CHECK(reference("h100-pcie-80gb") == "none");
}

TEST_CASE("a price list tells all that is wrong with it") {
  const UserFolder user;
  user.write("prices/shop.toml", R"(schema = 1
id = "shop"
name = "Shop"
provider = "shop"
date = "August 2026"
[[offer]]
gpu = "h100-sxm-80gb"
market = "on demand"
region = "any"
price = 2.99
[[offer]]
gpu = "h100-sxm-80gb"
market = "spot"
region = "any"
)");
  try {
    static_cast<void>(user.catalog().prices("shop"));
    FAIL("read");
  } catch (const ConfigError& error) {
    const auto problems = error.diagnostics();
    REQUIRE(problems.size() == 4);
    CHECK(problems[0].message.find("must look like \"2026-08\"") != std::string::npos);
    CHECK(problems[1].message.find("did you mean 'on-demand'?") != std::string::npos);
    CHECK(problems[2].message.find("'price' needs its source") != std::string::npos);
    CHECK(problems[3].message.find("missing key 'price' in [offer[1]]") != std::string::npos);
  }
}
