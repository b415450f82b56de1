// SPDX-License-Identifier: Apache-2.0
// Laws of the laboratory against arithmetic by hand: cures under a roofline, chains that fuse, tiles, sums over a
// block.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/laboratory/block_reduction.hpp>
#include <headroom/model/laboratory/chain.hpp>
#include <headroom/model/laboratory/roof_cures.hpp>
#include <headroom/model/laboratory/tile.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace headroom;
using headroom::test::near;

namespace {

/// 300 TFLOP/s over 2 TB/s: the ridge lies at 150 FLOP/B.
constexpr KernelDevice round_device{FlopsPerSecond{300e12}, BytesPerSecond{2e12}, 100.0, Bytes{40e6}};

RoofKernel kernel_at(double intensity, double of_roof) {
  const Flops work{1e12};
  RoofKernel kernel{work, Bytes{1e12 / intensity}, {}, round_device};
  const double roof = std::min(300e12, intensity * 2e12);
  kernel.time = work / FlopsPerSecond{of_roof * roof};
  return kernel;
}

const CuredKernel* find(const std::vector<CuredKernel>& cures, RoofCure which) {
  const auto at = std::find_if(cures.begin(), cures.end(), [&](const CuredKernel& c) { return c.cure == which; });
  return at == cures.end() ? nullptr : &*at;
}

ChainOp pass(double bytes, Fusable kind = Fusable::pass) {
  // Half read, half written, at 1 TB/s behind a launch of 2 us.
  return {Seconds{2e-6 + bytes / 1e12}, Seconds{2e-6}, {Bytes{bytes / 2.0}, Bytes{bytes / 2.0}, 0.0}, kind};
}

TileMachine a100() {
  static const Catalog catalog = Catalog::standard();
  static const UnitLimits& unit = catalog.unit_limits(catalog.device("a100-sxm-80gb"));
  TileMachine machine;
  machine.device = round_device;
  machine.l2 = BytesPerSecond{8e12};
  machine.latency = Seconds{400e-9};
  machine.unit = &unit;
  return machine;
}

}  // namespace

TEST_CASE("roof cures: a memory-bound kernel gains by half the bytes until the ridge, and by L2") {
  const RoofKernel kernel = kernel_at(100.0, 0.5);
  CHECK(share_of_roof(kernel) == near(0.5, 1e-12));
  const std::vector<CuredKernel> cures = roof_cures(kernel, {0.8, {}, FlopsPerSecond{600e12}, BytesPerSecond{8e12}});
  REQUIRE(!cures.empty());
  CHECK(cures.front().cure == RoofCure::best_measured);  // nearer to the roof before another roof
  CHECK(cures.front().ratio == near(0.5 / 0.8, 1e-12));
  // 200 FLOP/B lie beyond the ridge: the peak binds, at 1.5 times the rate of before.
  CHECK(find(cures, RoofCure::half_the_bytes)->ratio == near(200.0 / 300.0, 1e-12));
  // With twice the peak the ridge stands at 300: the slope goes on.
  CHECK(find(cures, RoofCure::narrower)->ratio == near(0.5, 1e-12));
  CHECK(find(cures, RoofCure::cached)->ratio == near(200.0 / 300.0, 1e-12));
  CHECK(find(cures, RoofCure::faster_units) == nullptr);
  // Far below the ridge each byte counts in full: half of them, and the ratio of both bandwidths.
  const std::vector<CuredKernel> low = roof_cures(kernel_at(10.0, 0.5), {0.8, {}, {}, BytesPerSecond{8e12}});
  CHECK(find(low, RoofCure::half_the_bytes)->ratio == near(0.5, 1e-12));
  CHECK(find(low, RoofCure::narrower)->ratio == near(0.5, 1e-12));
  CHECK(find(low, RoofCure::cached)->ratio == near(0.25, 1e-12));
}

TEST_CASE("roof cures: under the flat roof fewer bytes gain nothing") {
  const std::vector<CuredKernel> cures =
      roof_cures(kernel_at(1000.0, 0.9), {0.8, FlopsPerSecond{900e12}, {}, BytesPerSecond{8e12}});
  CHECK(find(cures, RoofCure::best_measured) == nullptr);  // it is nearer than measured ones already
  CHECK(find(cures, RoofCure::half_the_bytes) == nullptr);
  CHECK(find(cures, RoofCure::cached) == nullptr);
  CHECK(find(cures, RoofCure::faster_units)->ratio == near(300.0 / 900.0, 1e-12));
}

TEST_CASE("chains: n passes over the same elements move 2 n N b apart and 2 N b fused") {
  for (const std::size_t n : {1U, 2U, 5U}) {
    const std::vector<ChainOp> ops(n, pass(1e9));
    const FusedChain chain = fused_chain(ops);
    REQUIRE(chain.groups.size() == 1);
    CHECK(chain.moved_apart.raw() == near(static_cast<double>(n) * 1e9, 1e-12));
    CHECK(chain.moved.raw() == near(1e9, 1e-12));
    CHECK(chain.time.raw() == near(2e-6 + 1e-3, 1e-9));
  }
}

TEST_CASE("chains: a product takes passes over elements, no pass over rows, and attention takes none") {
  ChainOp product{Seconds{1e-3}, Seconds{3e-6}, {Bytes{1e9}, Bytes{0.5e9}, 0.0}, Fusable::product};
  ChainOp alone = product;
  alone.fusable = Fusable::no;
  const auto groups = [](const std::vector<ChainOp>& ops) { return fused_chain(ops).groups.size(); };
  CHECK(groups({product, pass(1e9), pass(1e9)}) == 1);
  CHECK(groups({product, pass(1e9, Fusable::row_pass)}) == 2);
  CHECK(groups({pass(1e9), pass(1e9, Fusable::row_pass), pass(1e9)}) == 1);
  CHECK(groups({alone, pass(1e9)}) == 2);
  CHECK(groups({pass(1e9), product}) == 2);
  // What the pass reads is what the product wrote, which now stays on chip: the product alone is left.
  CHECK(fused_chain(std::vector<ChainOp>{product, pass(1e9)}).time.raw() == near(1e-3, 1e-12));
}

TEST_CASE("tiles: intensity and shared memory as by hand") {
  TileShape tile{128.0, 128.0, 32.0, 2.0, 256.0, 0.0, 2.0, 2.0};
  const TileAnswer answer = tile_answer(tile, a100());
  CHECK(answer.feeds[1].intensity.raw() == near(64.0, 1e-12));
  CHECK(answer.shared.raw() == 32.0 * 1024.0);
  CHECK(answer.accumulators == 64.0);
  tile.m = 256.0;
  CHECK(tile_answer(tile, a100()).feeds[1].intensity.raw() == near(256.0 / 3.0, 1e-12));
}

TEST_CASE("tiles: pace follows FLOP, bytes or latency, whichever is slowest") {
  TileMachine machine = a100();
  TileShape tile{128.0, 128.0, 32.0, 4.0, 256.0, 0.0, 2.0, 2.0};
  const TileAnswer fed = tile_answer(tile, machine);
  CHECK(fed.bound == TileBound::compute);
  CHECK(fed.pace.raw() == near(2.0 * 128.0 * 128.0 * 32.0 / 3e12, 1e-12));
  CHECK(fed.of_peak == 1.0);
  machine.l2 = BytesPerSecond{2e12};  // 16 KiB at 20 GB/s a unit
  const TileAnswer starved = tile_answer(tile, machine);
  CHECK(starved.bound == TileBound::l2);
  CHECK(starved.pace.raw() == near(16384.0 / 2e10, 1e-12));
  machine = a100();
  tile.stages = 2.0;
  machine.latency = Seconds{4e-6};
  const TileAnswer waiting = tile_answer(tile, machine);
  CHECK(waiting.bound == TileBound::latency);
  const auto blocks = static_cast<double>(waiting.occupancy.blocks);
  CHECK(waiting.pace.raw() == near((4e-6 + 16384.0 / 8e10) / blocks, 1e-12));
  tile.stages = waiting.stages_needed;
  // So many stages hide it, as far as blocks of that size still fit side by side.
  const TileAnswer cured = tile_answer(tile, machine);
  CHECK(cured.pace * static_cast<double>(cured.occupancy.blocks) <= waiting.pace * blocks);
}

TEST_CASE("tiles: shared memory binds where many warps hold small parts of a tile") {
  TileMachine machine = a100();
  machine.shared = machine.device.peak / FlopsPerByte{16.0};
  // 32 warps of a 128 x 128 tile hold 32 x 16 or 16 x 32 each: 2 32 16 / (48 2 B) = 10.67 FLOP/B of the 16 needed.
  const TileShape many{128.0, 128.0, 32.0, 4.0, 1024.0, 0.0, 2.0, 2.0};
  const TileAnswer answer = tile_answer(many, machine);
  CHECK(answer.feeds[0].intensity.raw() == near(32.0 / 3.0, 1e-12));
  CHECK_FALSE(answer.feeds[0].feeds());
  CHECK(answer.bound == TileBound::shared);
  CHECK(answer.of_peak == near(2.0 / 3.0, 1e-12));
  TileShape few = many;
  few.threads = 256.0;  // eight warps of 64 x 32: 21.3 FLOP/B
  CHECK(tile_answer(few, machine).bound == TileBound::compute);
}

TEST_CASE("tiles: whole waves, and what tiles round up to") {
  TileMachine machine = a100();
  const TileShape tile{128.0, 128.0, 32.0, 3.0, 256.0, 0.0, 2.0, 2.0};
  const TileAnswer answer = tile_answer(tile, machine);
  const auto blocks = static_cast<double>(answer.occupancy.blocks);
  const TiledProduct product = tiled_product(tile, answer, machine, 129.0, 128.0, 64.0);
  CHECK(product.tiles == 2.0);
  CHECK(product.padded == near(256.0 / 129.0, 1e-12));
  const TiledProduct large = tiled_product(tile, answer, machine, 12800.0, 128.0 * blocks + 1.0, 3200.0);
  CHECK(large.tiles == 100.0 * (blocks + 1.0));
  CHECK(large.tail.rounds == 2.0);
}

TEST_CASE("sums over a block: shuffles need one barrier where the tree needs one a step") {
  const BlockReduction tree = shared_reduction(256.0, 32.0);
  CHECK(tree.steps == 8.0);
  CHECK(tree.barriers == 8.0);
  CHECK(tree.shuffles == 0.0);
  // 8 stores of all warps, then loads, loads and stores of 4, 2, 1, 1, 1, 1, 1 and 1 warps.
  CHECK(tree.shared_accesses == 8.0 + 3.0 * 12.0);
  const BlockReduction shuffled = shuffle_reduction(256.0, 32.0);
  CHECK(shuffled.barriers == 1.0);
  CHECK(shuffled.shuffles == 8.0 * 5.0 + 3.0);
  CHECK(shuffled.shared_accesses == 9.0);
  const BlockReduction warp = shuffle_reduction(32.0, 32.0);
  CHECK(warp.barriers == 0.0);
  CHECK(warp.steps == 5.0);
}
