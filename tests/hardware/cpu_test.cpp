// SPDX-License-Identifier: Apache-2.0
// Processors of the catalog: each file is read, peaks follow from cores and clock, broken files are told at once.
#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/cpus/cpu.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace headroom;

TEST_CASE("cpus: every processor that ships is read with its numbers and sources") {
  const Catalog catalog = Catalog::standard();
  const std::vector<std::string> ids = catalog.store().ids("cpus");
  CHECK(ids.size() >= 10);
  for (const std::string& id : ids) {
    CAPTURE(id);
    const Cpu cpu = find_cpu(catalog, id);
    CHECK(cpu.id == id);
    CHECK(cpu.cores.value >= 4);
    CHECK_FALSE(cpu.clock.source.empty());
    CHECK(cpu.last_cache.value > cpu.core_cache.value);
    CHECK(cpu.bandwidth.value > BytesPerSecond{50e9});
  }
}

TEST_CASE("cpus: a peak is cores by clock by what a core does a clock") {
  const Cpu cpu = find_cpu(Catalog::standard(), "Xeon E5-2686v4");
  // 18 cores of 2.7 GHz with two FMAs of eight lanes each: 18 x 2.7e9 x 32.
  CHECK(cpu.peak().raw() == doctest::Approx(1.5552e12));
}

TEST_CASE("cpus: an unknown one is refused with those that are known") {
  try {
    static_cast<void>(find_cpu(Catalog::standard(), "xeon-9999"));
    FAIL("it was found");
  } catch (const ConfigError& error) {
    const std::string said = error.what();
    CHECK(said.find("xeon-9999") != std::string::npos);
    CHECK(said.find("epyc-9r14") != std::string::npos);
    CHECK(said.find("cpus/ID.toml") != std::string::npos);
  }
}

TEST_CASE("cpus: every problem of a file is told at once") {
  Diagnostics diagnostics;
  static_cast<void>(read_cpu(parse_toml(R"(
schema = 1
id = "mine"
name = "Mine"
vendor = "me"
year = 2026
[sources]
SPEC = "my own"
[compute]
cores = { value = 8, source = "SPEC" }
clock = "3 GHz"
[memory]
bandwidth = { value = "50 GB/s", source = "SPEC" }
last_cache = { value = "32 MiB", source = "SPEC" }
core_cache = { value = "1 MiB", source = "SPEC" }
[power]
watts = 5
)",
                                        "cpus/mine.toml"),
                             "cpus/mine.toml", diagnostics));
  std::string said;
  try {
    diagnostics.throw_if_any();
  } catch (const ConfigError& error) {
    said = error.what();
  }
  for (const char* const part : {"clock", "missing key 'per_clock'", "missing key 'fp32_per_clock'",
                                 "missing key 'tdp'", "unknown key 'watts'"}) {
    CAPTURE(part);
    CHECK_MESSAGE(said.find(part) != std::string::npos, said);
  }
}
