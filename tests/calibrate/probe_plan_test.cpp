// SPDX-License-Identifier: Apache-2.0
// The plan measures what a fit needs, keeps its data out of L2, and asks of a device only what it can do and hold.
#include <headroom/calibrate/samples/probe_plan.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <tuple>

using namespace headroom;

namespace {

ProbeDevice hopper() {
  ProbeDevice device;
  device.name = "NVIDIA H200";
  device.capability = 90;
  device.sms = 132;
  device.l2 = Bytes{50.0 * 0x1p20};
  device.memory = Bytes{140.0 * 0x1p30};
  device.free_memory = Bytes{139.0 * 0x1p30};
  return device;
}

template <class P>
std::vector<P> of(const ProbePlan& plan) {
  std::vector<P> probes;
  for (const Probe& probe : plan.probes) {
    if (const P* found = std::get_if<P>(&probe)) {
      probes.push_back(*found);
    }
  }
  return probes;
}

}  // namespace

TEST_CASE("the GEMM shapes are 48 different ones, m 1 to 8192, on weights from 128 x 64 to 16384 x 2560") {
  const std::vector<ProbeShape> shapes = probe_shapes();
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> different;
  for (const ProbeShape& s : shapes) {
    different.emplace(s.m, s.n, s.k);
    CHECK(s.n % 16 == 0);  // cuBLASLt's e4m3 needs rows of a multiple of 16 bytes
    CHECK(s.k % 16 == 0);
  }
  CHECK(shapes.size() == 48);
  CHECK(different.size() == 48);
  CHECK(different.count({1, 128, 64}) == 1);
  CHECK(different.count({8192, 16384, 2560}) == 1);
  CHECK(different.count({256, 512, 16384}) == 1);
}

TEST_CASE("weights and arrays in turn exceed twice the L2 on every device, and weights have at least two copies") {
  for (const double l2_mib : {0.0, 4.0, 40.0, 50.0, 96.0, 126.0}) {
    CAPTURE(l2_mib);
    ProbeDevice device = hopper();
    device.l2 = Bytes{l2_mib * 0x1p20};
    const ProbePlan plan = plan_probes(device, {});
    CHECK(plan.skipped.empty());
    for (const GemmProbe& p : of<GemmProbe>(plan)) {
      const auto weight = static_cast<double>(operand_bytes(p.type, p.n * p.k));
      CHECK(static_cast<double>(p.copies) * weight > 2.0 * device.l2.raw());
      CHECK(p.copies >= 2);
    }
    for (const CopyProbe& p : of<CopyProbe>(plan)) {
      CHECK(static_cast<double>(p.copies) * p.moved().raw() > 2.0 * device.l2.raw());
    }
  }
  CHECK(rotation_copies(1 << 20, Bytes{0x1p20}) == 3);  // exactly twice would not exceed
  CHECK(rotation_copies(1 << 20, Bytes{}) > 128);       // unknown L2: beyond any
}

TEST_CASE("a Hopper gets all four types, two sustained runs each at the end, copies to 4 GiB and six kinds of launch") {
  const ProbePlan plan = plan_probes(hopper(), {});
  const std::vector<GemmProbe> gemms = of<GemmProbe>(plan);
  const auto sustained = [](const GemmProbe& p) { return p.sustained > Seconds{}; };
  CHECK(gemms.size() == 4 * (48 + 2));
  CHECK(std::count_if(gemms.begin(), gemms.end(), sustained) == 8);
  for (std::size_t i = plan.probes.size() - 8; i < plan.probes.size(); ++i) {
    const auto* gemm = std::get_if<GemmProbe>(&plan.probes[i]);
    REQUIRE(gemm != nullptr);
    CHECK(gemm->sustained >= Seconds{5.0});
    CHECK(std::min({gemm->m, gemm->n, gemm->k}) == 8192);
  }
  const std::vector<CopyProbe> copies = of<CopyProbe>(plan);
  CHECK(copies.size() == 3 * 21);
  CHECK(copies.front().array_bytes == 4096);
  CHECK(copies.back().array_bytes == std::int64_t{4} << 30);
  CHECK(of<LaunchProbe>(plan).size() == (3 * 6) + 4);
}

TEST_CASE("fp8 is skipped with the reason before compute capability 8.9, once and not per shape") {
  ProbeDevice device = hopper();
  device.capability = 80;
  const ProbePlan plan = plan_probes(device, {});
  REQUIRE(plan.skipped.size() == 1);
  CHECK(plan.skipped.front().probe == "gemm fp8");
  CHECK(plan.skipped.front().why == "needs compute capability 8.9; this device has 8.0");
  for (const GemmProbe& p : of<GemmProbe>(plan)) {
    CHECK(p.type != GemmType::fp8);
  }
  device.capability = 89;
  CHECK(plan_probes(device, {}).skipped.empty());
}

TEST_CASE("what does not fit into free memory is skipped and says how much it needs") {
  ProbeDevice device = hopper();
  device.free_memory = Bytes{4.0 * 0x1p30};
  const ProbePlan plan = plan_probes(device, {});
  REQUIRE(!plan.skipped.empty());
  CHECK(plan.skipped.back().why.find("needs ") == 0);
  for (const Probe& probe : plan.probes) {
    CHECK(memory_of(probe) <= device.free_memory);
  }
}

TEST_CASE("--only and --quick leave out what they say") {
  ProbeChoice choice = ProbeChoice::none();
  choice.gemm = true;
  choice.types = {GemmType::bf16};
  CHECK(plan_probes(hopper(), choice).probes.size() == 48 + 2);
  choice.quick = true;
  const ProbePlan quick = plan_probes(hopper(), choice);
  CHECK(quick.probes.size() == 16);
  CHECK(quick.effort.repeats < ProbeEffort{}.repeats);
}

TEST_CASE("probes have names that tell them apart") {
  std::set<std::string> names;
  const ProbePlan plan = plan_probes(hopper(), {});
  for (const Probe& probe : plan.probes) {
    names.insert(name_of(probe));
  }
  CHECK(names.size() == plan.probes.size() - 4);  // the second sustained run of each type repeats the first
  CHECK(name_of(GemmProbe{GemmType::fp8, 16, 128, 64, 1, {}}) == "gemm fp8 16x128x64");
  CHECK(name_of(CopyProbe{CopyOp::triad, 4096, 1}) == "triad 4096 B");
  CHECK(name_of(LaunchProbe{LaunchOp::graph, 64}) == "graph 64");
}
