// SPDX-License-Identifier: Apache-2.0
// Samples survive the way through their files, and a folder of them is whole or not there.
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/calibrate/samples/samples_csv.hpp>
#include <headroom/core/config_reader.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::read_text;
using headroom::test::ScratchFolder;

namespace {

/// For comparisons: doctest's Approx adds an absolute tolerance of its epsilon, which would hide microseconds.
double micros(Seconds value) {
  return value.raw() * 1e6;
}

template <class Read>
auto read_back(const std::string& text, Read read) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  CsvReader csv{stream, "samples.csv", diagnostics};
  auto rows = read(csv);
  diagnostics.throw_if_any();
  return rows;
}

std::string complaints(const std::string& text) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  CsvReader csv{stream, "gemm.csv", diagnostics};
  (void)read_gemm_rows(csv);
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    all += diagnostic.text() + "\n";
  }
  return all;
}

Sample gemm_sample(Seconds sustained) {
  Sample sample;
  sample.probe = GemmProbe{GemmType::fp8, 8192, 4096, 1536, 5, sustained};
  sample.latency = Seconds{123.456e-6};
  sample.fastest = Seconds{120e-6};
  sample.slowest = Seconds{130e-6};
  sample.spans = 9;
  sample.launches = 20;
  sample.algorithms = 8;
  if (sustained > Seconds{}) {
    sample.first = Seconds{111e-6};
    sample.lasted = Seconds{5.02};
    sample.sm_clock = Hertz{1755e6};
    sample.power = Watts{698.5};
  }
  return sample;
}

std::vector<Sample> some_samples() {
  Sample copy;
  copy.probe = CopyProbe{CopyOp::triad, 4096, 7};
  copy.latency = Seconds{2.1e-6};
  Sample launch;
  launch.probe = LaunchProbe{LaunchOp::graph, 64};
  launch.latency = Seconds{1.5e-6};
  return {gemm_sample({}), gemm_sample(Seconds{5.0}), copy, launch};
}

std::string message_of(const std::string& folder, bool force) {
  try {
    check_sample_folder(folder, force);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

ProbeRun some_run() {
  ProbeRun run;
  run.samples = some_samples();
  run.skipped = {{"gemm fp8", "needs \"8.9\"\nand more"}};
  run.before.sm_clock = Hertz{1980e6};
  run.before.throttle = 0x1;
  run.before.pcie_generation = 1;  // an idle link
  run.after.pcie_generation = 5;
  run.after.pcie_width = 16;
  run.after.power = Watts{412.345};
  run.sustained_throttle = 0x4;
  run.lasted = Seconds{141.5};
  return run;
}

Manifest some_manifest() {
  Manifest manifest;
  manifest.headroom = "0.1.0";
  manifest.date = "2026-11-20T12:00:00Z";
  manifest.files = {"gemm.csv", "copy.csv"};
  manifest.device = {"NVIDIA H200", 90,     132,      Bytes{50.0 * 0x1p20}, Bytes{150754820096.0}, Bytes{150e9},
                     "13.0",        "13.0", "13.1.0", "0000:01:00.0"};
  manifest.catalog_id = "h200-sxm-141gb";
  manifest.device.cudnn = "9.19.0";
  manifest.host = HostReading{.cores = 96, .memory = BytesPerSecond{412.34e9}, .pcie_generation = {}, .pcie_width = {}};
  manifest.settings.driver = "580.82.07";
  manifest.settings.power_limit = Watts{700.0};
  manifest.settings.ecc = true;
  return manifest;
}

}  // namespace

TEST_CASE("GEMM rows have the columns of other collections and read back to five digits") {
  const SampleRows rows = rows_of(some_samples(), {"13.1.0"});
  const std::string text = csv_of(rows.gemm);
  CHECK(text == "engine,version,dtype,m,n,k,latency_us\ncublaslt,13.1.0,fp8,8192,4096,1536,123.46\n");
  const std::vector<GemmRow> back = read_back(text, read_gemm_rows);
  REQUIRE(back.size() == 1);
  CHECK(back[0].dtype == "fp8");
  CHECK(back[0].n == 4096);
  CHECK(micros(back[0].latency) == doctest::Approx(123.46));
  CHECK(csv_of(back) == text);
}

TEST_CASE("sustained, copy and launch rows read back, what NVML did not tell stays empty") {
  std::vector<Sample> samples = some_samples();
  samples.push_back(samples[1]);
  samples.back().power.reset();
  const SampleRows rows = rows_of(samples, {"13.1.0"});
  const std::vector<SustainedRow> sustained = read_back(csv_of(rows.sustained), read_sustained_rows);
  REQUIRE(sustained.size() == 2);
  CHECK(sustained[0].power.value().raw() == doctest::Approx(698.5));
  CHECK(sustained[0].sm_clock.value().raw() == doctest::Approx(1755e6));
  CHECK(micros(sustained[0].first) == doctest::Approx(111.0));
  CHECK(sustained[0].lasted.raw() == doctest::Approx(5.02));
  CHECK(!sustained[1].power);
  const std::vector<CopyRow> copies = read_back(csv_of(rows.copy), read_copy_rows);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].op == "triad");
  CHECK(copies[0].bytes == 3 * 4096);  // two read, one written
  const std::vector<LaunchRow> launches = read_back(csv_of(rows.launch), read_launch_rows);
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].count == 64);
  CHECK(micros(launches[0].latency) == doctest::Approx(1.5));
}

TEST_CASE("every fault of a file of samples is told with its place, and good rows stay") {
  const std::string header = "engine,version,dtype,m,n,k,latency_us\n";
  CHECK(complaints(header + "cublaslt,13.1.0,fp8,1,2,3,4.5\n").empty());
  CHECK(complaints("engine,version,dtype,m,n,k,latency\n").find("column 'latency_us' is missing") != std::string::npos);
  CHECK(complaints("engine,version,dtype,m,n,k,latency_u\n").find("did you mean 'latency_us'") != std::string::npos);
  const std::string bad = complaints(header + "cublaslt,1,fp8,0,2,3,4.5\ncublaslt,1,fp8,1,2,3,-1\n,1,fp8,1,2,3,4\n");
  CHECK(bad.find("gemm.csv:2:16: error: 'm' must be positive") != std::string::npos);
  CHECK(bad.find("gemm.csv:3:22: error: 'latency_us' must be positive") != std::string::npos);
  CHECK(bad.find("gemm.csv:4:1: error: 'engine' is empty") != std::string::npos);
}

TEST_CASE("the manifest is strict TOML that says on what, with what and how, and holds no UUID or bus address") {
  const std::string text = manifest_toml(some_manifest(), some_run());
  const ConfigValue document = parse_toml(text, "manifest.toml");
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  CHECK(root.text("kind") == "probe");
  CHECK(root.quantity<Seconds>("lasted") == Seconds{141.5});
  CHECK(root.texts("files").size() == 2);
  CHECK(root.integer("samples") == 4);
  ConfigTable device = root.table("device");
  CHECK(device.text("catalog_id") == "h200-sxm-141gb");
  CHECK(device.text("compute_capability") == "9.0");
  CHECK(device.quantity<Bytes>("l2") == Bytes{52428800.0});
  CHECK(device.quantity<Bytes>("memory") == Bytes{150754820096.0});
  ConfigTable settings = root.table("settings");
  CHECK(settings.quantity<Watts>("power_limit") == Watts{700.0});
  CHECK(settings.boolean("ecc"));
  CHECK(!settings.has("mig"));
  ConfigTable host = root.table("host");
  CHECK(host.integer("cores") == 96);
  CHECK(host.quantity<BytesPerSecond>("memory") == BytesPerSecond{412.3e9});
  CHECK(host.integer("pcie_generation") == 5);
  CHECK(host.integer("pcie_width") == 16);
  CHECK(root.table("software").text("cudnn") == "9.19.0");
  CHECK(read_manifest(text, "manifest.toml").device.cudnn == "9.19.0");
  ConfigTable before = root.table("before");
  CHECK(before.quantity<Hertz>("sm_clock") == Hertz{1980e6});
  CHECK(before.texts("throttle") == std::vector<std::string>{"gpu_idle"});
  CHECK(root.table("after").quantity<Watts>("power").raw() == doctest::Approx(412.345));
  CHECK(root.table("sustained").texts("throttle") == std::vector<std::string>{"sw_power_cap"});
  CHECK(root.table("method").integer("repeats") == 9);
  std::vector<ConfigTable> skipped = root.tables("skipped");
  REQUIRE(skipped.size() == 1);
  CHECK(skipped[0].text("why") == "needs \"8.9\"\\x0aand more");
  CHECK(diagnostics.empty());
  CHECK(text.find("0000:01") == std::string::npos);
  CHECK(is_manifest(text));
  Manifest blind = some_manifest();
  blind.nvml_missing = "libnvidia-ml.so.1 cannot be opened";
  CHECK(manifest_toml(blind, some_run()).find("throttle") == std::string::npos);
  CHECK(!is_manifest("schema = 1\nkind = \"other\"\n"));
  CHECK(!is_manifest("no TOML ["));
}

TEST_CASE("a folder of samples is written whole, never over something else, and leaves nothing beside it") {
  const ScratchFolder scratch;
  const std::string folder = (scratch.path() / "samples").string();
  const std::string manifest = manifest_toml(some_manifest(), some_run());
  write_sample_folder(folder + "/", {{"gemm.csv", "one"}, {"manifest.toml", manifest}}, false);
  CHECK(read_text(folder + "/gemm.csv") == "one");
  CHECK(message_of(folder, false).find("exists") != std::string::npos);
  CHECK_THROWS_AS(write_sample_folder(folder, {{"gemm.csv", "two"}}, false), ConfigError);
  CHECK(read_text(folder + "/gemm.csv") == "one");
  write_sample_folder(folder, {{"copy.csv", "two"}}, true);
  CHECK(read_text(folder + "/copy.csv") == "two");
  CHECK(!std::filesystem::exists(folder + "/gemm.csv"));
  // No manifest any more: it is somebody else's folder now.
  CHECK(message_of(folder, true).find("something else than samples") != std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator{scratch.path()}, {}) == 1);
}

TEST_CASE("--force removes neither a file nor a folder that holds no samples, and a bad place is told beforehand") {
  const ScratchFolder scratch;
  const std::filesystem::path path = scratch.path() / "thesis";
  std::filesystem::create_directory(path);
  CHECK(message_of(path.string(), true).empty());
  std::ofstream{path / "chapter.tex"} << "text";
  CHECK(message_of(path.string(), true).find("leaves it alone") != std::string::npos);
  CHECK(message_of((path / "chapter.tex").string(), true).find("is no folder") != std::string::npos);
  CHECK(message_of((scratch.path() / "absent" / "samples").string(), false).find("cannot be made") !=
        std::string::npos);
  for (const char* place : {".", "..", "/", ""}) {
    CAPTURE(place);
    CHECK(message_of(place, true).find("cannot be replaced") != std::string::npos);
  }
}
