// SPDX-License-Identifier: Apache-2.0
// Slices of cards: what vendors print of them, where they may stand together, and a slice as a device.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/catalog/partition_name.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/says.hpp"
#include <algorithm>
#include <string>
#include <vector>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog() noexcept;
}

using namespace headroom;
using headroom::test::near;
using headroom::test::says;

namespace {

Catalog shipped() {
  return Catalog{DataStore{embedded::embedded_catalog(), {}}};
}

std::vector<const PartitionProfile*> named(const PartitionScheme& scheme, const std::vector<std::string>& names) {
  std::vector<const PartitionProfile*> profiles;
  for (const std::string& name : names) {
    profiles.push_back(scheme.find(name));
    CAPTURE(name);
    REQUIRE(profiles.back() != nullptr);
  }
  return profiles;
}

/// Whether any choice of starts lets the profiles from `next` on stand beside each other: all choices tried.
bool tried(const std::vector<const PartitionProfile*>& profiles, std::size_t next, std::vector<int>& taken) {
  if (next == profiles.size()) {
    return true;
  }
  const PartitionProfile& p = *profiles[next];
  for (const std::int64_t start : p.starts.value) {
    for (std::int64_t i = 0; i < p.memory_slices; ++i) {
      ++taken[static_cast<std::size_t>(start + i)];
    }
    const bool free = std::all_of(taken.begin(), taken.end(), [](int slice) { return slice <= 1; });
    const bool rest = free && tried(profiles, next + 1, taken);
    for (std::int64_t i = 0; i < p.memory_slices; ++i) {
      --taken[static_cast<std::size_t>(start + i)];
    }
    if (rest) {
      return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("partitions: a slice of an A100 is 14 SMs a compute slice and an eighth of the memory a memory slice") {
  const Catalog catalog = shipped();
  const Device& card = catalog.device("a100-sxm-80gb");
  const Device& slice = catalog.device("a100-sxm-80gb/1g.10gb");
  CHECK(slice.id == "a100-sxm-80gb/1g.10gb");
  CHECK(slice.compute.units->value == 14);
  CHECK(slice.peak_of(Rate::bf16).raw() == near(312e12 * 14.0 / 108.0));
  CHECK(slice.bandwidth().raw() == near(2.039e12 / 8.0));
  CHECK(slice.memory.l2->value.raw() == near(40.0 * 1048576.0 / 8.0));
  // nvidia-smi mig -lgip: 9.50 GiB of 80.
  CHECK(slice.capacity().value.raw() == near(9.5 * 1073741824.0));
  CHECK(slice.visible_capacity().value.raw() == near(9.5 * 1073741824.0));
  REQUIRE(slice.slice);
  CHECK(slice.slice->card == card.id);
  CHECK(slice.slice->per_card == 7);
  // Seven slices leave 10 of 108 SMs idle, 9.26 %, and share all of the card's power.
  CHECK(7.0 * slice.slice->compute == near(98.0 / 108.0));
  CHECK(7.0 * slice.power.tdp->value.raw() == near(400.0));
  // No P2P between instances, over PCIe or NVLink (NVIDIA, MIG user guide, deployment considerations).
  CHECK(slice.scale_up.domain == 1);
  CHECK(slice.scale_up.topology == LinkTopology::none);
  CHECK_FALSE(slice.scale_up.per_gpu);
  CHECK(slice.slice->copy_engines->value == 1);
  CHECK(slice.slice->decoders->value == 0);
  CHECK(catalog.device("a100-sxm-80gb/7g.80gb").slice->decoders->value == 5);
}

TEST_CASE("partitions: half of an H200's memory slices have the half of its bandwidth that CUDA reports") {
  const Catalog catalog = shipped();
  const Device& slice = catalog.device("h200-sxm-141gb/3g.71gb");
  // Attributes of an instance 3g.71gb as a profiler wrote them: 60 SMs, 74,893,492,224 B, 2,407,152,000,000 B/s.
  CHECK(slice.compute.units->value == 60);
  CHECK(slice.capacity().value.raw() == near(74893492224.0, 1e-6));
  CHECK(slice.bandwidth().raw() == near(2.407152e12, 0.005));
}

TEST_CASE("partitions: where a part of the card is dearer, the part of it that counts is the larger one") {
  const Catalog catalog = shipped();
  CHECK(catalog.device("a100-sxm-80gb/1g.10gb").slice->share == near(1.0 / 7.0));
  CHECK(catalog.device("a100-sxm-80gb/1g.20gb").slice->share == near(2.0 / 8.0));
  CHECK(catalog.device("a100-sxm-80gb/3g.40gb").slice->share == near(4.0 / 8.0));
  CHECK(catalog.device("a100-sxm-80gb/4g.40gb").slice->share == near(4.0 / 7.0));
  CHECK(catalog.device("a100-sxm-80gb/7g.80gb").slice->share == near(1.0));
}

TEST_CASE("partitions: spellings of slices mean one id") {
  const Catalog catalog = shipped();
  const std::vector<std::pair<std::string, std::string>> spellings{
      {"a100-sxm-80gb/1g.10gb", "a100-sxm-80gb/1g.10gb"},
      {"A100-SXM4-80GB/1g.10gb", "a100-sxm-80gb/1g.10gb"},
      {"MIG:A100-SXM-80GB (1x1g.10gb MIG)", "a100-sxm-80gb/1g.10gb"},
      {"MIG:A100-SXM-80GB (7x1g.10gb MIG)", "a100-sxm-80gb/1g.10gb"},
      {"MIG:A30 (4x1g.6gb MIG)", "a30/1g.6gb"},
      {"NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "a100-sxm-80gb/1g.10gb"},
      {"NVIDIA H100 NVL MIG 1g.12gb", "h100-nvl-94gb/1g.12gb"},
      {"MI300X/CPX-NPS4", "mi300x/cpx-nps4"},
      {"mi300x/cpx/nps4", "mi300x/cpx-nps4"},
  };
  for (const auto& [spelling, id] : spellings) {
    CAPTURE(spelling);
    REQUIRE(catalog.why_no_device(spelling).value_or("") == "");
    CHECK(catalog.device(spelling).id == id);
    CHECK(&catalog.device(spelling) == &catalog.device(id));
  }
  CHECK(partition_name("MIG:A100-SXM-80GB (7x1g.10gb MIG)")->count == 7);
  CHECK(partition_name("MIG:A30 (1x1g.6gb MIG)")->count == 1);
  CHECK_FALSE(partition_name("a100-sxm-80gb"));
  CHECK_FALSE(partition_name("MIG:A30"));
}

TEST_CASE("partitions: a slice that is none is refused with those of its card") {
  const Catalog catalog = shipped();
  const auto why = [&](const std::string& spelling) { return catalog.why_no_device(spelling).value_or(""); };
  CHECK(says(why("a100-sxm-80gb/1g.5gb"),
             "a100-sxm-80gb is cut into 1g.10gb (14 SMs, 9.5 GiB, at most 7), 1g.20gb (14 SMs, 19.5 GiB, at most 4), "
             "2g.20gb (28 SMs, 19.5 GiB, at most 3), 3g.40gb (42 SMs, 39.25 GiB, at most 2), 4g.40gb (56 SMs, "
             "39.25 GiB, at most 1), 7g.80gb (98 SMs, 79 GiB, at most 1) and has no profile '1g.5gb'; did you mean "
             "'1g.10gb'?"));
  CHECK(says(why("l40s/1g.12gb"), "l40s cannot be cut into slices; those that can are "));
  CHECK(says(why("l40s/1g.12gb"), "a100-sxm-80gb"));
  CHECK(says(why("MIG:A100-SXM-80GB (8x1g.10gb MIG)"), "a card has at most 7 slices 1g.10gb"));
  CHECK(says(why("a100/1g.10gb"), "say which"));
  CHECK(says(why("1g.10gb"), "a slice is spelled CARD/PROFILE"));
  CHECK(says(why("h20-sxm-96gb/1g.12gb"), "the catalog has no number of SMs for 1g.12gb of h20-sxm-96gb"));
}

TEST_CASE("partitions: four tenants of 6, 6, 12 and 30 GB stand on one A100, and what is asked beside them does not") {
  const Catalog catalog = shipped();
  const Device& card = catalog.device("a100-sxm-80gb");
  const PartitionScheme& scheme = *catalog.partitions(card);
  const SlicePlaces four = place_slices(scheme, named(scheme, {"1g.10gb", "1g.10gb", "2g.20gb", "3g.40gb"}));
  REQUIRE(four.possible());
  // nvidia-smi mig -cgi 9,19,14,19 of the user guide: 3g at 4, 2g at 2, 1g at 0 and 1; only its places for 1g are free.
  CHECK(four.starts[3] == 4);
  CHECK(four.starts[2] == 2);
  CHECK(four.starts[0] + four.starts[1] == 1);
  CHECK(place_slices(scheme, named(scheme, {"4g.40gb", "3g.40gb"})).possible());
  CHECK(place_slices(scheme, named(scheme, {"2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"})).possible());
  const auto why = [&](const std::vector<std::string>& names) {
    return place_slices(scheme, named(scheme, names)).why;
  };
  CHECK(why({"4g.40gb", "4g.40gb"}) == "2 slices 4g.40gb are asked, and a card has at most 1");
  CHECK(why({"3g.40gb", "3g.40gb", "1g.10gb"}) == "3g.40gb, 3g.40gb, 1g.10gb take 9 memory slices, and the card has 8");
  CHECK(why({"4g.40gb", "2g.20gb", "1g.10gb", "1g.10gb"}) ==
        "4g.40gb, 2g.20gb, 1g.10gb, 1g.10gb take 8 compute slices, and the card has 7");
  CHECK(why({}) == "no slice is asked");
  // Seven compute and eight memory slices, and yet 2g.20gb may not begin at 6, where 1g.20gb leaves the last place.
  CHECK(says(why({"3g.40gb", "1g.20gb", "2g.20gb", "1g.10gb"}), "memory slices"));
}

TEST_CASE("partitions: places are found exactly where some choice of starts has no overlap") {
  const Catalog catalog = shipped();
  for (const char* const id : {"a100-sxm-80gb", "a30", "rtx-pro-6000-server"}) {
    const PartitionScheme& scheme = *catalog.partitions(catalog.device(id));
    std::vector<const PartitionProfile*> chosen;
    std::size_t met = 0;
    // All multisets of up to four profiles, and of plain ones up to seven.
    const auto grow = [&](auto&& self, std::size_t from) -> void {
      if (!chosen.empty()) {
        const SlicePlaces placed = place_slices(scheme, chosen);
        std::vector<int> taken(static_cast<std::size_t>(scheme.memory_slices.value), 0);
        std::int64_t compute = 0;
        std::int64_t decoders = 0;
        bool counts = true;
        for (const PartitionProfile* p : chosen) {
          compute += p->compute_slices;
          decoders += p->decoders->value;
          counts = counts && std::count(chosen.begin(), chosen.end(), p) <= p->most.value;
        }
        const bool fits = counts && compute <= scheme.compute_slices.value &&
                          (!scheme.decoders || decoders <= scheme.decoders->value) && tried(chosen, 0, taken);
        CAPTURE(id);
        CHECK(placed.possible() == fits);
        met += fits ? 1 : 0;
      }
      const bool plain = std::all_of(chosen.begin(), chosen.end(), [](const auto* p) { return p->plain(); });
      if (chosen.size() >= (plain ? 7U : 3U)) {
        return;
      }
      for (std::size_t i = from; i < scheme.profiles.size(); ++i) {
        if (chosen.size() >= 3 && !scheme.profiles[i].plain()) {
          continue;
        }
        chosen.push_back(&scheme.profiles[i]);
        self(self, i);
        chosen.pop_back();
      }
    };
    grow(grow, 0);
    CHECK(met > 8);
  }
}

TEST_CASE("partitions: the combinations that fill a card are those of NVIDIA's figure") {
  const Catalog catalog = shipped();
  const auto all = [&](const char* id) {
    std::vector<std::string> names;
    for (const auto& combination : maximal_combinations(*catalog.partitions(catalog.device(id)))) {
      std::string name;
      for (const PartitionProfile* p : combination) {
        name += (name.empty() ? "" : "+") + p->name.substr(0, p->name.find('.'));
      }
      names.push_back(name);
    }
    return names;
  };
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  // A30, figure of the user guide: 4 | 2+2 | 2+1+1 | 1+1+1+1.
  std::vector<std::string> a30 = all("a30");
  std::sort(a30.begin(), a30.end());
  CHECK(a30 == std::vector<std::string>{"1g+1g+1g+1g", "1g+1g+2g", "2g+2g", "4g"});
  const std::vector<std::string> a100 = all("a100-sxm-80gb");
  for (const char* const name : {"7g", "3g+4g", "1g+2g+4g", "1g+1g+1g+4g", "3g+3g", "2g+2g+3g", "1g+1g+1g+1g+3g",
                                 "1g+2g+2g+2g", "1g+1g+1g+1g+1g+1g+1g"}) {
    CAPTURE(name);
    CHECK(has(a100, name));
  }
  CHECK_FALSE(has(a100, "4g"));
  CHECK_FALSE(has(a100, "1g+3g+3g"));
}

TEST_CASE("partitions: a mode of AMD's holds for the whole card") {
  const Catalog catalog = shipped();
  const Device& slice = catalog.device("mi300x/cpx-nps4");
  CHECK(slice.compute.units->value == 38);
  CHECK(slice.bandwidth().raw() == near(5.3e12 / 8.0));
  CHECK(slice.capacity().value.raw() == near(196592.0 * 1048576.0 / 8.0));
  CHECK_FALSE(slice.slice->mig);
  const PartitionScheme& scheme = *catalog.partitions(slice);
  CHECK(place_slices(scheme, named(scheme, std::vector<std::string>(8, "cpx-nps1"))).possible());
  CHECK(place_slices(scheme, named(scheme, {"cpx-nps4", "qpx-nps4"})).why ==
        "a mode holds for the whole card, and cpx-nps4 and qpx-nps4 are two");
  // NPS2 needs DPX, NPS4 needs QPX or CPX (AMD SMI, GPU partitioning, compatibility matrix).
  CHECK(scheme.find("spx-nps4") == nullptr);
  CHECK(scheme.find("cpx-nps2") == nullptr);
}

TEST_CASE("partitions: media engines of a profile that takes all of them are nobody else's") {
  const Catalog catalog = shipped();
  const PartitionScheme& scheme = *catalog.partitions(catalog.device("rtx-pro-6000-server"));
  CHECK(place_slices(scheme, named(scheme, {"1g.24gb+me.all", "1g.24gb-me", "2g.48gb-me"})).possible());
  CHECK(says(place_slices(scheme, named(scheme, {"1g.24gb+me.all", "1g.24gb"})).why, "5 video decoders"));
}

TEST_CASE("partitions: the least profile that shows enough memory") {
  const Catalog catalog = shipped();
  const Device& card = catalog.device("a100-sxm-80gb");
  const PartitionScheme& scheme = *catalog.partitions(card);
  const auto least = [&](double gib) {
    const PartitionProfile* found = least_profile(card, scheme, Bytes{gib * 1073741824.0});
    return found == nullptr ? std::string{} : found->name;
  };
  CHECK(least(9.0) == "1g.10gb");
  CHECK(least(14.0) == "1g.20gb");
  CHECK(least(30.0) == "3g.40gb");
  CHECK(least(60.0) == "7g.80gb");
  CHECK(least(100.0).empty());
}

TEST_CASE("partitions: every scheme of the catalog fits the cards that name it") {
  const Catalog catalog = shipped();
  std::size_t cards = 0;
  for (const std::string& id : catalog.store().ids("gpus")) {
    const Device& card = catalog.device(id);
    const PartitionScheme* const scheme = catalog.partitions(card);
    if (scheme == nullptr) {
      continue;
    }
    ++cards;
    CAPTURE(id);
    CHECK(scheme->unused_sources.empty());
    for (const PartitionProfile& p : scheme->profiles) {
      CAPTURE(p.name);
      const double most = static_cast<double>(p.most.value);
      if (p.units) {
        CHECK(p.units->value * p.most.value <= card.compute.units->value);
      }
      CHECK(most * partition_memory(card, *scheme, p).raw() <= card.capacity().value.raw() * (1.0 + 1e-9));
      CHECK(partition_memory(card, *scheme, p).raw() >= 0.85 * scheme->memory_share(p) * card.capacity().value.raw());
      CHECK(place_slices(*scheme, std::vector<const PartitionProfile*>(static_cast<std::size_t>(p.most.value), &p))
                .possible());
    }
  }
  CHECK(cards >= 24);
}

TEST_CASE("partitions: a node of slices has as many of them as its cards have together, and no link between them") {
  const Catalog catalog = shipped();
  const Device& slice = catalog.device("a100-sxm-80gb/1g.10gb");
  const Node& whole = *catalog.reference_node(catalog.device("a100-sxm-80gb"));
  const Node& cut = *catalog.reference_node(slice);
  CHECK(cut.gpus == 7 * whole.gpus);
  CHECK(cut.gpu == slice.id);
  CHECK(cut.topology == LinkTopology::none);
  CHECK_FALSE(cut.peer_access);
  CHECK(cut.cpu == whole.cpu);
  CHECK(&cut == catalog.reference_node(slice));
  CHECK(whole.scale_out_per_gpu()->raw() == near(7.0 * cut.scale_out_per_gpu()->raw()));
}
