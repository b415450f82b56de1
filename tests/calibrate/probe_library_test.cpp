// SPDX-License-Identifier: Apache-2.0
// Probes through the C border and NVML through its own, against a library of a device that does not exist.
#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/probe/probe_library.hpp>
#include <headroom/calibrate/probe/probed_layer.hpp>
#include <headroom/calibrate/samples/probe_run.hpp>

#include <dlfcn.h>
#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <cstdlib>

using namespace headroom;
using headroom::test::says;

namespace {

/// Sets an environment variable for one scope.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_{name} { setenv(name, value, 1); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

std::string refusal(const char* library, const char* fault, std::int64_t device = 0) {
  const Setting named{"HEADROOM_PROBES_LIBRARY", library};
  const Setting wrong{"FAKE_PROBES", fault};
  try {
    (void)open_prober(device);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

ProbePlan bf16_plan(const Prober& prober, bool quick) {
  ProbeChoice choice = ProbeChoice::none();
  choice.gemm = true;
  choice.types = {GemmType::bf16};
  choice.quick = quick;
  return plan_probes(prober.device(), choice);
}

}  // namespace

TEST_CASE("a missing library, a wrong one, another ABI, no device and no kernels each say what is missing") {
  CHECK(says(refusal("/nowhere/libheadroom_probes.so", ""), "cannot be opened"));
  Dl_info standard{};
  REQUIRE(dladdr(reinterpret_cast<const void*>(&std::getenv), &standard) != 0);  // a library, and no probe library
  CHECK(says(refusal(standard.dli_fname, ""), "no symbol headroom_probes_table"));
  CHECK(says(refusal(HEADROOM_FAKE_PROBES, "abi"), "speaks version 6 of the probe interface, this headroom 5"));
  CHECK(says(refusal(HEADROOM_FAKE_PROBES, "none"), "no CUDA device: no CUDA-capable device is detected"));
  CHECK(says(refusal(HEADROOM_FAKE_PROBES, "open"), "no kernel image is available"));
  CHECK(says(refusal(HEADROOM_FAKE_PROBES, "", 1), "no CUDA device 1; this process sees 1"));
}

TEST_CASE("a request and its result cross the border unchanged") {
  const Setting named{"HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES};
  const std::unique_ptr<Prober> prober = open_prober(0);
  CHECK(prober->device().name == "NVIDIA H200");
  CHECK(prober->device().capability == 90);
  CHECK(prober->device().l2 == Bytes{50.0 * 0x1p20});
  // In microseconds: doctest's Approx adds an absolute tolerance, which would hide them in seconds.
  const auto latency_us = [&](const Probe& probe) {
    return std::get<Sample>(prober->measure(probe, {})).latency.raw() * 1e6;
  };
  CHECK(latency_us(GemmProbe{GemmType::bf16, 8192, 4096, 1024, 2, {}}) ==
        doctest::Approx(2.0 + 2.0 * 8192 * 4096 * 1024 / 700e6));
  CHECK(latency_us(CopyProbe{CopyOp::triad, 1 << 20, 1}) == doctest::Approx(2.0 + 3.0 * (1 << 20) / 4e6));
  CHECK(latency_us(CopyProbe{CopyOp::copy, 1 << 20, 1}) == doctest::Approx(2.0 + 2.0 * (1 << 20) / 4e6));
  CHECK(latency_us(LaunchProbe{LaunchOp::graph, 64}) == doctest::Approx(2.0));
  // Every field of the other kinds has a weight of its own in the imaginary device's sum, in 1e-12 s.
  const auto told = [&](const Probe& probe) { return (latency_us(probe) - 2.0) * 1e6; };
  CHECK(
      told(AttentionProbe{true, 4, 512, 32, 8, 128, true, 2}) ==
      doctest::Approx(1 + 10 * 4 + 100 * 512 + 1000 * 32 + 10000 * 8 + 100000 * 128 + 3 + 13 * 2 + 3e9).epsilon(1e-12));
  CHECK(told(DecodeProbe{64, 4096, 32, 8, 128, 3}) ==
        doctest::Approx(10 * 64 + 100 * 4096 + 1000 * 32 + 10000 * 8 + 100000 * 128 + 13 * 3 + 4e9).epsilon(1e-12));
  CHECK(told(PassProbe{PassOp::gather, 1 << 20, 256, 5}) ==
        doctest::Approx(3 + 7 * 256 + (1 << 20) + 13 * 5 + 5e9).epsilon(1e-12));
  CHECK(told(TransferProbe{TransferOp::peer_both, 1 << 20, 5}) ==
        doctest::Approx(7 + (1 << 20) + 13 * 5 + 6e9).epsilon(1e-12));
  CHECK(told(UnitProbe{UnitOp::banks, 33, 8192, 5}) ==
        doctest::Approx(3 + 7 * 33 + 11 * 8192 + 13 * 5 + 9e9).epsilon(1e-12));
  // A layer crosses as its kernels, in their order, each as often as it runs.
  double kernels_us = 0.0;
  const LayerProbe layer{ProbedPass::experts_forward, 8192};
  for (const ProbedKernel& kernel : kernels_of(layer)) {
    kernels_us += static_cast<double>(kernel.count) * latency_us(kernel.probe);
  }
  CHECK(latency_us(layer) == doctest::Approx(kernels_us));
  CHECK(prober->device().cudnn == "9.19.0");
  CHECK(prober->device().peers == 0);
  const Sample sustained =
      std::get<Sample>(prober->measure(GemmProbe{GemmType::bf16, 8192, 8192, 8192, 2, Seconds{5.0}}, {}));
  CHECK(sustained.lasted == Seconds{5.0});
  CHECK(sustained.first < sustained.latency);
  CHECK(sustained.algorithms == 7);
  CHECK(sustained.spans == ProbeEffort{}.repeats);
}

TEST_CASE("a collective and what NCCL expects of it cross the border, a lone GPU has neither") {
  const Setting named{"HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES};
  CHECK(open_prober(0)->device().group == 1);
  CHECK(open_prober(0)->device().nccl.empty());
  const Setting node{"FAKE_PROBES", "node"};
  const std::unique_ptr<Prober> prober = open_prober(0);
  CHECK(prober->device().group == 4);
  CHECK(prober->device().nccl == "2.28.9");
  const Sample sample = std::get<Sample>(prober->measure(CollectiveProbe{Collective::all_gather, 4, 1 << 20}, {}));
  CHECK(sample.latency.raw() * 1e6 == doctest::Approx(8.0 + 1048576.0 / 200e3));
  CHECK(sample.predicted / sample.latency == doctest::Approx(0.8));
}

TEST_CASE("a refused probe is skipped with its reason and the others go on, a lost device ends the run") {
  const Setting named{"HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES};
  const std::unique_ptr<Prober> prober = open_prober(0);
  {
    const Setting wrong{"FAKE_PROBES", "refuse"};
    const ProbeRun run = run_probes(*prober, nullptr, bf16_plan(*prober, true), nullptr);
    CHECK(run.samples.size() == 8);
    REQUIRE(run.skipped.size() == 8);
    CHECK(run.skipped.front().probe == "gemm bf16 1x128x64");
    CHECK(says(run.skipped.front().why, "no algorithm"));
  }
  const Setting wrong{"FAKE_PROBES", "lost"};
  CHECK_THROWS_AS(run_probes(*prober, nullptr, bf16_plan(*prober, true), nullptr), DeviceError);
}

TEST_CASE("NVML's answers get their units, calls that the driver lacks or refuses stay empty") {
  std::string why;
  const std::unique_ptr<Nvml> nvml = Nvml::open("0000:01:00.0", why, HEADROOM_FAKE_PROBES);
  REQUIRE(nvml != nullptr);
  CHECK(why.empty());
  const DeviceReading reading = nvml->read();
  CHECK(reading.sm_clock == Hertz{1755e6});
  CHECK(reading.memory_clock == Hertz{3201e6});
  CHECK(reading.power.value().raw() == doctest::Approx(412.345));
  CHECK(reading.temperature_celsius == 41);
  CHECK(reading.busy_percent == 3);
  CHECK(reading.throttle == 0x1004);
  CHECK(reading.pcie_generation == 5);
  CHECK(reading.pcie_width == 16);
  const DeviceSettings settings = nvml->settings();
  CHECK(settings.driver == "580.82.07");
  CHECK(settings.sm_clock_max == Hertz{1980e6});
  CHECK(settings.power_limit == Watts{700.0});
  CHECK(!settings.power_limit_default);
  CHECK(settings.ecc == true);
  CHECK(!settings.mig);
  CHECK(throttle_names(0x1004) == std::vector<std::string>{"sw_power_cap", "0x1000"});
  CHECK(slowing(0x5) == 0x4);
  CHECK(settings.board == "692-2G520-0200-000");
  CHECK(settings.mark.size() == 8);
  CHECK(settings.mark.find("0000") == std::string::npos);  // nothing of the UUID shows
  CHECK(nvml->others().empty());
  const Setting busy{"FAKE_PROBES", "busy"};
  const std::vector<DeviceProcess> others = nvml->others();
  REQUIRE(others.size() == 1);  // not this process
  CHECK(others[0].id == 4711);
  CHECK(others[0].name == "/usr/bin/python3");
  CHECK(others[0].memory == Bytes{12.0 * 0x1p30});
}

TEST_CASE("without NVML, or without the device in it, the reason is told") {
  std::string why;
  CHECK(Nvml::open("0000:01:00.0", why, "/nowhere/libnvidia-ml.so.1") == nullptr);
  CHECK(says(why, "cannot be opened"));
  CHECK(Nvml::open("0000:99:00.0", why, HEADROOM_FAKE_PROBES) == nullptr);
  CHECK(says(why, "Not Found"));
  CHECK(Nvml::open("0000:01:00.0", why, "libm.so.6") == nullptr);
  CHECK(says(why, "lacks nvmlInit_v2"));
}

TEST_CASE("a sustained run is watched: clocks, power and why it slows") {
  const Setting named{"HEADROOM_PROBES_LIBRARY", HEADROOM_FAKE_PROBES};
  const std::unique_ptr<Prober> prober = open_prober(0);
  std::string why;
  const std::unique_ptr<Nvml> nvml = Nvml::open(prober->device().pci_bus_id, why, HEADROOM_FAKE_PROBES);
  std::size_t calls = 0;
  const ProbeRun run =
      run_probes(*prober, nvml.get(), bf16_plan(*prober, false), [&](std::size_t done, std::size_t all, const Probe&) {
        CHECK(done == calls);
        CHECK(all == 50);
        ++calls;
      });
  CHECK(calls == 50);
  REQUIRE(run.samples.size() == 50);
  CHECK(run.samples.back().sm_clock == Hertz{1755e6});
  CHECK(run.samples.back().power.value().raw() == doctest::Approx(412.345));
  CHECK(run.samples.front().sm_clock == Hertz{1755e6});
  CHECK(!run.samples.front().power);
  CHECK(run.sustained_throttle == 0x1004);
}
