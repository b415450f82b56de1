// SPDX-License-Identifier: Apache-2.0
// Collectives from the probe to the overlay, on GPUs of a node that does not exist.
#include <headroom/calibrate/import/import_samples.hpp>
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/calibrate/samples/timing_check.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "simulated.hpp"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

using namespace headroom;
using namespace headroom::test;

namespace {

const Catalog& standard() {
  static const Catalog catalog = Catalog::standard();
  return catalog;
}

const Device& h200() {
  return standard().device("h200-sxm-141gb");
}

std::string node_of(std::int64_t gpus, const std::string& more = "") {
  return "[collectives]\ngpus = " + std::to_string(gpus) + "\n" + more +
         "[collectives.ring]\nlaunch = \"5.0 us\"\nll_hop = \"0.85 us\"\nsimple_hop = \"9.5 us\"\nshare_2 = 0.65\n"
         "share_4 = 0.74\nshare_8 = 0.77\nnvls_rate = 0.66\n"
         "[collectives.pairs]\nlaunch = \"6.0 us\"\nshare_2 = 0.68\nshare_4 = 0.71\nshare_8 = 0.70\n";
}

ProbePlan collectives_of(const Prober& prober, bool quick = false) {
  ProbeChoice choice = ProbeChoice::none();
  choice.collectives = true;
  choice.quick = quick;
  return plan_probes(prober.device(), choice);
}

struct Measured {
  ScratchFolder folder;
  std::shared_ptr<SimulatedProber> prober;
  Calibration calibration;
  SampleSet set;
};

std::unique_ptr<Measured> measured(const std::string& device, bool quick = false) {
  auto result = std::make_unique<Measured>();
  result->prober = simulated_prober(device);
  const std::string folder = result->folder.path().string();
  SampleJournal journal{folder};
  const ProbePlan plan = collectives_of(*result->prober, quick);
  result->calibration = calibrate(result->prober, result->prober, &h200(), plan, {}, journal, nullptr, nullptr);
  result->set = sample_set_of(result->calibration, *result->prober, folder);
  return result;
}

Overlay overlay_of(const Measured& m, const std::string& id = "h200-sxm-141gb") {
  return make_overlay(ModelData::standard(), m.set, h200(), standard().reference_node(h200()), id);
}

/// The fitted value of a parameter of an op's curve.
double value(const Overlay& overlay, std::string_view op, std::string_view name) {
  for (const OverlayCurve& curve : overlay.curves) {
    const FittedGroup& fitted = curve.fitted;
    for (std::size_t i = 0; fitted.group.format == op && i < fitted.problem.parameters.size(); ++i) {
      if (fitted.problem.parameters[i].name == name) {
        return fitted.fit.result.parameters[i].value;
      }
    }
  }
  return 0.0;
}

}  // namespace

TEST_CASE("every collective is measured on pairs, powers of two and the whole node, from 512 B to 4 GiB") {
  CHECK(group_sizes(1).empty());
  CHECK(group_sizes(2) == std::vector<std::int64_t>{2});
  CHECK(group_sizes(6) == std::vector<std::int64_t>{2, 4, 6});
  CHECK(group_sizes(8) == std::vector<std::int64_t>{2, 4, 8});
  const std::vector<CollectiveProbe> probes = plan_collectives(8, false);
  CHECK(probes.size() == 3 * 7 * 24);
  std::set<std::string> names;
  for (const CollectiveProbe& probe : probes) {
    names.insert(name_of(probe));
  }
  CHECK(names.size() == probes.size());
  CHECK(names.count("all_reduce x8 512 B") == 1);
  CHECK(names.count("all_to_all x2 4294967296 B") == 1);
  const std::vector<CollectiveProbe> few = plan_collectives(8, true);
  CHECK(few.size() == 2 * 7 * 12);
  for (const CollectiveProbe& probe : few) {  // a journal of one reads as the other's
    CHECK(names.count(name_of(probe)) == 1);
  }
  // What is cut among six ranks is whole for each of them: 16 elements of two bytes.
  for (const CollectiveProbe& probe : plan_collectives(6, false)) {
    const bool cut = probe.collective == Collective::all_gather || probe.collective == Collective::reduce_scatter ||
                     probe.collective == Collective::all_to_all;
    CHECK(probe.bytes % (cut ? probe.ranks * 32 : 2) == 0);
  }
  CHECK(memory_of(CollectiveProbe{Collective::all_gather, 8, 8000}) == Bytes{9000.0});
  CHECK(memory_of(CollectiveProbe{Collective::all_to_all, 8, 8000}) == Bytes{16000.0});
}

TEST_CASE("one GPU has no collectives: asked for they are refused with the way out, else nothing is said") {
  const auto alone = simulated_prober();
  const ProbePlan asked = collectives_of(*alone);
  CHECK(asked.probes.empty());
  REQUIRE(asked.skipped.size() == 1);
  CHECK(says(asked.skipped[0].why, "this process sees one"));
  CHECK(says(asked.skipped[0].why, "CUDA_VISIBLE_DEVICES"));
  CHECK(plan_probes(alone->device(), {}).skipped.empty());
  ProbeDevice node = alone->device();
  node.group = 8;
  const ProbePlan without = plan_probes(node, {});
  REQUIRE(without.skipped.size() == 1);
  CHECK(says(without.skipped[0].why, "libnccl.so.2 was not found"));
}

TEST_CASE("bus bandwidth is nccl-tests', and samples read back as the measured collectives of others do") {
  // nccl-tests, doc/PERFORMANCE.md: busbw = algbw x 2(n-1)/n for all-reduce, (n-1)/n where the buffer is cut, else 1.
  const auto bus = [](Collective c) { return bus_bandwidth({c, 8, 1 << 30}, Seconds{4e-3}).raw() / 1e9; };
  const double algbw = 1073741824.0 / 4e-3 / 1e9;
  CHECK(bus(Collective::all_reduce) == doctest::Approx(1.75 * algbw));
  CHECK(bus(Collective::all_gather) == doctest::Approx(0.875 * algbw));
  CHECK(bus(Collective::broadcast) == doctest::Approx(algbw));
  Sample sample;
  sample.probe = CollectiveProbe{Collective::all_to_all, 8, 1 << 20};
  sample.latency = Seconds{40e-6};
  sample.predicted = Seconds{32e-6};
  Sample other = sample;
  other.probe = CollectiveProbe{Collective::send_recv, 2, 1 << 20};
  other.predicted = {};
  const std::vector<Sample> samples{sample, other};
  const std::vector<FolderFile> files = collective_files(samples, "2.28.9");
  REQUIRE(files.size() == 2);
  CHECK(files[0].second ==
        "nccl_version,op,gpus,dtype,bytes,latency_us\n2.28.9,alltoall,8,half,1048576,40\n"
        "2.28.9,sendrecv,2,half,1048576,40\n");
  CHECK(says(files[1].second, "alltoall,8,half,1048576,40,26.214,22.938,32,,\n"));
  CHECK(says(files[1].second, "sendrecv,2,half,1048576,40,26.214,26.214,,,\n"));
  std::istringstream stream{files[0].second};
  Diagnostics diagnostics;
  const KernelFile file = read_kernel_rows(stream, "nccl.csv", std::nullopt, diagnostics);
  CHECK(diagnostics.empty());
  REQUIRE(file.rows.size() == 2);
  CHECK(file.kind == KernelKind::nccl);
  CHECK(nccl_collective(file.rows[0].format) == Collective::all_to_all);
  CHECK(nccl_collective(file.rows[1].format) == Collective::send_recv);
}

TEST_CASE("a collective faster than the links allow is no timing") {
  Sample sample;
  sample.probe = CollectiveProbe{Collective::all_reduce, 8, std::int64_t{1} << 30};
  // 450 GB/s of NVLink each way (H200 datasheet): at least 2.39 ms for what every rank must send.
  sample.latency = Seconds{2.0e-3};
  CHECK(says(too_fast(sample, h200()).value_or(""), "allows no less than 2.39 ms"));
  sample.latency = Seconds{2.5e-3};
  CHECK_FALSE(too_fast(sample, h200()));
  sample.probe = CollectiveProbe{Collective::all_to_all, 8, std::int64_t{1} << 30};
  sample.latency = Seconds{2.2e-3};  // seven eighths
  CHECK_FALSE(too_fast(sample, h200()));
}

TEST_CASE("the constants of collectives come back within 2 % under 3 % of noise and 5 % of outliers") {
  const auto m = measured(node_of(4) + "[noise]\nspread = 0.03\noutliers = 0.05\noutlier_factor = 3.0\n");
  const Overlay overlay = overlay_of(*m);
  REQUIRE(overlay.curves.size() == 4);
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter"}) {
    CAPTURE(op);
    CHECK(value(overlay, op, "launch") * 1e6 == doctest::Approx(5.0).epsilon(0.02));
    CHECK(value(overlay, op, "ll_hop") * 1e6 == doctest::Approx(0.85).epsilon(0.02));
    CHECK(value(overlay, op, "simple_hop") * 1e6 == doctest::Approx(9.5).epsilon(0.02));
    CHECK(value(overlay, op, "share_2") == doctest::Approx(0.65).epsilon(0.02));
    CHECK(value(overlay, op, "share_4") == doctest::Approx(0.74).epsilon(0.02));
  }
  CHECK(value(overlay, "alltoall", "launch") * 1e6 == doctest::Approx(6.0).epsilon(0.02));
  CHECK(value(overlay, "alltoall", "share_2") == doctest::Approx(0.68).epsilon(0.02));
  CHECK(value(overlay, "alltoall", "share_4") == doctest::Approx(0.71).epsilon(0.02));
  for (const OverlayCurve& curve : overlay.curves) {
    CHECK(curve.within80 < 0.02);
    CHECK(curve.slower.has_value());
    CHECK(says(curve.base, "h200-sxm-141gb"));
  }
  // Broadcast has no curve of its own: simulated by the same equations it costs what all-gather's gives it.
  const auto fact = std::find_if(overlay.facts.begin(), overlay.facts.end(),
                                 [](const OverlayFact& f) { return says(f.what, "time of broadcast over its price"); });
  REQUIRE(fact != overlay.facts.end());
  CHECK(std::abs(fact->difference.value_or(1.0)) < 0.02);
}

TEST_CASE("the overlay's collectives stand before the base's, which keep what was not measured") {
  const auto m = measured(node_of(8), true);
  const ScratchFolder data;
  for (const char* id : {"h200-sxm-141gb", "h200-rack-7"}) {
    CAPTURE(id);
    for (const auto& [name, text] : overlay_files(overlay_of(*m, id))) {
      std::filesystem::create_directories((data.path() / name).parent_path());
      std::ofstream{data.path() / name} << text;
    }
    setenv("HEADROOM_DATA_DIR", data.path().c_str(), 1);
    const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device(id);
    CollectiveSet set;
    CHECK_NOTHROW(set = find_collective_set(ModelData::standard(), device.curves));
    unsetenv("HEADROOM_DATA_DIR");
    CHECK(set.id == id);
    REQUIRE_FALSE(set.ring.empty());
    CHECK(set.ring.front().provenance.version == "2.28.9");
    CHECK(set.graphs.ring_channels ==
          find_collective_set(ModelData::standard(), "h200-sxm-141gb").graphs.ring_channels);
    CHECK_FALSE(set.custom.empty());
    CHECK_FALSE(set.moe.empty());
    const double share = set.curves().all_gather[static_cast<std::size_t>(RingParameter::share_8)];
    CHECK(share == doctest::Approx(0.77).epsilon(0.01));
  }
}

TEST_CASE("an overlay of another id without collectives leaves those of its base in sight") {
  const auto prober = simulated_prober();
  const ScratchFolder folder;
  SampleJournal journal{folder.path().string()};
  const Calibration copies =
      calibrate(prober, prober, &h200(), bf16_and_copies(*prober, false, true), {}, journal, nullptr, nullptr);
  const SampleSet set = sample_set_of(copies, *prober, folder.path().string());
  const Overlay named = make_overlay(ModelData::standard(), set, h200(), nullptr, "h200-rack-7");
  CHECK(named.collectives_toml == "schema = 1\nid = \"h200-rack-7\"\nbase = \"h200-sxm-141gb\"\n");
  CHECK(make_overlay(ModelData::standard(), set, h200(), nullptr, "h200-sxm-141gb").collectives_toml.empty());
}

TEST_CASE("products of a GPU alone and collectives of its node are fitted together, of two versions of NCCL not") {
  const auto node = measured(node_of(8), true);
  const auto alone = simulated_prober();
  const ScratchFolder folder;
  SampleJournal journal{folder.path().string()};
  const Calibration copies =
      calibrate(alone, alone, &h200(), bf16_and_copies(*alone, false, true), {}, journal, nullptr, nullptr);
  static_cast<void>(sample_set_of(copies, *alone, folder.path().string()));
  const std::string other = node->folder.path().string();
  const SampleSet both = read_sample_folders({folder.path().string(), other});
  const Overlay overlay =
      make_overlay(ModelData::standard(), both, h200(), standard().reference_node(h200()), "h200-sxm-141gb");
  CHECK(overlay.curves.size() == 5);
  CHECK(says(overlay.source, "NCCL 2.28.9"));
  const auto newer = measured(node_of(8, "nccl = \"2.30.7\"\n"), true);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_sample_folders({other, newer->folder.path().string()})),
                       doctest::Contains("NCCL 2.28.9 and 2.30.7"), ConfigError);
  // Also behind a folder that has no NCCL of its own.
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read_sample_folders({folder.path().string(), other, newer->folder.path().string()})),
      doctest::Contains("NCCL 2.28.9 and 2.30.7"), ConfigError);
}

TEST_CASE("bases of collectives that lead back to themselves or to nothing are refused with the file") {
  const ScratchFolder data;
  std::filesystem::create_directories(data.path() / "collectives");
  const auto write = [&](const std::string& id, const std::string& base) {
    std::ofstream{data.path() / "collectives" / (id + ".toml")} << "schema = 1\nid = \"" << id << "\"\nbase = \""
                                                                << base << "\"\n";
  };
  write("one", "two");
  write("two", "one");
  write("three", "nobodys");
  setenv("HEADROOM_DATA_DIR", data.path().c_str(), 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_collective_set(ModelData::standard(), "one")),
                       doctest::Contains("leads back to itself"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_collective_set(ModelData::standard(), "three")),
                       doctest::Contains("base 'nobodys' is no set of measured collectives"), ConfigError);
  unsetenv("HEADROOM_DATA_DIR");
}

TEST_CASE("collectives that fail or come out wrong are skipped with the reason, and the others are fitted") {
  const auto m = measured(node_of(4, "fails = \"broadcast x4\"\nwrong = \"reduce x2 \"\n"), true);
  const auto skipped_for = [&](const char* why) {
    return std::count_if(m->calibration.skipped.begin(), m->calibration.skipped.end(),
                         [&](const Skipped& s) { return says(s.why, why); });
  };
  CHECK(skipped_for("unhandled system error") == 12);
  CHECK(skipped_for("came out wrong on rank 1: it was not timed") == 12);
  CHECK(m->calibration.samples().size() == 2 * 7 * 12 - 24);
  CHECK(overlay_of(*m).curves.size() == 4);
}

TEST_CASE("a collective that hangs ends the calibration, and a resumption goes on behind it") {
  const ScratchFolder scratch;
  CalibrationRules rules;
  rules.patience = Seconds{0.05};
  SampleJournal journal{scratch.path().string()};
  const auto hangs = simulated_prober(node_of(2) + "[faults]\nhangs_at = \"all_reduce x2 2048 B\"\n");
  const ProbePlan plan = collectives_of(*hangs, true);
  CHECK_THROWS_WITH_AS(static_cast<void>(calibrate(hangs, hangs, &h200(), plan, rules, journal, nullptr, nullptr)),
                       doctest::Contains("the device failed at all_reduce x2 2048 B: hangs: no answer within 50.0 ms"),
                       DeviceError);
  const auto well = simulated_prober(node_of(2));
  const Calibration rest = calibrate(well, well, &h200(), plan, {}, journal, nullptr, nullptr);
  CHECK(rest.samples().size() == plan.probes.size() - 1);
}

TEST_CASE("too few collectives are refused, and a node that the SKU does not join is told") {
  auto m = measured(node_of(2), true);  // one group in steps of four: twelve of each
  CHECK_THROWS_WITH_AS(static_cast<void>(overlay_of(*m)),
                       doctest::Contains("12 of all_gather cannot be fitted, at least 20 are needed"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(simulated(node_of(16))),
                       doctest::Contains("16 GPUs do not fit one domain of h200-sxm-141gb, which joins 8"),
                       ConfigError);
}
