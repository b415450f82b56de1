// SPDX-License-Identifier: Apache-2.0
// Architectures of the catalog: every GPU finds its own, SKUs and architectures agree, a user's file overrides.
#include <headroom/hardware/catalog/catalog.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "../support/scratch_folder.hpp"
#include <fstream>
#include <string>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog() noexcept;
}

using namespace headroom;
using headroom::test::says;
using headroom::test::ScratchFolder;

namespace {

Catalog shipped() {
  return Catalog{DataStore{embedded::embedded_catalog(), {}}};
}

}  // namespace

TEST_CASE("architectures: every GPU of NVIDIA and AMD has one, and what both state is equal") {
  const Catalog catalog = shipped();
  std::size_t found = 0;
  for (const std::string& id : catalog.store().ids("gpus")) {
    const Device& device = catalog.device(id);
    if (device.vendor != "nvidia" && device.vendor != "amd") {
      continue;
    }
    if (device.kind == DeviceKind::cpu) {
      continue;
    }
    CAPTURE(id);
    const UnitLimits& unit = catalog.unit_limits(device);
    ++found;
    CHECK(unit.vendor == device.vendor);
    CHECK(unit.generation == device.generation);
    const Device::Memory& m = device.memory;
    if (m.shared_per_unit) {
      CHECK(m.shared_per_unit->value == unit.shared.per_unit.value);
    }
    if (m.registers_per_unit) {
      CHECK(m.registers_per_unit->value == unit.registers.per_unit.value);
    }
    if (m.max_warps_per_unit) {
      CHECK(m.max_warps_per_unit->value == unit.threads.warps_per_unit.value);
    }
    if (m.max_blocks_per_unit) {
      CHECK(m.max_blocks_per_unit->value == unit.threads.blocks_per_unit.value);
    }
  }
  CHECK(found > 40);
}

// CUDA C++ Programming Guide, technical specifications per compute capability; PTX ISA for tensor memory: 512 columns of
// 128 lanes of 4 B are 256 KiB.
TEST_CASE("architectures: known facts of A100, T4 and B200") {
  const Catalog catalog = shipped();
  const UnitLimits& a100 = catalog.unit_limits(catalog.device("a100-sxm-80gb"));
  CHECK(a100.id == "sm-80");
  CHECK(a100.threads.warps_per_unit.value == 64);
  CHECK(a100.shared.per_block.value == Bytes{163.0 * 1024});
  CHECK(a100.shared.reserved_per_block->value == Bytes{1024.0});
  CHECK_FALSE(a100.cluster.portable);
  CHECK_FALSE(a100.tma);
  CHECK(catalog.architecture("7.5").threads.warps_per_unit.value == 32);
  CHECK_FALSE(catalog.architecture("7.5").shared.reserved_per_block);
  const UnitLimits& b200 = catalog.unit_limits(catalog.device("b200-sxm-180gb"));
  REQUIRE(b200.tensor_memory);
  CHECK(b200.tensor_memory->size() == Bytes{256.0 * 1024});
  CHECK(b200.tma->value);
}

TEST_CASE("architectures: a device without one is refused with those that are known") {
  const Catalog catalog = shipped();
  std::string told;
  try {
    static_cast<void>(catalog.unit_limits(catalog.device("gaudi3")));
  } catch (const ConfigError& error) {
    told = error.what();
  }
  CHECK(says(told, "no limits of a unit of gaudi3 (generation gaudi3)"));
  CHECK(says(told, "sm-80"));
}

TEST_CASE("architectures: a user's file extends the one that it hides") {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.path() / "architectures");
  std::ofstream{folder.path() / "architectures" / "sm-80.toml"}
      << "schema = 1\nbase = \"sm-80\"\nid = \"sm-80\"\n[sources]\nMINE = \"measured here\"\n"
         "[latency]\nmemory = { value = \"450 ns\", source = \"MINE\" }\n";
  const Catalog catalog{DataStore{embedded::embedded_catalog(), {folder.path().string()}}};
  const UnitLimits& unit = catalog.unit_limits(catalog.device("a100-sxm-80gb"));
  CHECK(unit.latency.memory->value == Seconds{450e-9});
  CHECK(unit.latency.memory->source == "measured here");
  CHECK(unit.threads.warps_per_unit.value == 64);
}
