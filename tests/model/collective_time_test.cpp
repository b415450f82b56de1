// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/csv.hpp>
#include <headroom/model/collectives/collective_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <string>

using namespace headroom;

namespace {

constexpr double gigabyte = 1e9;
constexpr double mib = 0x1p20;

GroupView nvlink(std::int64_t ranks, double rate = 450.0) {
  GroupView view;
  view.ranks = view.per_domain = ranks;
  view.in_switch = true;
  view.inside_ring = view.inside_all = view.inside_pair = BytesPerSecond{rate * gigabyte};
  return view;
}

/// Numbers with a closed form: one microsecond a hop, half of the link, no pipeline.
CollectiveCurves plain_curves() {
  CollectiveCurves c;
  const auto set = [](RingCurve& curve, RingParameter p, double value) { curve[static_cast<std::size_t>(p)] = value; };
  for (RingCurve* curve : {&c.all_reduce, &c.all_gather, &c.reduce_scatter}) {
    set(*curve, RingParameter::launch, 5e-6);
    set(*curve, RingParameter::ll_hop, 1e-6);
    set(*curve, RingParameter::crowd, 0.0);
    set(*curve, RingParameter::ll_rate, 0.5);
    set(*curve, RingParameter::ll128_hop, 2e-6);
    set(*curve, RingParameter::ll128_rate, 0.9);
    set(*curve, RingParameter::simple_hop, 4e-6);
    for (const RingParameter p : {RingParameter::share_2, RingParameter::share_4, RingParameter::share_8}) {
      set(*curve, p, 0.5);
    }
    set(*curve, RingParameter::nvls_latency, 20e-6);
    set(*curve, RingParameter::nvls_rate, 0.5);
  }
  c.all_to_all = {5e-6, 1e-6, 1e-3, 0.5, 16384.0, 10e-6, 0.0, 0.5, 0.5, 0.5, 0.0};
  c.graphs.ring_channels = 16;
  c.graphs.ring_channel = BytesPerSecond{20e9};
  return c;
}

NetworkCurve plain_network() {
  NetworkCurve n;
  n.hop = {Seconds{10e-6}, Seconds{10e-6}, Seconds{10e-6}};
  return n;
}

}  // namespace

TEST_CASE("borrowed curves take what SMs run as much longer as their clock is lower, and nothing else") {
  CollectiveSet set;
  set.id = "measured";
  set.graphs.generation = nccl::Generation::hopper;
  set.graphs.ll128 = true;
  set.clock = MeasuredClock{"hopper", Hertz{1.98e9}, "a test"};
  set.ring.emplace_back();
  set.all_to_all.emplace_back();
  set.custom.emplace_back();
  set.ring[0].values.fill(1.0);
  set.all_to_all[0].values.fill(1.0);
  set.custom[0].values.fill(1.0);
  const auto of = [](const char* id, const char* generation, double clock) {
    Device device;
    device.id = id;
    device.generation = generation;
    device.compute.clock.emplace();
    device.compute.clock->value = Hertz{clock};
    return device;
  };
  const auto ring = [](const CollectiveSet& s, RingParameter p) {
    return s.ring[0].values[static_cast<std::size_t>(p)];
  };
  const auto pair = [](const CollectiveSet& s, PairParameter p) {
    return s.all_to_all[0].values[static_cast<std::size_t>(p)];
  };
  const auto custom = [](const CollectiveSet& s, CustomParameter p) {
    return s.custom[0].values[static_cast<std::size_t>(p)];
  };
  // Another generation prints its highest clock: 1,980 over 1,410 MHz.
  const double slower = 1980.0 / 1410.0;
  const CollectiveSet older = at_clock_of(set, of("older", "ampere", 1.41e9));
  for (const RingParameter p : {RingParameter::launch, RingParameter::ll_hop, RingParameter::ll128_hop,
                                RingParameter::simple_hop, RingParameter::pipeline}) {
    CHECK(ring(older, p) == doctest::Approx(slower));
  }
  for (const RingParameter p : {RingParameter::crowd, RingParameter::ll_rate, RingParameter::ll128_rate,
                                RingParameter::share_2, RingParameter::share_8, RingParameter::nvls_rate}) {
    CHECK(ring(older, p) == 1.0);
  }
  CHECK(pair(older, PairParameter::ll_hop) == doctest::Approx(slower));
  CHECK(pair(older, PairParameter::ll_limit) == 1.0);
  CHECK(custom(older, CustomParameter::barrier) == doctest::Approx(slower));
  CHECK(custom(older, CustomParameter::host) == 1.0);
  CHECK(custom(older, CustomParameter::limit) == 1.0);
  // Boards of one generation, and those that were measured, are as measured.
  CHECK(ring(at_clock_of(set, of("card", "hopper", 1.755e9)), RingParameter::launch) == 1.0);
  CHECK(ring(at_clock_of(set, of("measured", "hopper", 1.0e9)), RingParameter::launch) == 1.0);
  CHECK(ring(at_clock_of(set, Device{}), RingParameter::launch) == 1.0);
  // Steps over PCIe are the bus's.
  set.graphs.ll128 = false;
  const CollectiveSet bus = at_clock_of(set, of("older", "ampere", 1.41e9));
  CHECK(ring(bus, RingParameter::launch) == doctest::Approx(slower));
  CHECK(ring(bus, RingParameter::ll_hop) == 1.0);
  CHECK(ring(bus, RingParameter::simple_hop) == 1.0);
  CHECK(custom(bus, CustomParameter::barrier) == 1.0);
  CHECK(pair(bus, PairParameter::ll_hop) == 1.0);
  set.clock.reset();
  CHECK(ring(at_clock_of(set, of("older", "ampere", 1.41e9)), RingParameter::launch) == 1.0);
}

TEST_CASE("a ring's time is its launch, its hops and its bytes") {
  const GroupCollectives group{plain_curves(), {}, nvlink(8)};
  // LL, 14 steps of a microsecond: 512 bytes are nothing.
  const CollectiveTime small = group.time(Collective::all_reduce, Bytes{512.0});
  CHECK(small.protocol == nccl::Protocol::ll);
  CHECK(small.time.raw() == doctest::Approx(19e-6).epsilon(1e-4));
  CHECK(small.bound == CollectiveBound::latency);
  CHECK(small.channels == 1);
  // 14/8 of 8 GiB over half of 450 GB/s, and 56 us of steps hidden under it.
  const CollectiveTime large = group.time(Collective::all_reduce, Bytes{0x1p33});
  CHECK(large.protocol == nccl::Protocol::simple);
  CHECK(large.time.raw() == doctest::Approx(5e-6 + 1.75 * 0x1p33 / 225e9).epsilon(1e-4));
  CHECK(large.bound == CollectiveBound::inside_link);
  // Half the bytes to gather or scatter, n/(n-1) of them to broadcast or reduce.
  CHECK(group.time(Collective::all_gather, Bytes{0x1p33}).transfer.raw() ==
        doctest::Approx(0.5 * large.transfer.raw()));
  CHECK(group.time(Collective::broadcast, Bytes{0x1p33}).transfer.raw() ==
        doctest::Approx(8.0 / 7.0 * 0.5 * large.transfer.raw()));
}

TEST_CASE("in-switch reduction sends S (1 + 1/n) of what a ring sends twice") {
  CollectiveCurves curves = plain_curves();
  curves.graphs.nvls_ranks = 5;
  curves.graphs.nvls_channels = 16;
  curves.graphs.nvls_channel = BytesPerSecond{30e9};
  const Bytes bytes{0x1p33};
  const CollectiveTime in_switch = GroupCollectives{curves, {}, nvlink(8)}.time(Collective::all_reduce, bytes);
  CHECK(in_switch.algorithm == nccl::Algorithm::nvls);
  CHECK(in_switch.transfer.raw() == doctest::Approx(1.125 * 0x1p33 / 225e9));
  CHECK(in_switch.channels == 16);
  // Not for integers, not when switched off, not below the ranks from which NCCL takes it, not without a switch.
  const auto algorithm = [&](const GroupView& view, CollectiveOptions options) {
    return GroupCollectives{curves, {}, view, options}.time(Collective::all_reduce, bytes).algorithm;
  };
  CHECK(algorithm(nvlink(8), {true, false}) == nccl::Algorithm::ring);
  CHECK(algorithm(nvlink(8), {false, true}) == nccl::Algorithm::ring);
  CHECK(algorithm(nvlink(4), {}) == nccl::Algorithm::ring);
  GroupView mesh = nvlink(8);
  mesh.in_switch = false;
  CHECK(algorithm(mesh, {}) == nccl::Algorithm::ring);
}

TEST_CASE("across hosts the NICs of all ranks of a host carry a ring together") {
  GroupView view = nvlink(32);
  view.domains = view.nodes = 4;
  view.per_domain = 8;
  view.tier = 1;
  view.outside_ring = view.outside_all = BytesPerSecond{25 * gigabyte};  // 8 x 25 = 200 below 225 inside
  const GroupCollectives group{plain_curves(), plain_network(), view};
  const CollectiveTime t = group.time(Collective::all_gather, Bytes{0x1p34});
  CHECK(t.bound == CollectiveBound::nic);
  CHECK(t.transfer.raw() == doctest::Approx(31.0 / 32.0 * 0x1p34 / 200e9));
  // 28 steps inside, 3 between hosts.
  CHECK(t.latency.raw() == doctest::Approx(28 * 4e-6 + 3 * 10e-6));
  view.binding_tier = 1;
  CHECK(GroupCollectives{plain_curves(), plain_network(), view}.time(Collective::all_gather, Bytes{0x1p34}).bound ==
        CollectiveBound::tier);
  // All-to-all: 7/32 of the buffer inside, 24/32 over the rank's own NIC.
  const CollectiveTime pairs = group.time(Collective::all_to_all, Bytes{0x1p30});
  CHECK(pairs.transfer.raw() == doctest::Approx(24.0 / 32.0 * 0x1p30 / 25e9));
  CHECK(group.link_bound(Collective::all_to_all, Bytes{0x1p30}).raw() == doctest::Approx(24.0 / 32.0 * 0x1p30 / 25e9));
  const CollectiveTime next = group.time(Collective::send_recv, Bytes{0x1p30});
  CHECK(next.transfer.raw() == doctest::Approx(0x1p30 / 25e9));
}

TEST_CASE("boxes whose shares are of staged copies are not believed where peers write each other's memory") {
  CollectiveCurves curves = plain_curves();
  curves.staged_shares = true;
  curves.all_reduce[static_cast<std::size_t>(RingParameter::share_8)] = 0.05;
  GroupView view = nvlink(8, 31.5);
  view.inside = LinkKind::pcie;
  view.in_switch = false;
  const Seconds peers = GroupCollectives{curves, {}, view}.time(Collective::all_reduce, Bytes{0x1p30}).time;
  view.staged = true;
  const Seconds staged = GroupCollectives{curves, {}, view}.time(Collective::all_reduce, Bytes{0x1p30}).time;
  CHECK(staged.raw() == doctest::Approx(10.0 * peers.raw()).epsilon(0.01));
}

TEST_CASE("what GPUs of a PCIe box share above their links is not charged twice") {
  const Catalog catalog = Catalog::standard();
  const Device& device = catalog.device("rtx-pro-6000-server");
  const GroupView alone = hosts_view(device, catalog.reference_node(device), 8);  // every link whole
  GroupView placed = alone;
  placed.inside = LinkKind::socket;
  placed.inside_ring = placed.inside_all = BytesPerSecond{40 * gigabyte};  // what a fabric with two sockets shows
  const auto time = [&](const GroupView& view) {
    return collective_time(Collective::all_reduce, Bytes{0x1p30}, view,
                           choose_collectives(test::model_data(), device, view).curves(), {})
        .time;
  };
  CHECK(time(placed).raw() == doctest::Approx(time(alone).raw()));
  placed.inside_ring = BytesPerSecond{10 * gigabyte};  // slower than the measured box
  CHECK(time(placed).raw() == doctest::Approx(1.75 * 0x1p30 / 10e9).epsilon(0.02));
}

TEST_CASE("published sweeps are met within 15 % from 1 MiB on, and NCCL switches where its trace does") {
  const std::string path = HEADROOM_SOURCE_DIR "/scenarios/published/collectives/all_reduce_busbw.csv";
  std::ifstream stream{path};
  REQUIRE(stream);
  Diagnostics diagnostics;
  CsvReader csv{stream, path, diagnostics};
  const Catalog catalog = Catalog::standard();
  const auto text = [&](std::string_view name) { return csv.fields()[*csv.column(name)]; };
  std::map<std::string, int> met;
  while (csv.next()) {
    const Device& device = catalog.device(text("gpu"));
    const CollectiveSet set = find_collective_set(test::model_data(), device.id);
    const std::int64_t gpus = *integer_of(text("gpus"));
    const Bytes bytes{std::stod(text("bytes"))};
    if (bytes.raw() < mib) {
      continue;
    }
    const NetworkCurve network =
        text("network").empty() ? NetworkCurve{} : find_transport(test::model_data(), text("network")).curve;
    const GroupView view = hosts_view(device, &catalog.node(text("node")), gpus, *integer_of(text("nodes")));
    const CollectiveTime t =
        collective_time(Collective::all_reduce, bytes, view, set.curves(text("nccl_version")), network);
    const Seconds called = t.time + set.eager_launch;  // the sweeps were called from Python
    const double busbw = (traffic_factor(Collective::all_reduce, gpus) * bytes / called).raw() / gigabyte;
    CAPTURE(text("id"));
    CAPTURE(busbw);
    CHECK(std::abs(busbw / std::stod(text("busbw_gbps")) - 1.0) < 0.15);
    ++met[device.id + " " + std::to_string(gpus)];
    if (device.id == "h200-sxm-141gb") {
      CHECK(t.algorithm == (bytes.raw() < 1.5 * mib ? nccl::Algorithm::ring : nccl::Algorithm::nvls));
      CHECK(t.protocol == (bytes.raw() < 1.5 * mib ? nccl::Protocol::ll : nccl::Protocol::simple));
    }
  }
  CHECK(diagnostics.empty());
  CHECK(met.at("h200-sxm-141gb 8") == 13);
  CHECK(met.at("b200-sxm-180gb 8") == 15);
  CHECK(met.at("b200-sxm-180gb 32") == 15);
}

TEST_CASE("NVLS is taken from five ranks on Hopper and six on Blackwell, as published by number of GPUs") {
  const Catalog catalog = Catalog::standard();
  const auto algorithm = [&](const char* sku, std::int64_t gpus) {
    const Device& device = catalog.device(sku);
    const GroupView view = hosts_view(device, catalog.reference_node(device), gpus);
    return collective_time(Collective::all_reduce, Bytes{0x1p34}, view,
                           find_collective_set(test::model_data(), sku).curves(), {})
        .algorithm;
  };
  CHECK(algorithm("h200-sxm-141gb", 4) == nccl::Algorithm::ring);
  CHECK(algorithm("h200-sxm-141gb", 5) == nccl::Algorithm::nvls);
  CHECK(algorithm("b200-sxm-180gb", 5) == nccl::Algorithm::ring);
  CHECK(algorithm("b200-sxm-180gb", 6) == nccl::Algorithm::nvls);
  CHECK(algorithm("a100-sxm-80gb", 8) == nccl::Algorithm::ring);
}

TEST_CASE("bus bandwidth by number of GPUs is the published one within 5 %") {
  // stas00/ml-engineering @ 744d01e, network/README.md: all-reduce at its largest size, GB/s.
  struct Row {
    const char* sku;
    std::int64_t gpus;
    double busbw;
  };
  constexpr std::array rows{
      Row{"h200-sxm-141gb", 4, 363.0}, Row{"h200-sxm-141gb", 5, 414.0}, Row{"h200-sxm-141gb", 6, 436.0},
      Row{"h200-sxm-141gb", 7, 460.0}, Row{"h200-sxm-141gb", 8, 473.0}, Row{"b200-sxm-180gb", 4, 673.0},
      Row{"b200-sxm-180gb", 5, 678.0}, Row{"b200-sxm-180gb", 6, 778.0}, Row{"b200-sxm-180gb", 7, 811.0},
      Row{"b200-sxm-180gb", 8, 838.0}, Row{"gb200-nvl72", 8, 850.0}};
  const Catalog catalog = Catalog::standard();
  for (const Row& row : rows) {
    CAPTURE(row.sku);
    CAPTURE(row.gpus);
    const Device& device = catalog.device(row.sku);
    const GroupView view = hosts_view(device, catalog.reference_node(device), row.gpus);
    const Bytes bytes{0x1p34};
    const Seconds time = collective_time(Collective::all_reduce, bytes, view,
                                         find_collective_set(test::model_data(), row.sku).curves(), {})
                             .time;
    const double busbw = (traffic_factor(Collective::all_reduce, row.gpus) * bytes / time).raw() / gigabyte;
    CHECK(std::abs(busbw / row.busbw - 1.0) < 0.05);
  }
}

TEST_CASE("a group is priced by the set measured on its kind of link") {
  const Catalog catalog = Catalog::standard();
  const Device& l40s = catalog.device("l40s");
  GroupView view = hosts_view(l40s, &catalog.node("l40s-pcie-8"), 8);
  CHECK(view.staged);
  CHECK(choose_collectives(test::model_data(), l40s, view).set.id == "l40s");
  CHECK(!hosts_view(l40s, &catalog.node("l40s-pcie-8"), 2).staged);
  // H100s that lost NVLink: PCIe with peer access, PCIe through the host.
  const Device& h100 = catalog.device("h100-sxm-80gb");
  GroupView fallen = hosts_view(h100, &catalog.node("dgx-h100"), 8);
  CHECK(choose_collectives(test::model_data(), h100, fallen).set.id == "h100-sxm-80gb");
  fallen.inside = LinkKind::pcie;
  CHECK(choose_collectives(test::model_data(), h100, fallen).set.id == "rtx-pro-6000-server");
  fallen.staged = true;
  CHECK(choose_collectives(test::model_data(), h100, fallen).set.id == "l40s");
  // Nobody measured xGMI.
  const Device& mi300x = catalog.device("mi300x");
  CHECK_THROWS_AS(static_cast<void>(choose_collectives(test::model_data(), mi300x,
                                                       hosts_view(mi300x, catalog.reference_node(mi300x), 8))),
                  ConfigError);
  CHECK_THROWS_AS(static_cast<void>(hosts_view(h100, &catalog.node("dgx-h100"), 9)), ConfigError);
}

TEST_CASE("experts' tokens between hosts go by kernels measured between hosts, of the SKU or of its generation") {
  const Catalog catalog = Catalog::standard();
  const auto chosen = [&](const char* gpu, std::int64_t nodes) {
    const Device& device = catalog.device(gpu);
    const Node* node = catalog.reference_node(device);
    const std::int64_t each = node->gpus;
    return choose_exchange(test::model_data(), device, hosts_view(device, node, nodes * each, nodes),
                           "deepep_ll_dispatch");
  };
  REQUIRE(chosen("h100-sxm-80gb", 1));
  CHECK(chosen("h100-sxm-80gb", 1)->why.find("0.5.12 on h100-sxm-80gb") != std::string::npos);
  CHECK(chosen("h100-sxm-80gb", 4)->why.find("0.5.6.post2 on h100-sxm-80gb") != std::string::npos);
  CHECK(chosen("h200-sxm-141gb", 1)->why.find("on h200-sxm-141gb") != std::string::npos);
  CHECK(chosen("h200-sxm-141gb", 4)->why.find("on h100-sxm-80gb") != std::string::npos);
  CHECK(chosen("h200-sxm-141gb", 4)->measured);
  CHECK_FALSE(chosen("b200-sxm-180gb", 4)->measured);  // nobody measured Blackwell's between hosts
  CHECK(chosen("b200-sxm-180gb", 1)->measured);
  CHECK_FALSE(chosen("a100-sxm-80gb", 1));
  const Device& h100 = catalog.device("h100-sxm-80gb");
  CHECK_FALSE(
      choose_exchange(test::model_data(), h100, hosts_view(h100, catalog.reference_node(h100), 8), "carrier_pigeon"));
}

TEST_CASE("bus bandwidth factors are those of nccl-tests") {
  CHECK(traffic_factor(Collective::all_reduce, 8) == doctest::Approx(1.75));
  for (const Collective c : {Collective::reduce_scatter, Collective::all_gather, Collective::all_to_all}) {
    CHECK(traffic_factor(c, 8) == doctest::Approx(0.875));
  }
  for (const Collective c : {Collective::broadcast, Collective::reduce, Collective::send_recv}) {
    CHECK(traffic_factor(c, 8) == doctest::Approx(1.0));
  }
}
