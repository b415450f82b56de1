// SPDX-License-Identifier: Apache-2.0
// Blocks a unit holds, against NVIDIA's own calculator and by hand; what they keep in flight; spills; tails of grids.
#include <headroom/core/csv.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/laboratory/latency_hiding.hpp>
#include <headroom/model/laboratory/occupancy.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::near;

namespace {

constexpr double kib = 1024.0;

const UnitLimits& limits(std::string_view spelling) {
  static const Catalog catalog = Catalog::standard();
  return catalog.architecture(spelling);
}

UnitOccupancy of(std::string_view architecture, BlockDemand block) {
  return unit_occupancy(limits(architecture), block);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text{line};
  for (std::string cell; std::getline(text, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

std::string binding(const UnitOccupancy& found) {
  std::string names;
  for (std::size_t i = 0; i < occupancy_limits; ++i) {
    if (found.binds(static_cast<OccupancyLimit>(i))) {
      names += (names.empty() ? "" : "+") + std::string{occupancy_limit_names[i]};
    }
  }
  return names;
}

}  // namespace

TEST_CASE("occupancy: equal to NVIDIA's calculator on 1,200 kernels of twelve compute capabilities") {
  std::ifstream file{std::string{HEADROOM_SOURCE_DIR} + "/tests/model/occupancy_vendor.csv"};
  std::size_t rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#' || line.starts_with("compute_capability")) {
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    REQUIRE(cells.size() == 7);
    const auto whole = [&](std::size_t at) { return integer_of(cells[at]).value(); };
    BlockDemand block{whole(1), whole(2), Bytes{static_cast<double>(whole(3))}, {}, 0};
    if (!cells[4].empty()) {
      block.carve_out = Bytes{kib * static_cast<double>(whole(4))};
    }
    const UnitOccupancy found = of(cells[0], block);
    CAPTURE(line);
    CHECK(found.blocks == whole(5));
    CHECK(binding(found) == cells[6]);
    ++rows;
  }
  CHECK(rows == 1200);
}

// 65,536 registers: 128 x 32 = 4,096 a warp, 16 warps; 64 registers 32 warps; 32 registers 64 warps. 100 KB twice exceed
// 164 KiB: one block of 8 warps.
TEST_CASE("occupancy: A100 by registers and by shared memory") {
  CHECK(of("8.0", {256, 128, {}, {}, 0}).share == near(0.25));
  CHECK(of("8.0", {256, 64, {}, {}, 0}).share == near(0.5));
  CHECK(of("8.0", {256, 32, {}, {}, 0}).share == near(1.0));
  const UnitOccupancy shared = of("8.0", {256, 32, Bytes{100e3}, {}, 0});
  CHECK(shared.share == near(0.125));
  CHECK(shared.binds(OccupancyLimit::shared_memory));
  CHECK_FALSE(shared.binds(OccupancyLimit::registers));
}

TEST_CASE("occupancy: a block that no unit takes counts nought by what refuses it") {
  CHECK(of("8.0", {1024, 128, {}, {}, 0}).by(OccupancyLimit::registers) == 0);
  CHECK(of("8.0", {1025, 16, {}, {}, 0}).by(OccupancyLimit::warps) == 0);
  CHECK(of("8.0", {256, 32, Bytes{163.5 * kib}, {}, 0}).by(OccupancyLimit::shared_memory) == 0);
  CHECK(of("9.0", {256, 32, {}, {}, 64}).by(OccupancyLimit::tensor_memory) == 0);
}

// 512 columns over 128 of a block.
TEST_CASE("occupancy: tensor memory of Blackwell") {
  const UnitOccupancy found = of("10.0", {128, 64, {}, {}, 128});
  CHECK(found.by(OccupancyLimit::tensor_memory) == 4);
  CHECK(found.blocks == 4);
  CHECK(found.binds(OccupancyLimit::tensor_memory));
}

// The reserve of 1 KiB makes the 8 KiB of the smallest carve-out eight blocks; 20 KiB and the reserve need 32 KiB.
TEST_CASE("occupancy: a carve-out is a preference, raised to what one block takes") {
  CHECK(of("8.0", {32, 16, {}, Bytes{}, 0}).by(OccupancyLimit::shared_memory) == 8);
  const UnitOccupancy found = of("8.0", {32, 16, Bytes{20 * kib}, Bytes{8 * kib}, 0});
  CHECK(*found.carve == Bytes{32 * kib});
  CHECK(found.by(OccupancyLimit::shared_memory) == 1);
}

// CDNA 3: 512 registers of a lane on each of four SIMDs: 128 leave 4 waves a SIMD, 16 of 32; 129 are 136 by steps of 8,
// which leave 3. 16 barriers hold blocks of two waves to 16. 64 KiB of LDS over 20 KiB.
TEST_CASE("occupancy: compute units of AMD") {
  CHECK(of("cdna3", {256, 128, {}, {}, 0}).warps == 16);
  CHECK(of("cdna3", {256, 129, {}, {}, 0}).warps == 12);
  CHECK(of("cdna3", {128, 16, {}, {}, 0}).by(OccupancyLimit::blocks) == 16);
  CHECK(of("cdna3", {64, 16, {}, {}, 0}).by(OccupancyLimit::blocks) == 32);
  CHECK(of("cdna3", {256, 16, Bytes{20 * kib}, {}, 0}).by(OccupancyLimit::shared_memory) == 3);
  CHECK(of("cdna4", {256, 16, Bytes{20 * kib}, {}, 0}).by(OccupancyLimit::shared_memory) == 8);
}

TEST_CASE("occupancy: the most registers and shared memory for a number of blocks are the most") {
  for (const std::string_view architecture : {"7.5", "8.0", "8.9", "9.0", "cdna3"}) {
    CAPTURE(architecture);
    for (std::int64_t blocks = 1; blocks <= 8; ++blocks) {
      const std::int64_t registers = registers_for(limits(architecture), 128, blocks);
      CHECK(of(architecture, {128, registers, {}, {}, 0}).by(OccupancyLimit::registers) >= blocks);
      if (registers < limits(architecture).registers.per_thread.value) {
        CHECK(of(architecture, {128, registers + 1, {}, {}, 0}).by(OccupancyLimit::registers) < blocks);
      }
      const Bytes shared = shared_for(limits(architecture), blocks);
      CHECK(of(architecture, {128, 16, shared, {}, 0}).by(OccupancyLimit::shared_memory) >= blocks);
      CHECK(of(architecture, {128, 16, shared + Bytes{1.0}, {}, 0}).by(OccupancyLimit::shared_memory) < blocks);
    }
  }
}

// 2.039 TB/s x 500 ns = 1.0195 MB; over 108 SMs 9,440 B; at 16 B a thread 590 threads, 29 % of 2,048.
TEST_CASE("latency hiding: Little's law on the A100") {
  const MemoryWait wait{BytesPerSecond{2.039e12}, Seconds{500e-9}, 108.0};
  CHECK(bytes_needed(wait).raw() == near(9439.8, 1e-4));
  const auto reached = [&](double threads) {
    return bandwidth_reached(wait, InFlight{threads, 1.0, Bytes{16.0}, Bytes{}}.bytes());
  };
  CHECK(reached(590.0) == wait.bandwidth);
  CHECK(reached(1024.0) == reached(2048.0));
  CHECK(reached(295.0).raw() == near(0.5 * 2.039e12, 1e-3));
  // Bulk copies count beside the threads' own loads: 256 x 16 + 2 x 8,192.
  CHECK(InFlight{256.0, 2.0, Bytes{16.0}, Bytes{8192.0}}.bytes() == Bytes{20480.0});
}

// 1,024 threads that spill 40 B hold 40 KiB: in L1 where it has 64 KiB, in L2 where it has not and 10 units' 400 KiB fit.
// 10,000 threads move 2 x 40 x 10,000 B = 800 kB.
TEST_CASE("latency hiding: spills live at the nearest level with room") {
  SpillPlaces places{Bytes{64 * kib}, BytesPerSecond{1e12}, Bytes{1e6}, BytesPerSecond{5e11}, BytesPerSecond{1e11}};
  const auto cost = [&] { return spill_cost(Bytes{40.0}, 1024.0, 10000.0, 10.0, places); };
  CHECK(cost().level == SpillLevel::l1);
  CHECK(cost().moved == Bytes{800e3});
  CHECK(cost().time.raw() == near(0.8e-6));
  places.l1 = Bytes{32 * kib};
  CHECK(cost().level == SpillLevel::l2);
  CHECK(cost().time.raw() == near(1.6e-6));
  places.l2 = Bytes{400e3};
  CHECK(cost().level == SpillLevel::memory);
  CHECK(cost().time.raw() == near(8e-6));
}

// 1,000 blocks on 108 SMs of 2: 4.63 waves take 5 rounds, the last 63 % full.
TEST_CASE("occupancy: the tail of a grid") {
  const GridTail tail = grid_tail(1000.0, 216.0);
  CHECK(tail.waves == near(4.6296, 1e-4));
  CHECK(tail.rounds == 5.0);
  CHECK(tail.last_wave == near(0.6296, 1e-3));
  CHECK(tail.efficiency == near(0.9259, 1e-3));
  CHECK(grid_tail(432.0, 216.0).last_wave == near(1.0));
}
