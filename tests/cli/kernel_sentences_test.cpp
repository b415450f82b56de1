// SPDX-License-Identifier: Apache-2.0
// Sentences of `headroom kernel` at the ends of its ranges: true in each case, and no cure that would not help.
#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <fstream>
#include <string>

using namespace headroom::test;

namespace {

/// What the command prints, each run of spaces and line ends one space.
std::string told(const std::string& arguments) {
  const Run run = run_headroom("kernel " + arguments);
  CHECK(run.code == 0);
  std::string words;
  for (const char c : run.out) {
    const bool space = c == ' ' || c == '\n';
    if (!space || words.empty() || words.back() != ' ') {
      words += space ? ' ' : c;
    }
  }
  return words;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("kernel diverge: predicates are no cure where most warps take one way") {
  // 1 - 0.99^32 = 27.5 % of the warps take both ways; all would with predicates: 2 / 1.275 = 1.57.
  const std::string rare = told("diverge --probability 0.01");
  CHECK_FALSE(says(rare, "predicates in place"));
  CHECK(says(rare, "would make every warp run both ways: 1.57 times the time"));
  CHECK(says(told("diverge --probability 0.3"), "nearly all warps run both ways in any case"));
  CHECK(says(told("diverge --paths 2"), "all ways run in any case"));
  CHECK(says(told("diverge --paths 1"), "A warp takes one path"));
}

TEST_CASE("kernel sync: barriers across a grid that does not fit at once are not offered") {
  // An SM of the A100 holds 2,048 threads: two blocks of 1,024, 216 on 108 SMs.
  const std::string many = told("sync --gpu a100-sxm-80gb --iterations 100 --time 1us --blocks 217 --threads 1024");
  CHECK(says(many, "barriers across the grid are not possible, since the GPU holds 216 such blocks at once"));
  CHECK_FALSE(says(many, "one kernel with a barrier"));
  CHECK(says(told("sync --gpu a100-sxm-80gb --iterations 100 --time 1us --blocks 216 --threads 1024"),
             "one kernel with a barrier across the grid a step"));
}

TEST_CASE("kernel sync: a wavefront of AMD adds up 64 lanes by shuffles") {
  // 256 threads are four wavefronts of 64: 4 x 6 shuffles, then two more for their sums.
  CHECK(says(told("sync --gpu mi300x --iterations 10 --time 1us"), "by warp shuffles 9.00 1.00 5.00 26.0"));
}

TEST_CASE("kernel chain: without a group to fuse no fusion is offered, and a graph may run on without waits") {
  const std::string one = told("chain --gpu a100-sxm-80gb --ops 1 --elements 1e8");
  CHECK_FALSE(says(one, "one after another"));
  CHECK_FALSE(says(one, "fused, "));
  CHECK(says(told("chain --gpu a100-sxm-80gb --kernels 100 --sync-every 1"), "as one graph, no wait before the last"));
  CHECK(says(told("chain --gpu a100-sxm-80gb --ops 3 --elements 1e8"), "fused, as a graph, it takes"));
}

TEST_CASE("kernel roof, reuse, sync: L2 carries the same in every form") {
  const std::string rate = "4.62 TB/s";  // of the products measured on this SKU, as `kernel tile` tells it
  CHECK(says(told("tile --gpu a100-sxm-80gb --tile 64x64x32"), rate));
  CHECK(says(told("reuse --gpu a100-sxm-80gb --working-set \"30 MB\""), rate));
  CHECK(says(told("roof --gpu a100-sxm-80gb --intensity 1"), "L2 carries " + rate));
  CHECK(says(told("sync --gpu a100-sxm-80gb --iterations 10 --bytes \"1 MB\""), "stay in L2, at " + rate));
}

TEST_CASE("kernel tile: what multiplies has the vendor's name, and one tile of one slice cannot be split") {
  CHECK(says(told("tile --gpu mi300x --tile 256x256x32 --threads 256"), "keeps its matrix cores busy"));
  CHECK(says(told("tile --gpu h100-sxm-80gb --tile 128x128x32 --dtype fp32"), "keeps its vector units busy"));
  CHECK(says(told("tile --gpu mi355x --tile 128x128x32 --latency 600ns"), "latency of a load 600 ns"));
  CHECK_FALSE(says(told("tile --gpu h100-sxm-80gb --tile 128x256x64 --stages 4 --threads 384 --matrix 64x64x64"),
                   "work split along k"));
  // No cure asks for more stages than --stages takes.
  CHECK_FALSE(says(told("tile --gpu h100-sxm-80gb --tile 1x1x1"), "stages -"));
}

TEST_CASE("kernel tile: stages for which there is no room are told so, and slices half as deep tried instead") {
  // Two stages of 256 x 256 x 64 in bf16 take 128 KiB of the CU's 160 KiB: a third does not fit.
  const std::string full = told("tile --gpu mi355x --tile 256x256x64 --threads 512 --latency 600ns");
  CHECK(says(full, "3 stages would hide the latency of a load, for which there is no room"));
  CHECK(says(full, "4 stages of slices half as deep"));
}

TEST_CASE("kernel occupancy, sparsity: what would not help is no cure") {
  // 28 warps keep the memory busy: 14 KiB under way of 7.5 KiB.
  CHECK_FALSE(says(told("occupancy --gpu a100-sxm-80gb --threads 128 --registers 72"), "what would help"));
  CHECK(says(told("occupancy --gpu a100-sxm-80gb --threads 256 --registers 168"), "what would help"));
  CHECK_FALSE(says(told("sparsity --weights \"14 GB\" --fraction 0"), "what would help"));
}

TEST_CASE("kernel sparsity: FP4 of the B300 is not twice as fast sparse") {
  // NVIDIA HGX B300 datasheet, per GPU: 18 PFLOP/s sparse.
  CHECK(says(told("sparsity --gpu b300-sxm-288gb --dtype nvfp4"), "at most 18.0 PFLOP/s instead of 14.0 PFLOP/s"));
}

TEST_CASE("kernel profile: bytes that contradict the share of the peak are told") {
  const ScratchFolder scratch;
  const auto told_of = [&](const std::string& bytes) {
    const std::string file = (scratch.path() / "p.csv").string();
    std::ofstream{file} << "counter,value,unit\nduration,2,ms\ndram_throughput,92,%\ndram_bytes," << bytes << ",byte\n";
    return told("profile " + file + " --gpu a100-sxm-80gb");
  };
  // 2 ms at 2.039 TB/s are 4.08 GB: 2 GB are 49 % of it, 3.75 GB 92 %.
  CHECK(says(told_of("2e9"), "The counters disagree: the bytes are 49.0 % of the bandwidth"));
  CHECK_FALSE(says(told_of("3.75e9"), "The counters disagree"));
}

TEST_CASE("kernel occupancy: a carve-out that holds no block is told, one thread is one") {
  CHECK(says(
      told("occupancy --gpu h100-sxm-80gb --threads 128 --registers 64 --shared \"100 KiB\" --carve-out \"64 KiB\""),
      "A carve-out of 64.0 KiB holds no such block: the driver sets 132 KiB aside"));
  CHECK(says(told("occupancy --gpu h100-sxm-80gb --threads 1 --registers 1"), "blocks of 1 thread of 1 register,"));
}

TEST_CASE("kernel numerics: one scale is one, and compensation is offered where its bound stands") {
  CHECK(says(told("numerics --dtype e4m3 --least 1e-3 --largest 200"), "The scale 2^1 alone keeps e4m3"));
  // n u of a million terms in fp16 is 488: no bound stands. In fp32 it is 0.06.
  CHECK_FALSE(says(told("numerics --dtype fp16 --sum 1e6"), "compensated sums"));
  CHECK(says(told("numerics --dtype fp32 --sum 1e6"), "compensated sums"));
}

TEST_CASE("kernel banks: threads that read one word have no stride to take a divisor of") {
  CHECK_FALSE(says(told("banks --stride 0"), "gcd(0"));
}

TEST_CASE("kernel precision: where all moves, nothing stays") {
  CHECK_FALSE(says(told("precision --dtype fp8 --kept 0 --gain 2"), "the rest stays"));
  // Weights of int4 multiply as those of 16 bits: moving more brings no time.
  CHECK_FALSE(says(told("precision --gpu h100-sxm-80gb --dtype int4 --kept 0.1"), "what would help"));
}

TEST_CASE("kernel amdahl: names below a drawing do not run into one another") {
  const std::string svg = run_headroom("kernel amdahl --fraction 0.95 --speedup 50 --format svg").out;
  const auto place_of = [&](const std::string& name) {
    const std::size_t end = svg.find(">" + name + "<");
    REQUIRE(end != std::string::npos);
    return std::stod(svg.substr(svg.rfind("x=\"", end) + 3));
  };
  const std::string longest = "work that grows (Gustafson)";
  // Letters of 12 units are some 6.5 wide; the next name's dot stands 15 before it.
  CHECK(place_of("limit") - 15.0 > place_of(longest) + 6.5 * static_cast<double>(longest.size()));
}
