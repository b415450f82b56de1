// SPDX-License-Identifier: Apache-2.0
// A calibration loses nothing, repeats until it knows enough, stops when its time is over, and believes no timer that
// did not wait.
#include <headroom/calibrate/measure/preflight.hpp>
#include <headroom/calibrate/samples/timing_check.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "simulated.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

Calibration calibrated(const std::shared_ptr<SimulatedProber>& prober,
                       const ProbePlan& plan,
                       SampleJournal& journal,
                       const CalibrationRules& rules = {}) {
  return calibrate(prober, prober, nullptr, plan, rules, journal, nullptr, nullptr);
}

std::string failure(const std::shared_ptr<SimulatedProber>& prober,
                    const ProbePlan& plan,
                    SampleJournal& journal,
                    const Device* datasheet,
                    const CalibrationRules& rules = {}) {
  try {
    static_cast<void>(calibrate(prober, prober, datasheet, plan, rules, journal, nullptr, nullptr));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

std::string refusal(const std::string& more, bool shared = false) {
  const auto prober = simulated_prober(more);
  try {
    check_device(prober->device(), prober.get(), shared);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "";
}

constexpr const char* noisy = "[noise]\nspread = 0.03\noutliers = 0.05\noutlier_factor = 3.0\n";

}  // namespace

TEST_CASE("the median's interval is that of order statistics: of nine the second and the eighth, of five none") {
  const std::vector<double> nine{9, 1, 8, 2, 7, 3, 6, 4, 5};
  const Spread spread = spread_of(nine);
  CHECK(spread.median == 5.0);
  CHECK(spread.told);
  CHECK(spread.low == 2.0);  // P(Bin(9, 1/2) <= 1) = 10 / 512 = 1.95 %
  CHECK(spread.high == 8.0);
  CHECK(spread.half_width() == doctest::Approx(0.6));
  CHECK_FALSE(spread_of(std::vector<double>{1, 2, 3, 4, 5}).told);  // 2 / 32 = 6.25 % lie outside the extremes
  CHECK(spread_of(std::vector<double>{1, 2, 3, 4, 5, 6}).told);     // 2 / 64
  CHECK(spread_of(std::vector<double>{}).n == 0);
  // Thirty: ranks 10 and 21 (Conover 1999, table A3: 9 below, 2.14 %).
  std::vector<double> thirty;
  for (int i = 1; i <= 30; ++i) {
    thirty.push_back(i);
  }
  CHECK(spread_of(thirty).low == 10.0);
  CHECK(spread_of(thirty).high == 21.0);
}

TEST_CASE("an outlier is flagged and kept, a timer's next tick is none") {
  const std::vector<double> values{10, 10.1, 9.9, 10, 10.05, 30};
  CHECK(outliers_of(values) == std::vector<bool>{false, false, false, false, false, true});
  CHECK(spread_of(values).outliers == 1);
  CHECK(spread_of(values).n == 6);
  CHECK(spread_of(std::vector<double>{10, 10, 10, 10, 10.1, 10}).outliers == 0);
}

TEST_CASE("a journal gives back to the last bit what went into it, and drops a line that was cut") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  JournalEntry entry;
  entry.sample.predicted = Seconds{1.25e-6};
  entry.key = "gemm bf16 1x128x64";
  entry.round = 3;
  entry.sample.latency = Seconds{1.0 / 3.0 * 1e-6};
  entry.sample.told = {Seconds{1e-6 / 7.0}, Seconds{2e-6}};
  entry.sample.spans = 9;
  entry.sample.sm_clock = Hertz{1755e6};
  entry.throttle = 0x44;
  entry.took = Seconds{0.25};
  JournalEntry refused;
  refused.key = "copy 4096 B";
  refused.refused = "out of memory, says \"the driver\"\nand more";
  {
    SampleJournal journal{folder};
    journal.append(entry);
    journal.append(refused);
    CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("is held by another process"), ConfigError);
  }
  std::ofstream{folder + "/samples.csv", std::ios::app} << "gemm bf16 16x128x64,0,2.5";
  SampleJournal journal{folder};
  CHECK(journal.torn() == 25);
  REQUIRE(journal.entries().size() == 2);
  const JournalEntry& back = journal.entries().front();
  CHECK(back.key == entry.key);
  CHECK(back.round == 3);
  CHECK(back.throttle == 0x44);
  CHECK(back.took == Seconds{0.25});
  CHECK(back.sample.predicted.raw() == doctest::Approx(1.25e-6).epsilon(1e-12));
  CHECK(back.sample.sm_clock == Hertz{1755e6});
  REQUIRE(back.sample.told.size() == 2);
  CHECK(back.sample.latency.raw() == doctest::Approx(entry.sample.latency.raw()).epsilon(1e-14));
  CHECK(journal.entries()[1].refused == "out of memory, says \"the driver\" and more");
  const std::string before = read_text(folder + "/samples.csv");
  CHECK(before.back() == '\n');
}

TEST_CASE("a journal whose whole lines are wrong is refused with their places") {
  const ScratchFolder scratch;
  const std::string header =
      "probe,round,latency_us,fastest_us,slowest_us,spans,launches,algorithms,first_us,lasted_s,took_s,sm_clock_mhz,"
      "power_w,throttle,refused,told_us,predicted_us\n";
  std::ofstream{scratch.path() / "samples.csv"} << header << "copy 4096 B,0,,,,0,0,0,,,,,,,,,\n"
                                                << "copy 8192 B,0,2,2,2,9,1,0,,,,,,4,,2 x,\n";
  const std::string folder = scratch.path().string();
  CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("samples.csv:2:15: error: 'latency_us' is empty"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("must be hexadecimal"), ConfigError);
  CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("'x', which is no positive number"), ConfigError);
  CHECK_THROWS_WITH_AS(SampleJournal{folder},
                       doctest::Contains("; delete the line, and 'headroom calibrate --resume' measures again what it"),
                       ConfigError);
}

TEST_CASE("a journal goes on without a line that was broken and deleted, and says so where one is broken") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string(), path = folder + "/samples.csv";
  JournalEntry entry;
  entry.sample.latency = Seconds{1e-6};
  {
    SampleJournal journal{folder};
    for (const char* key : {"copy 4096 B", "copy 8192 B", "copy 16384 B"}) {
      entry.key = key;
      journal.append(entry);
    }
  }
  const std::string whole = read_text(path);
  const std::size_t second = whole.find("copy 8192 B"), third = whole.find("copy 16384 B");
  std::string torn = whole;
  torn[third - 2] = '\0';  // as after a crash of the machine
  for (const std::string& broken : {whole.substr(0, second) + "copy 8192 B,0,1\n" + whole.substr(third), torn}) {
    std::ofstream{path, std::ios::binary} << broken;
    CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("samples.csv:3:"), ConfigError);
    CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("delete the line, and"), ConfigError);
  }
  std::ofstream{path, std::ios::binary} << whole.substr(0, second) + whole.substr(third);
  CHECK(SampleJournal{folder}.entries().size() == 2);
  std::ofstream{path, std::ios::binary} << "probe,round\n";
  CHECK_THROWS_WITH_AS(SampleJournal{folder}, doctest::Contains("; take the file away, and 'headroom calibrate"),
                       ConfigError);
}

TEST_CASE("a quiet device is measured once a probe, a noisy one until the interval is within one per cent") {
  const ScratchFolder quiet;
  const auto calm = simulated_prober();
  SampleJournal once{quiet.path().string()};
  const ProbePlan plan = bf16_and_copies(*calm, false, true);
  const Calibration short_one = calibrated(calm, plan, once);
  CHECK(once.entries().size() == plan.probes.size());
  CHECK(short_one.unmet.empty());
  CHECK(short_one.ended.empty());

  const ScratchFolder loud;
  const auto noise = simulated_prober(noisy);
  SampleJournal often{loud.path().string()};
  const Calibration calibration = calibrated(noise, plan, often);
  CHECK(often.entries().size() > 4 * plan.probes.size());
  std::size_t within = 0;
  std::size_t outliers = 0;
  for (const ProbeTiming& timing : calibration.probes) {
    within += timing.spread.half_width() <= 0.01 ? 1 : 0;
    outliers += timing.spread.outliers;
    CHECK(timing.rounds <= CalibrationRules{}.most_rounds);
  }
  CHECK(within + calibration.unmet.size() == plan.probes.size());
  CHECK(within > plan.probes.size() / 2);
  CHECK(outliers > 0);
}

TEST_CASE("when the budget is spent the rules that were not met are told, and a larger one goes on") {
  const ScratchFolder scratch;
  const auto prober = simulated_prober(noisy);
  SampleJournal journal{scratch.path().string()};
  const ProbePlan plan = bf16_and_copies(*prober, false, true);
  CalibrationRules rules;
  rules.budget = Seconds{1.5};
  const Calibration calibration = calibrated(prober, plan, journal, rules);
  CHECK(calibration.ended == "the budget of 1.50 s is spent");
  CHECK(calibration.spent >= Seconds{1.5});
  CHECK(calibration.spent < Seconds{1.8});
  REQUIRE_FALSE(calibration.unmet.empty());
  CHECK(says(calibration.unmet.front(), "the median is known within"));
  const std::size_t before = journal.entries().size();
  rules.budget = Seconds{3.0};
  CHECK(calibrated(prober, plan, journal, rules).spent > Seconds{2.5});
  CHECK(journal.entries().size() > before);
}

TEST_CASE("a calibration broken off after any measurement and gone on with has the same journal as one at a stretch") {
  const ScratchFolder whole_folder;
  const ScratchFolder parts_folder;
  const std::string more = std::string{noisy} + "[drift]\nshare = 0.02\ntime = \"1 s\"\n";
  const auto whole = simulated_prober(more);
  const ProbePlan plan = bf16_and_copies(*whole, false, true);
  {
    SampleJournal journal{whole_folder.path().string()};
    static_cast<void>(calibrated(whole, plan, journal));
  }
  Seconds spent{};
  for (int part = 0; part < 1000; ++part) {
    SampleJournal journal{parts_folder.path().string()};
    const auto prober = simulated_prober(more, spent);
    int left = 1 + part % 29;
    const Calibration calibration =
        calibrate(prober, prober, nullptr, plan, {}, journal, nullptr, [&] { return left-- == 0; });
    spent = calibration.spent;
    if (calibration.ended.empty()) {
      break;
    }
    CHECK(calibration.ended == "it was interrupted");
  }
  const std::string journal = read_text(whole_folder.path() / "samples.csv");
  CHECK(std::count(journal.begin(), journal.end(), '\n') > 100);
  CHECK(read_text(parts_folder.path() / "samples.csv") == journal);
}

TEST_CASE("measurements under heat are marked, measured again, and left out") {
  const ScratchFolder scratch;
  const auto prober = simulated_prober("[[throttle]]\nfrom = \"0.1 s\"\nuntil = \"0.3 s\"\nslower = 0.5\n");
  SampleJournal journal{scratch.path().string()};
  const ProbePlan plan = bf16_and_copies(*prober, false, true);
  const Calibration calibration = calibrated(prober, plan, journal);
  const auto hot = std::count_if(journal.entries().begin(), journal.entries().end(),
                                 [](const JournalEntry& e) { return e.throttle == 0x40; });
  CHECK(hot >= 8);
  CHECK(calibration.unmet.empty());
  for (const ProbeTiming& timing : calibration.probes) {
    CHECK_FALSE(timing.only_throttled);
    const double truth = std::get<Sample>(simulated_prober()->measure(timing.probe, {})).latency.raw();
    CHECK(timing.sample.latency.raw() == doctest::Approx(truth).epsilon(1e-9));
  }
}

TEST_CASE("a 10 ms kernel that takes 5 us by a timer that does not wait is refused, with a datasheet and without") {
  const Device h200 = Catalog::standard().device("h200-sxm-141gb");
  Sample ten_milliseconds;  // 2 x 16384^2 x 18432 FLOP: 10.0 ms at the dense peak of 989 TFLOP/s
  ten_milliseconds.probe = GemmProbe{GemmType::bf16, 16384, 16384, 18432, 2, {}};
  ten_milliseconds.latency = Seconds{0.09e-3};
  CHECK(says(too_fast(ten_milliseconds, h200).value_or(""), "allows no less than 10.0 ms"));
  ten_milliseconds.latency = Seconds{12e-3};
  CHECK_FALSE(too_fast(ten_milliseconds, h200));
  Sample copy;  // 2 GiB + 2 GiB at 4.8 TB/s: 0.89 ms
  copy.probe = CopyProbe{CopyOp::copy, std::int64_t{1} << 31, 1};
  copy.latency = Seconds{0.7e-3};
  CHECK(too_fast(copy, h200).has_value());
  copy.latency = Seconds{1.0e-3};
  CHECK_FALSE(too_fast(copy, h200));

  for (const Device* datasheet : {&h200, static_cast<const Device*>(nullptr)}) {
    const ScratchFolder scratch;
    const auto prober = simulated_prober("[faults]\nunsynchronised = true\n");
    SampleJournal journal{scratch.path().string()};
    const std::string why = failure(prober, bf16_and_copies(*prober), journal, datasheet);
    CHECK(says(why, "the timer did not wait for the device"));
    CHECK(says(why, datasheet != nullptr ? "faster than the datasheet allows" : "times the work"));
    CHECK(says(why, "begin anew in another folder"));  // what was refused counts again after --resume
  }
}

TEST_CASE("a lost device, a hang, a refusal and too little memory each end as they should, and samples stay") {
  const ScratchFolder scratch;
  const auto lost = simulated_prober("[faults]\nlost_after = 5\n");
  SampleJournal journal{scratch.path().string()};
  const ProbePlan plan = bf16_and_copies(*lost, false, true);
  CHECK(says(failure(lost, plan, journal, nullptr), "the device failed at memcpy 131072 B: Xid 79"));
  CHECK(journal.entries().size() == 5);

  CalibrationRules rules;
  rules.patience = Seconds{0.05};
  const auto hanging = simulated_prober("[faults]\nhangs_at = \"memcpy 262144 B\"\n");
  CHECK(says(failure(hanging, plan, journal, nullptr, rules), "memcpy 262144 B: hangs: no answer within 50.0 ms"));
  REQUIRE(journal.entries().size() == 7);
  CHECK(says(journal.entries().back().refused, "hangs"));

  const auto refusing = simulated_prober(
      "[faults]\nout_of_memory_above = \"1 GiB\"\n[[refuse]]\nprobe = \"triad\"\nwhy = \"unhandled system error\"\n");
  const Calibration calibration = calibrated(refusing, plan, journal);
  CHECK(calibration.unmet.empty());
  const auto skipped_for = [&](const char* why) {
    return std::count_if(calibration.skipped.begin(), calibration.skipped.end(),
                         [&](const Skipped& s) { return says(s.why, why); });
  };
  CHECK(skipped_for("unhandled system error") == 21);
  CHECK(skipped_for("hangs") == 1);
  CHECK(skipped_for("out of memory") == 6);  // memcpy and copy of 1, 2 and 4 GiB: two arrays each
}

TEST_CASE("a busy device, a MIG slice and too old a driver are refused with the way out") {
  CHECK(refusal("").empty());
  const std::string busy = "[[process]]\nid = 4711\nname = \"python3\"\nmemory = \"12 GiB\"\n";
  CHECK(says(refusal(busy), "is in use by python3 (4711, 12.0 GiB); wait for it"));
  CHECK(says(refusal(busy), "--share"));
  CHECK(refusal(busy, true).empty());
  CHECK(says(refusal("[faults]\nmig = true\n", true), "a slice is no SKU"));
  ProbeDevice device = simulated_prober()->device();
  device.cuda_driver = "12.4";
  CHECK_THROWS_WITH_AS(check_device(device, nullptr, false),
                       "the driver knows CUDA 12.4, the probes were built with CUDA 13.0; update the driver, or build "
                       "with a toolkit of CUDA 12",
                       DeviceError);
  device.cuda_driver = "13.2";
  CHECK_NOTHROW(check_device(device, nullptr, false));
}

TEST_CASE("a manifest reads back, another driver has another digest, the same conditions the same") {
  const auto prober = simulated_prober();
  Manifest manifest;
  manifest.headroom = "0.1.0";
  manifest.date = "2026-01-01T00:00:00Z";
  manifest.files = {"gemm.csv"};
  manifest.device = prober->device();
  manifest.settings = prober->settings();
  manifest.settings.ecc = true;
  manifest.precision = 0.01;
  manifest.unmet = {"copy 4096 B: not measured"};
  manifest.complete = false;
  const std::string text = manifest_toml(manifest, ProbeRun{});
  CHECK(manifest_toml(manifest, ProbeRun{}) == text);
  const Manifest back = read_manifest(text, "manifest.toml");
  CHECK(conditions_of(back) == conditions_of(manifest));
  CHECK(conditions_digest(back) == conditions_digest(manifest));
  CHECK(says(text, ("conditions = \"" + conditions_digest(manifest) + "\"").c_str()));
  CHECK(back.unmet == manifest.unmet);
  CHECK_FALSE(back.complete);
  Manifest other = manifest;
  other.settings.driver = "570.86.15";
  CHECK(conditions_digest(other) != conditions_digest(manifest));
  CHECK(differences(conditions_of(manifest), conditions_of(other)) == "driver 580.82.07 and 570.86.15");
  CHECK_THROWS_WITH_AS(read_manifest("schema = 1\nkind = \"gpu\"\n", "manifest.toml"),
                       doctest::Contains("this is no manifest of samples"), ConfigError);
}

TEST_CASE("cuDNN and NCCL stand in the manifest and count among the conditions where both folders have them") {
  const auto with = [](const std::string& cudnn, const std::string& nccl) {
    Manifest manifest;
    manifest.headroom = "0.1.0";
    manifest.date = "2026-01-01T00:00:00Z";
    manifest.files = {"gemm.csv"};
    manifest.device = simulated_prober()->device();
    manifest.device.cudnn = cudnn;
    manifest.device.nccl = nccl;
    manifest.device.group = 4;
    return read_manifest(manifest_toml(manifest, ProbeRun{}), "manifest.toml");
  };
  const Manifest both = with("9.19.0", "2.28.9");
  CHECK(both.device.cudnn == "9.19.0");
  CHECK(both.device.nccl == "2.28.9");
  CHECK(both.device.group == 4);
  const auto differ = [&](const Manifest& other) { return differences(conditions_of(both), conditions_of(other)); };
  CHECK(differ(with("9.20.0", "2.30.7")) == "cuDNN 9.19.0 and 9.20.0; NCCL 2.28.9 and 2.30.7");
  CHECK(differ(with("", "2.30.7")) == "NCCL 2.28.9 and 2.30.7");
  CHECK(differ(with("", "2.28.9")).empty());
  CHECK(differ(with("9.19.0", "")).empty());
}
