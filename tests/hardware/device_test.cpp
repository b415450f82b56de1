// SPDX-License-Identifier: Apache-2.0
// A SKU's file as the reader sees it: values, sources, and every problem with its place and remedy.
#include <headroom/hardware/catalog/device.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace headroom;

namespace {

const std::string heading = R"(schema = 1
id = "x1"
name = "X One"
aliases = ["X_1"]
vendor = "nvidia"
kind = "gpu"
generation = "hopper"
year = 2022
)";

Device read(const std::string& text, Diagnostics& diagnostics) {
  return read_device(parse_toml(text, "gpus/x1.toml"), "gpus/x1.toml", diagnostics);
}

Device read(const std::string& text) {
  Diagnostics diagnostics;
  Device device = read(text, diagnostics);
  diagnostics.throw_if_any();
  return device;
}

std::vector<std::string> problems(const std::string& text) {
  Diagnostics diagnostics;
  static_cast<void>(read(text, diagnostics));
  std::vector<std::string> result;
  for (const Diagnostic& problem : diagnostics.sorted()) {
    result.push_back(problem.text());
  }
  return result;
}

/// The text of the only problem.
std::string problem(const std::string& text) {
  const std::vector<std::string> all = problems(text);
  CAPTURE(text);
  REQUIRE(all.size() == 1);
  return all.front();
}

}  // namespace

TEST_CASE("a number carries its value, its source spelled out, and its place") {
  const Device device = read(heading + R"([sources]
DS = "the data sheet"
[compute]
units = { value = 132, source = "DS" }
[peak]
bf16 = { value = "989 TFLOP/s", source = "DS", recalled = true }
int8 = { value = "1979 TOP/s", source = "DS" }
[memory]
marketed = { value = "80 GB", source = "DS" }
pin_rate = { value = "5.2 Gb/s", source = "DS" }
)");
  CHECK(device.id == "x1");
  CHECK(device.aliases == std::vector<std::string>{"X_1"});
  REQUIRE(device.compute.units);
  CHECK(device.compute.units->value == 132);
  CHECK(device.compute.units->source == "the data sheet");
  CHECK_FALSE(device.compute.units->recalled);
  CHECK(device.compute.units->file == "gpus/x1.toml");
  CHECK(device.compute.units->at.line == 12);
  CHECK(device.peak_of(Rate::bf16).raw() == doctest::Approx(989e12));
  CHECK(device.peak[static_cast<std::size_t>(Rate::bf16)]->recalled);
  CHECK(device.peak_of(Rate::int8).raw() == doctest::Approx(1979e12));
  CHECK(device.memory.pin_rate->value.raw() == doctest::Approx(0.65e9));
  CHECK(device.unused_sources.empty());
}

TEST_CASE("the fabric is read with its topology, domain and rates") {
  const Device device = read(heading + R"([sources]
IC = "links"
[power]
tdp = { value = "700 W", source = "IC" }
scope = "superchip"
[scale_up]
link = "xGMI"
topology = "full-mesh"
domain = 8
links = { value = 7, source = "IC" }
per_pair = { value = "64 GB/s", source = "IC" }
[pcie]
generation = 5
lanes = 16
[[lint_exception]]
check = "dtype-ladder"
reason = "so it is"
)");
  CHECK(device.power.of_superchip);
  CHECK(device.scale_up.topology == LinkTopology::full_mesh);
  CHECK(device.scale_up.domain == 8);
  CHECK(device.scale_up.per_pair->value.raw() == doctest::Approx(64e9));
  CHECK_FALSE(device.scale_up.per_gpu);
  CHECK(device.pcie.lanes == 16);
  REQUIRE(device.lint_exceptions.size() == 1);
  CHECK(device.lint_exceptions[0].check == "dtype-ladder");
  CHECK(device.lint_exceptions[0].at.line == 23);
}

TEST_CASE("a device without links has domain 1 and no topology") {
  const Device device = read(heading);
  CHECK(device.scale_up.domain == 1);
  CHECK(device.scale_up.topology == LinkTopology::none);
}

TEST_CASE("a bare value is refused with the line to write instead") {
  CHECK(problem(heading + "[memory]\nusable = \"80 GiB\"\n") ==
        "gpus/x1.toml:10:10: error: 'usable' needs its source: write { value = \"80 GiB\", source = \"TAG\" }");
  CHECK(problem(heading + "[compute]\nunits = 132\n") ==
        "gpus/x1.toml:10:9: error: 'units' needs its source: write { value = 132, source = \"TAG\" }");
}

TEST_CASE("a number without source, or with a tag nobody spelled out, is refused") {
  CHECK(problem(heading + "[compute]\nunits = { value = 132 }\n") ==
        "gpus/x1.toml:10:9: error: 'units' has no source: write { value = ..., source = \"TAG\" } with a tag of "
        "[sources]");
  CHECK(problem(heading + "[sources]\nDS = \"d\"\n[compute]\nunits = { value = 132, source = \"DSS\" }\n") ==
        "gpus/x1.toml:12:33: error: source 'DSS' is no tag of [sources]; did you mean 'DS'?");
}

TEST_CASE("a missing value, a value below zero and a value of another kind are refused") {
  const std::string sources = heading + "[sources]\nDS = \"d\"\n[compute]\n";
  CHECK(problem(sources + "units = { source = \"DS\" }\n").find("missing key 'value'") != std::string::npos);
  CHECK(problem(sources + "units = { value = -1, source = \"DS\" }\n").find("must be at least 1") != std::string::npos);
  CHECK(problem(sources + "clock = { value = \"0 Hz\", source = \"DS\" }\n").find("above zero") != std::string::npos);
  CHECK(problem(sources + "clock = { value = \"80 GB\", source = \"DS\" }\n").find("another kind") !=
        std::string::npos);
  CHECK(problem(sources + "clock = { value = \"1 GHz\", sauce = \"DS\", source = \"DS\" }\n").find("unknown key") !=
        std::string::npos);
}

TEST_CASE("all problems of a file are reported at once, in the order of the file") {
  const std::vector<std::string> all = problems(R"(schema = 1
id = "x2"
name = "X"
vendor = "nvidea"
kind = "gpu"
generation = "hoper"
year = 2022
[peek]
[power]
tdp = 700
)");
  REQUIRE(all.size() == 6);
  CHECK(all[0] == "gpus/x1.toml:2:6: error: id 'x2' differs from the file's name 'x1'");
  CHECK(all[1].find("did you mean 'nvidia'?") != std::string::npos);
  CHECK(all[2].find("did you mean 'hopper'?") != std::string::npos);
  CHECK(all[3].find("unknown key 'peek'; did you mean 'peak'?") != std::string::npos);
  CHECK(all[4].find("missing key 'scope'") != std::string::npos);
  CHECK(all[5].find("'tdp' needs its source") != std::string::npos);
}

TEST_CASE("the compute capability is NVIDIA's and looks like 9.0") {
  CHECK(read(heading + "compute_capability = \"9.0\"\n").compute_capability == "9.0");
  CHECK(read(heading + "compute_capability = \"10.3\"\n").compute_capability == "10.3");
  for (const std::string text : {"9", ".0", "9.", "sm_90", "9.00"}) {
    CHECK(problem(heading + "compute_capability = \"" + text + "\"\n").find("must look like") != std::string::npos);
  }
}

TEST_CASE("a source tag that no number uses is kept for lint") {
  CHECK(read(heading + "[sources]\nDS = \"d\"\n").unused_sources == std::vector<std::string>{"DS"});
}

TEST_CASE("what the catalog does not know is said with the SKU's name and what it has") {
  const Device bare = read(heading);
  CHECK_THROWS_WITH_AS(static_cast<void>(bare.peak_of(Rate::fp8)), "error: x1 has no fp8 rate; it has no rate at all",
                       ConfigError);
  CHECK_THROWS_AS(static_cast<void>(bare.capacity()), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(bare.bandwidth()), ConfigError);
  const Device some = read(heading + R"([sources]
DS = "d"
[peak]
fp16 = { value = "125 TFLOP/s", source = "DS" }
fp32_vector = { value = "15.7 TFLOP/s", source = "DS" }
[memory]
marketed = { value = "16 GB", source = "DS" }
)");
  CHECK_THROWS_WITH_AS(static_cast<void>(some.peak_of(Rate::bf16)),
                       "error: x1 has no bf16 rate; it has fp16, fp32_vector", ConfigError);
  CHECK(some.capacity().value.raw() == doctest::Approx(16e9));
}

TEST_CASE("a plan fills the usable capacity, not the one on the box") {
  const Device device = read(heading + R"([sources]
DS = "d"
[memory]
marketed = { value = "288 GB", source = "DS" }
usable = { value = "275040 MiB", source = "DS" }
)");
  CHECK(device.capacity().value.raw() == doctest::Approx(275040.0 * 1048576.0));
}
