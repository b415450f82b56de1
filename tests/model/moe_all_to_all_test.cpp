// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/custom_all_reduce.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace headroom;

namespace {

GroupView hosts(std::int64_t nodes) {
  GroupView view;
  view.ranks = 8 * nodes;
  view.domains = view.nodes = nodes;
  view.per_domain = 8;
  view.inside_ring = view.inside_all = BytesPerSecond{450e9};
  view.outside_ring = view.outside_all = BytesPerSecond{50e9};
  return view;
}

/// Only bytes count: no fixed times, the whole link, workers that never bind.
constexpr MoeExchangeCurve bytes_alone{0.0, 0.0, 0.0, 0.0, 1.0, 1e9, 1.0, 1.0};

}  // namespace

TEST_CASE("a token reaches r (1 - (1 - 1/r)^k) of r ranks") {
  CHECK(ranks_reached(1.0, 8.0) == doctest::Approx(1.0));
  CHECK(ranks_reached(2.0, 1.0) == doctest::Approx(1.0));
  CHECK(ranks_reached(2.0, 2.0) == doctest::Approx(1.5));
  CHECK(ranks_reached(8.0, 8.0) == doctest::Approx(8.0 * (1.0 - 5764801.0 / 16777216.0)));  // (7/8)^8
}

TEST_CASE("normal kernels send a token to a rank once, low-latency ones to each expert") {
  const MoeExchange e{1000.0, 100.0, 8.0, 256.0, 0.0};
  const MoeTransport& normal = *find_moe_transport("deepep_normal_combine");
  const MoeTransport& low = *find_moe_transport("deepep_ll_combine");
  const double once = ranks_reached(8.0, 8.0);
  CHECK(MoeExchangeModel(bytes_alone, normal, 132.0).sent(e, hosts(1)).raw() ==
        doctest::Approx(100.0 * once * 7.0 / 8.0 * 2000.0));
  CHECK(MoeExchangeModel(bytes_alone, low, 132.0).sent(e, hosts(1)).raw() ==
        doctest::Approx(100.0 * 8.0 * 7.0 / 8.0 * 2000.0));
  // The link alone, whole.
  CHECK(MoeExchangeModel(bytes_alone, low, 132.0).time(e, hosts(1)).raw() ==
        doctest::Approx(100.0 * 7.0 * 2000.0 / 450e9));
}

TEST_CASE("across hosts the NIC binds: one copy a node, or one an expert") {
  const MoeExchange e{7168.0, 4096.0, 8.0, 256.0, 20.0};
  const double row = 7168.0 * 2.0;
  const MoeTransport& normal = *find_moe_transport("deepep_normal_combine");
  const double reached = ranks_reached(4.0, 8.0);
  CHECK(MoeExchangeModel(bytes_alone, normal, 132.0).time(e, hosts(4)).raw() ==
        doctest::Approx(4096.0 * reached * 0.75 * row / 50e9).epsilon(0.02));
  // Beyond four nodes the rate of the NICs falls by `wide`; of low-latency kernels it does not.
  CHECK(MoeExchangeModel(bytes_alone, normal, 132.0).time(e, hosts(8)).raw() ==
        doctest::Approx(2.0 * 4096.0 * ranks_reached(8.0, 8.0) * 0.875 * row / 50e9).epsilon(0.02));
  const MoeTransport& low = *find_moe_transport("deepep_ll_combine");
  CHECK(MoeExchangeModel(bytes_alone, low, 132.0).time(e, hosts(8)).raw() ==
        doctest::Approx(4096.0 * 8.0 * 0.875 * row / 50e9).epsilon(0.02));
}

TEST_CASE("more SMs move more, until the link binds") {
  MoeExchangeCurve curve = bytes_alone;
  curve[static_cast<std::size_t>(MoeExchangeParameter::worker)] = 1.0;  // a hundredth of the link each
  const MoeTransport& normal = *find_moe_transport("deepep_normal_dispatch");
  const auto at = [&](double sms) {
    return MoeExchangeModel(curve, normal, 132.0).time({7168.0, 4096.0, 8.0, 256.0, sms}, hosts(1)).raw();
  };
  CHECK(at(8.0) == doctest::Approx(0.5 * at(4.0)).epsilon(0.01));
  CHECK(at(1000.0) > 0.9 * at(2000.0));
}

TEST_CASE("custom all-reduce: one shot, two shots, then NCCL") {
  CollectiveCurves library;
  for (const RingParameter p : {RingParameter::share_2, RingParameter::share_4, RingParameter::share_8}) {
    library.all_reduce[static_cast<std::size_t>(p)] = 1.0;
  }
  // launch, hop, one, two, barrier, limit, fall, library 2 4 8, host and its hop
  const CustomCurve curve{2e-6, 0.0, 1.0, 1.0, 3e-6, 0x1p23, 2.0, 1.0, 1.0, 1.1, 20e-6, 0.0};
  const GroupView view = hosts(1);
  const Seconds nccl{1e-3};
  const CustomAllReduceModel model{curve, library, false};
  const double small = 65536.0;
  CHECK(model.time(Bytes{small}, view, nccl).raw() == doctest::Approx(2e-6 + 7.0 * small / 450e9));
  const double middle = 0x1p20;
  CHECK(model.time(Bytes{middle}, view, nccl).raw() == doctest::Approx(5e-6 + 1.75 * middle / 450e9));
  // 8 MiB for two ranks, halved by every doubling: 2 MiB for eight.
  CHECK(model.time(Bytes{0x1p21}, view, nccl).raw() == doctest::Approx(1.1e-3));
  // Outside a graph a kernel hides under the call.
  CHECK(CustomAllReduceModel(curve, library, true).time(Bytes{small}, view, nccl).raw() ==
        doctest::Approx(20e-6).epsilon(1e-3));
}
