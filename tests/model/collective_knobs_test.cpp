// SPDX-License-Identifier: Apache-2.0
// Settings that no sweep measures: what they move, and how wide the interval is.
#include <headroom/model/collectives/collective_knobs.hpp>
#include <headroom/model/collectives/collective_library.hpp>

#include <doctest/doctest.h>

#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <cstdint>

namespace headroom {
namespace {

constexpr double p90 = 0.5;

/// Eight H100 on each of four hosts over InfiniBand, or on one.
struct Hosts {
  explicit Hosts(std::int64_t hosts) {
    const Catalog& catalog = test::catalog();
    const Device& device = catalog.device("h100-sxm-80gb");
    view = hosts_view(device, catalog.reference_node(device), 8 * hosts, hosts);
    curves = choose_collectives(test::model_data(), device, view).curves();
    network = find_transport(test::model_data(), "infiniband").curve;
  }
  [[nodiscard]] KnobbedTime price(CollectiveKnobs knobs, Collective collective, double bytes) const {
    return with_knobs(knobs, curves, network, view, {}, collective, Bytes{bytes}, p90);
  }
  GroupView view;
  CollectiveCurves curves;
  NetworkCurve network;
};

TEST_CASE("without knobs a time is the group's, its interval that of the curve") {
  const Hosts hosts{4};
  const KnobbedTime plain = hosts.price({}, Collective::all_reduce, 1e9);
  const CollectiveTime time =
      collective_time(Collective::all_reduce, Bytes{1e9}, hosts.view, hosts.curves, hosts.network);
  CHECK(plain.time.time == time.time);
  CHECK(plain.low == time.time / 1.5);
  CHECK(plain.high == 1.5 * time.time);
  CHECK(plain.notes.empty());
}

TEST_CASE("SHARP sends a NIC's share once, is no slower, and reaches up to the time without it") {
  const Hosts hosts{4};
  CollectiveKnobs knobs;
  knobs.sharp = true;
  const KnobbedTime plain = hosts.price({}, Collective::all_reduce, 1e9);
  const KnobbedTime sharp = hosts.price(knobs, Collective::all_reduce, 1e9);
  CHECK(sharp.time.time <= plain.time.time);
  CHECK(sharp.high == plain.high);
  CHECK(sharp.notes.size() == 1);
  // The links' bound is of what SHARP sends: 9/8 of the buffer through NVSwitch at 450 GB/s as long as an eighth at 50;
  // without it 3/16 leave a NIC.
  CHECK(sharp.links.raw() == doctest::Approx(2.5e-3));
  CHECK(plain.links.raw() == doctest::Approx(3.75e-3));
  CHECK(sharp.links <= sharp.time.time);
  // An eighth of the buffer, where two levels send 2 x 3/4 of it.
  CHECK(bytes_per_nic(knobs, sharp.time, hosts.view, Collective::all_reduce, Bytes{1e9}).raw() ==
        doctest::Approx(0.125e9));
  CHECK(bytes_per_nic({}, plain.time, hosts.view, Collective::all_reduce, Bytes{1e9}).raw() >= 1.5 * 0.125e9);
}

TEST_CASE("over the receiver's rail an all-to-all of a few bytes waits for fewer messages, of many for as many bytes") {
  const Hosts hosts{4};
  CollectiveKnobs knobs;
  knobs.pxn = true;
  const auto ratio = [&](double bytes) {
    return hosts.price(knobs, Collective::all_to_all, bytes).time.time /
           hosts.price({}, Collective::all_to_all, bytes).time.time;
  };
  CHECK(ratio(64e3) < 0.95);
  CHECK(ratio(1e9) == doctest::Approx(1.0).epsilon(0.05));
  // 24 of 32 ranks are on other hosts.
  CHECK(bytes_per_nic(knobs, {}, hosts.view, Collective::all_to_all, Bytes{1e9}).raw() == doctest::Approx(0.75e9));
  const KnobbedTime through = hosts.price(knobs, Collective::all_to_all, 1e9);
  CHECK(through.high >= 1.5 * through.time.time);
}

TEST_CASE("registered buffers keep the time, reach down to the links, and take four channels of NVLS, six on hosts") {
  CollectiveKnobs knobs;
  knobs.registered = true;
  const Hosts one{1}, four{4};
  const KnobbedTime plain = one.price({}, Collective::all_reduce, 1e9);
  const KnobbedTime registered = one.price(knobs, Collective::all_reduce, 1e9);
  CHECK(plain.time.algorithm == nccl::Algorithm::nvls);
  CHECK(registered.time.time == plain.time.time);
  CHECK(registered.low < plain.low);
  CHECK(registered.high == plain.high);
  CHECK(registered.time.channels == 4);
  const KnobbedTime across = four.price(knobs, Collective::all_reduce, 1e9);
  CHECK(across.time.algorithm == nccl::Algorithm::nvls_tree);
  CHECK(across.time.channels == 6);
  CHECK(bytes_per_nic(knobs, registered.time, one.view, Collective::all_reduce, Bytes{1e9}).raw() == 0.0);
}

}  // namespace
}  // namespace headroom
